//! Taking away what a session no longer needs.

use std::{collections::BTreeSet, fs, io, path::Path};

use git2::{ErrorCode, Repository};

use crate::{
    error::{At, GitError},
    private::{BASES, CHAINS, PrivateRepo, Session},
};

/// Where worktrees lie that are to be removed, below the private repository's folder.
const RETIRED: &str = "retired";

impl PrivateRepo {
    /// The sessions that have a worktree, a chain, or a ref in the user's repository.
    ///
    /// # Errors
    /// Where the data folder or the user's refs cannot be read.
    pub fn sessions(&self) -> Result<BTreeSet<String>, GitError> {
        let mut sessions = BTreeSet::new();
        let trees = self.make_folder("worktrees")?;
        for entry in fs::read_dir(&trees).at("read", &trees)? {
            let entry = entry.at("read", &trees)?;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                sessions.extend(entry.file_name().into_string());
            }
        }
        for (repo, place) in [(self.objects()?.repo, CHAINS), (self.user().git()?, BASES)] {
            for found in repo.references_glob(&format!("{place}*"))?.flatten() {
                sessions
                    .extend(found.name().ok().and_then(|name| name.strip_prefix(place)).map(str::to_owned));
            }
        }
        sessions.retain(|session| Session::named(session).is_ok());
        Ok(sessions)
    }

    /// Takes the worktree and the chain of `session` away, and the ref in the user's repository that the
    /// chain stood on. What was applied can still be undone, and a worktree that is asked for later is made
    /// anew. This is quick: the folder is moved, and [`PrivateRepo::sweep`] removes it.
    ///
    /// # Errors
    /// Where the data folder or the user's refs cannot be written; retiring again completes it.
    pub fn retire(&self, session: &str) -> Result<(), GitError> {
        let session = Session::named(session)?;
        let name = session.name();
        let retired = self.make_folder(RETIRED)?;
        let worktree = self.home().join("worktrees").join(name);
        if worktree.symlink_metadata().is_ok() {
            // An earlier worktree of the session may wait there still. Nothing is made there before the move:
            // a sweep at work would take it for what it is to remove.
            let free = |number: &u32| retired.join(format!("{name}-{number}")).symlink_metadata().is_err();
            let number = (0..).find(free).unwrap_or_default();
            fs::rename(&worktree, retired.join(format!("{name}-{number}"))).at("move", &worktree)?;
        }
        let admin = self.git_dir().join("worktrees").join(name);
        gone(fs::remove_dir_all(&admin), &admin)?;
        for note in ["worktree", "setup"] {
            let note = self.home().join(format!("index/{name}.{note}"));
            gone(fs::remove_file(&note), &note)?;
        }
        // By hand first: one that a command of the model's damaged cannot be read.
        let chain = self.git_dir().join(session.chain_ref());
        gone(fs::remove_file(&chain), &chain)?;
        remove_ref(&self.objects()?.repo, &session.chain_ref())?;
        remove_ref(&self.user().git()?, &session.base_ref())
    }

    /// Removes the folders of retired worktrees.
    ///
    /// # Errors
    /// Where one cannot be removed; the others are.
    pub fn sweep(&self) -> Result<(), GitError> {
        let retired = self.make_folder(RETIRED)?;
        let mut outcome = Ok(());
        for entry in fs::read_dir(&retired).at("read", &retired)? {
            let path = entry.at("read", &retired)?.path();
            outcome = outcome.and(gone(fs::remove_dir_all(&path), &path));
        }
        outcome
    }
}

/// What is gone already need not be removed.
fn gone(removed: io::Result<()>, path: &Path) -> Result<(), GitError> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at("remove", path),
        _ => Ok(()),
    }
}

fn remove_ref(repo: &Repository, name: &str) -> Result<(), GitError> {
    match repo.find_reference(name) {
        Ok(mut reference) => Ok(reference.delete()?),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(()),
        Err(error) => Err(error.into()),
    }
}
