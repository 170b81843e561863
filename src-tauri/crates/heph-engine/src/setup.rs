//! What a worktree needs beside the files of the base: ignored files that are copied in, and a command.

use heph_core::{
    id::TreeId,
    path::RepoPath,
    turn::{GateResult, Input, Setup, SetupResult},
};
use heph_git::Copying;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use crate::{
    settings::DEFAULT_TIMEOUT,
    work::{Command, WorkError, Workplace, blocking},
};

/// Files that say which versions of what a project depends on; `requirements*.txt` is another.
const LOCKFILES: &[&str] = &[
    "Cargo.lock",
    "Gemfile.lock",
    "Pipfile.lock",
    "bun.lock",
    "bun.lockb",
    "composer.lock",
    "go.sum",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "pnpm-lock.yaml",
    "poetry.lock",
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
        let Setup { copied, command } = setup;
        let failed = |reason, output| Ok(Input::SetUp(SetupResult::Failed { reason, output }));
        let not_copied = match self.copy_ignored(&base, copied, &cancel).await {
            Ok(Copying::Done(not_copied)) => not_copied,
            Ok(Copying::Stopped) => return Ok(Input::SetUp(SetupResult::Stopped)),
            Err(error) => return failed(error.sentence(), String::new()),
        };
        let mut said = String::new();
        for (path, why) in not_copied {
            said.push_str(&format!("{path} is not copied: {why}.\n"));
        }
        if !said.is_empty() {
            output(said.clone());
        }
        let Some(command) = command else { return Ok(Input::SetUp(SetupResult::Done)) };
        let (place, tree) = (self.clone(), base.clone());
        let files = blocking(move || Ok(place.private.files(&tree)?)).await?;
        let key = key(&command, &files);
        let worktree = self.private.worktree(&self.session)?;
        if worktree.setup().as_deref() == Some(key.as_str()) {
            return Ok(Input::SetUp(SetupResult::Done));
        }
        worktree.forget_setup()?;
        let run = Command { shell: command.clone(), time_limit: DEFAULT_TIMEOUT };
        let done = run.run_in(worktree.path(), &mut output, &cancel).await;
        // What it wrote to files that are not ignored is no change of anybody's.
        self.hold(base.clone(), base).await?;
        said.push_str(&done.output);
        match done.result {
            GateResult::Green => {
                worktree.keep_setup(&key)?;
                Ok(Input::SetUp(SetupResult::Done))
            }
            GateResult::Red { exit } => failed(format!("`{command}` failed (exit {exit})."), said),
            GateResult::CouldNotRun { reason } => {
                failed(format!("`{command}` could not run: {reason}."), said)
            }
            GateResult::Stopped => Ok(Input::SetUp(SetupResult::Stopped)),
        }
    }

    async fn copy_ignored(
        &self,
        base: &TreeId,
        paths: Vec<RepoPath>,
        cancel: &CancellationToken,
    ) -> Result<Copying, WorkError> {
        let (place, base, cancel) = (self.clone(), base.clone(), cancel.clone());
        blocking(move || {
            let worktree = place.private.worktree(&place.session)?;
            Ok(worktree.copy_ignored(&base, &paths, &|| !cancel.is_cancelled())?)
        })
        .await
    }
}

/// What a setup is bound to: its command, and the content of the lockfiles.
fn key(command: &str, files: &[(RepoPath, String)]) -> String {
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

fn is_lockfile(path: &RepoPath) -> bool {
    let path = path.display();
    let name = path.rsplit('/').next().unwrap_or_default();
    LOCKFILES.contains(&name) || name.starts_with("requirements") && name.ends_with(".txt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setup_is_bound_to_its_command_and_the_lockfiles_anywhere_in_the_tree() {
        let of = |command: &str, files: &[(&str, &str)]| {
            let files = files.iter().map(|(path, id)| (RepoPath::new(path).unwrap(), (*id).to_owned()));
            key(command, &files.collect::<Vec<_>>())
        };
        let before = of("npm ci", &[("a/package-lock.json", "1"), ("src/a.js", "1")]);
        assert_eq!(of("npm ci", &[("a/package-lock.json", "1"), ("src/a.js", "2")]), before);
        for (command, path, id) in [
            ("npm ci", "a/package-lock.json", "2"),
            ("npm ci", "b/package-lock.json", "1"),
            ("npm install", "a/package-lock.json", "1"),
        ] {
            assert_ne!(of(command, &[(path, id)]), before, "{command} {path} {id}");
        }
        for name in ["requirements-dev.txt", "requirements.txt", "uv.lock", "go.sum"] {
            assert_ne!(of("x", &[(name, "1")]), of("x", &[]), "{name}");
        }
    }
}
