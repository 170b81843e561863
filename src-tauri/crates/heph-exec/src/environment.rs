//! What a command gets to see of the user's environment.

use std::{env, ffi::OsString, path::Path};

/// The variables that are passed on: who and where the user is, how text is written, and where
/// toolchains keep themselves. A list of what may pass, so that a key for some service never does.
const LISTED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "LD_LIBRARY_PATH",
    "PKG_CONFIG_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "VOLTA_HOME",
    "PNPM_HOME",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
];

/// The environment for a command whose temporary files belong in `temp`.
pub fn listed_environment(temp: &Path) -> Vec<(OsString, OsString)> {
    let listed = LISTED.iter().filter_map(|&name| Some((name.into(), env::var_os(name)?)));
    listed.chain([("TERM".into(), "dumb".into()), ("TMPDIR".into(), temp.into())]).collect()
}
