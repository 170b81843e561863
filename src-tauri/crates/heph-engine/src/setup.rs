//! What a worktree needs beside the files of the base: ignored files that are copied in, and a command.
//!
//! Copies are copies, so that nothing done to them reaches the user's own; where the file system can share
//! the content of two files until one is written, the system's copy does that. No symbolic link is followed.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use heph_core::{
    id::TreeId,
    path::RepoPath,
    turn::{GateResult, Input, Setup, SetupResult},
};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use crate::{
    settings::DEFAULT_TIMEOUT,
    work::{Command, WorkError, Workplace, blocking},
};

/// Files that say which versions of what a project depends on.
const LOCKFILES: &[&str] = &[
    "Cargo.lock",
    "Gemfile.lock",
    "Pipfile.lock",
    "bun.lock",
    "bun.lockb",
    "composer.lock",
    "go.sum",
    "mix.lock",
    "package-lock.json",
    "pnpm-lock.yaml",
    "poetry.lock",
    "requirements.txt",
    "uv.lock",
    "yarn.lock",
];

impl Workplace {
    /// Copies what is to be copied, and runs the command where the worktree is new or the lockfiles of the
    /// base are others than when it last succeeded. What the model did to lockfiles counts for nothing.
    pub async fn set_up(
        self,
        base: TreeId,
        setup: Setup,
        mut output: impl FnMut(String) + Send,
        cancel: CancellationToken,
    ) -> Result<Input, WorkError> {
        let worktree = self.private.worktree(&self.session)?;
        let (place, tree, copied) = (self.clone(), base.clone(), setup.copied.clone());
        let files = blocking(move || {
            let files = place.private.files(&tree)?;
            let known: BTreeSet<&RepoPath> = files.iter().map(|(path, _)| path).collect();
            let worktree = place.private.worktree(&place.session)?;
            for path in &copied {
                copy_in(place.private.root(), worktree.path(), path, &known)
                    .map_err(|(file, error)| WorkError::Copy(file, error))?;
            }
            Ok::<_, WorkError>(files)
        })
        .await?;
        let Some(command) = setup.command else { return Ok(Input::SetUp(SetupResult::Done)) };
        let key = key(&command, &files);
        if worktree.setup().as_deref() == Some(key.as_str()) {
            return Ok(Input::SetUp(SetupResult::Done));
        }
        let run = Command { shell: command.clone(), time_limit: DEFAULT_TIMEOUT };
        let done = run.run_in(worktree.path(), &mut output, &cancel).await;
        // What it wrote to files that are not ignored is no change of anybody's.
        self.hold(base.clone(), base).await?;
        let failed = |reason| SetupResult::Failed { reason, output: done.output.clone() };
        Ok(Input::SetUp(match done.result {
            GateResult::Green => {
                worktree.keep_setup(&key)?;
                SetupResult::Done
            }
            GateResult::Red { exit } => failed(format!("`{command}` failed (exit {exit}).")),
            GateResult::CouldNotRun { reason } => failed(format!("`{command}` could not run: {reason}.")),
            GateResult::Stopped => SetupResult::Stopped,
        }))
    }
}

