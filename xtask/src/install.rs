use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::process::{output, run, succeeds};

/// Debian's packages that the app is built with.
pub const TO_BUILD: &[&str] = &["gcc", "libc6-dev", "libwebkit2gtk-4.1-dev", "pkg-config"];

/// Debian's packages that the tests need besides: a display, a session bus, a window manager and a driver for
/// the end-to-end test.
pub const TO_TEST: &[&str] = &["dbus-daemon", "git", "openbox", "webkit2gtk-driver", "xvfb"];

/// The oldest Node that the user interface's build tools take.
const NODE: u32 = 20;

/// Installs those of `packages` that are missing, where the system is a Debian and lets us.
///
/// # Errors
/// Something is missing and cannot be installed from here; the error says which command does it.
pub fn packages(packages: &[&str]) -> Result<()> {
    let Some(known) = known_packages(packages)? else { return Ok(()) };
    let missing = missing(packages, &known);
    if missing.is_empty() {
        return Ok(());
    }
    let root = output(Command::new("id").arg("-u"))?.trim() == "0";
    if !root && !succeeds(Command::new("sudo").args(["-n", "true"])) {
        let list = missing.join(" ");
        bail!(
            "these packages are missing: {list}\nInstall them, then run this again:\n\n  \
             sudo apt-get update && sudo apt-get install --no-install-recommends {list}\n"
        );
    }
    let apt = |arguments: &[&str]| {
        let mut command = if root { Command::new("env") } else { Command::new("sudo") };
        if !root {
            command.args(["-n", "env"]);
        }
        command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-o", "DPkg::Lock::Timeout=300"]);
        run(command.args(arguments))
    };
    apt(&["update"])?;
    apt(&[&["install", "-y", "--no-install-recommends"], &*missing].concat())
}

/// What dpkg says of `packages`, one `NAME STATUS` a line; nothing where the system has no dpkg.
fn known_packages(packages: &[&str]) -> Result<Option<String>> {
    let mut query = Command::new("dpkg-query");
    query.args(["--show", "--showformat=${Package} ${db:Status-Status}\n"]).args(packages);
    match query.stderr(Stdio::null()).output() {
        // It exits with 1 when one of the packages is unknown, and still prints the others.
        Ok(output) => Ok(Some(String::from_utf8_lossy(&output.stdout).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).context("asking dpkg-query what is installed"),
    }
}

fn missing<'a>(packages: &[&'a str], known: &str) -> Vec<&'a str> {
    let installed = |package: &&&str| known.lines().any(|line| line == format!("{package} installed"));
    packages.iter().filter(|package| !installed(package)).copied().collect()
}

/// Makes sure that Node and npm are there.
///
/// # Errors
/// They are not, or are too old.
pub fn node() -> Result<()> {
    let version = output(Command::new("node").arg("--version"))
        .with_context(|| format!("Node.js {NODE} or newer is needed to build the user interface"))?;
    if node_major(&version).is_none_or(|major| major < NODE) {
        bail!("Node.js {NODE} or newer is needed, and this is {}", version.trim());
    }
    if !succeeds(Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" }).arg("--version")) {
        bail!("npm is needed beside Node.js; on Debian it is the package `npm`");
    }
    Ok(())
}

fn node_major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// Adds rustfmt and clippy to a toolchain that was installed without them.
///
/// # Errors
/// They are missing, and rustup could not add them.
pub fn rust_components() -> Result<()> {
    for (subcommand, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if !succeeds(Command::new("cargo").args([subcommand, "--version"])) {
            run(Command::new("rustup").args(["component", "add", component]))
                .with_context(|| format!("{component} is missing from this Rust"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_was_removed_or_never_known_is_missing() {
        let known = "git installed\nxvfb config-files\n";
        assert_eq!(missing(&["git", "xvfb", "openbox"], known), ["xvfb", "openbox"]);
    }

    #[test]
    fn node_says_its_major_version() {
        assert_eq!(node_major("v20.20.2\n"), Some(20));
        assert_eq!(node_major("node?"), None);
    }
}