/// What a setup is bound to.
fn key(command: &str, files: &[(RepoPath, String)]) -> String {
    let name =
        |path: &RepoPath| path.as_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_vec();
    let is_lockfile = |path: &RepoPath| LOCKFILES.iter().any(|lockfile| lockfile.as_bytes() == name(path));
    let mut hash = Sha256::new();
    hash.update(command);
    for (path, content) in files.iter().filter(|(path, _)| is_lockfile(path)) {
        hash.update([0]);
        hash.update(path.as_bytes());
        hash.update([0]);
        hash.update(content);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

type CopyError = (PathBuf, io::Error);

/// Copies the file or folder at `path` from one tree into the other, but for files of the base, which are
/// there already. What is there unchanged stays as it is; what is not in the user's tree is left out.
fn copy_in(from: &Path, to: &Path, path: &RepoPath, known: &BTreeSet<&RepoPath>) -> Result<(), CopyError> {
    let parts: Vec<&[u8]> = path.as_bytes().split(|byte| *byte == b'/').collect();
    let (mut source, mut target) = (from.to_owned(), to.to_owned());
    for (depth, part) in parts.iter().enumerate() {
        source.push(os(part));
        target.push(os(part));
        let Ok(found) = source.symlink_metadata() else { return Ok(()) };
        let is_last = depth + 1 == parts.len();
        if !is_last && !found.is_dir() {
            return Ok(());
        }
        if !is_last {
            folder(&target).map_err(|error| (target.clone(), error))?;
        }
    }
    copy(&source, &target, path.as_bytes(), known)
}

fn os(part: &[u8]) -> &std::ffi::OsStr {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(part)
}

fn copy(source: &Path, target: &Path, path: &[u8], known: &BTreeSet<&RepoPath>) -> Result<(), CopyError> {
    let at = |error: io::Error| (source.to_owned(), error);
    let found = source.symlink_metadata().map_err(at)?;
    if found.is_dir() {
        folder(target).map_err(at)?;
        for entry in fs::read_dir(source).map_err(at)? {
            let name = entry.map_err(at)?.file_name();
            let below = [path, b"/", name.as_encoded_bytes()].concat();
            copy(&source.join(&name), &target.join(&name), &below, known)?;
        }
        return Ok(());
    }
    if RepoPath::new(path).is_ok_and(|path| known.contains(&path)) {
        return Ok(());
    }
    if found.is_symlink() {
        return copy_link(source, target).map_err(at);
    }
    if !found.is_file() {
        return Ok(());
    }
    let modified = found.modified().map_err(at)?;
    let is_same = target.symlink_metadata().is_ok_and(|there| {
        there.is_file() && there.len() == found.len() && there.modified().is_ok_and(|own| own == modified)
    });
    if is_same {
        return Ok(());
    }
    remove(target).map_err(at)?;
    fs::copy(source, target).map_err(at)?;
    let times = fs::FileTimes::new().set_modified(modified);
    // A read-only file cannot be opened for writing; it is only copied once more the next time.
    if let Ok(file) = fs::File::options().write(true).open(target) {
        file.set_times(times).map_err(at)?;
    }
    Ok(())
}

/// A link inside a copied folder stays a link, as long as it does not lead to the user's own files.
fn copy_link(source: &Path, target: &Path) -> io::Result<()> {
    let leads_to = fs::read_link(source)?;
    if leads_to.is_absolute() {
        return Ok(());
    }
    if fs::read_link(target).is_ok_and(|own| own == leads_to) {
        return Ok(());
    }
    remove(target)?;
    std::os::unix::fs::symlink(leads_to, target)
}

/// Makes a folder at `place`, whatever is there that is none.
fn folder(place: &Path) -> io::Result<()> {
    match place.symlink_metadata() {
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(_) => fs::remove_file(place)?,
        Err(_) => {}
    }
    fs::create_dir(place)
}

fn remove(place: &Path) -> io::Result<()> {
    match place.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(place),
        Ok(_) => fs::remove_file(place),
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn path(path: &str) -> RepoPath {
        RepoPath::new(path).unwrap()
    }

    #[test]
    fn ignored_files_are_copied_and_nothing_done_to_the_copy_reaches_the_users() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(from.path().join("deps/bin")).unwrap();
        fs::write(from.path().join("deps/a"), "a").unwrap();
        fs::write(from.path().join("deps/tracked"), "theirs").unwrap();
        symlink("../a", from.path().join("deps/bin/a")).unwrap();
        symlink(from.path(), from.path().join("deps/out")).unwrap();
        let tracked = path("deps/tracked");
        let known = BTreeSet::from([&tracked]);
        copy_in(from.path(), to.path(), &path("deps"), &known).unwrap();
        copy_in(from.path(), to.path(), &path("missing"), &known).unwrap();
        assert_eq!(fs::read_to_string(to.path().join("deps/bin/a")).unwrap(), "a");
        assert!(!to.path().join("deps/tracked").exists(), "a file of the base is there already");
        assert!(
            to.path().join("deps/out").symlink_metadata().is_err(),
            "no link leads to the user's own files"
        );
        fs::write(to.path().join("deps/a"), "changed").unwrap();
        assert_eq!(fs::read_to_string(from.path().join("deps/a")).unwrap(), "a");
        copy_in(from.path(), to.path(), &path("deps"), &known).unwrap();
        assert_eq!(
            fs::read_to_string(to.path().join("deps/a")).unwrap(),
            "a",
            "it is as the user has it again"
        );
    }

    #[test]
    fn no_link_on_the_way_is_followed() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("key"), "secret").unwrap();
        symlink(elsewhere.path(), from.path().join("link")).unwrap();
        copy_in(from.path(), to.path(), &path("link/key"), &BTreeSet::new()).unwrap();
        assert!(fs::read_dir(to.path()).unwrap().next().is_none());
        fs::create_dir(from.path().join("d")).unwrap();
        fs::write(from.path().join("d/f"), "f").unwrap();
        symlink(elsewhere.path(), to.path().join("d")).unwrap();
        copy_in(from.path(), to.path(), &path("d/f"), &BTreeSet::new()).unwrap();
        assert!(!elsewhere.path().join("f").exists(), "a link that the model left is not written through");
    }
}
