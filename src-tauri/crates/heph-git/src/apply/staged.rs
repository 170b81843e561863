//! What becomes of the user's index: what is staged of a change follows it.
//!
//! The new index is written beside the old one and given git's own lock as a second name, so that no lock is
//! ever half written, and one that was left behind can be told from git's: it is the same file.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use git2::ObjectType;
use heph_core::{
    apply::{FilePlan, FileReport, Write, plan_file},
    file::{File, FileChange},
    path::RepoPath,
};

use super::{
    ApplyError, Obstacle, Target,
    journal::{Named, Writes, name},
};
use crate::{
    error::GitError,
    folder::Folder,
    index::{Index, IndexEntry},
    objects::kind,
    user::read_index,
};

/// An index that changes this often between two looks is not going to rest.
const LOOKS: usize = 8;

/// Which staged files follow a change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Follow {
    /// Those that are not as in HEAD.
    Staged,
    /// All that are named.
    All,
}

/// What is to be written to the index, and how the changes fare there.
#[derive(Default)]
pub(super) struct IndexPlan {
    pub(super) writes: Writes,
    pub(super) reports: Vec<FileReport>,
}

impl Target<'_> {
    /// Plans the index: a staged file is the user's side of the three. What `begun` says was written counts as
    /// it was before.
    pub(super) fn plan_index(
        &self,
        changes: &[FileChange],
        follow: Follow,
        begun: &Writes,
    ) -> Result<IndexPlan, ApplyError> {
        let mut plan = IndexPlan::default();
        let Some(first) = changes.first() else { return Ok(plan) };
        let refused = |change: &FileChange, obstacle| super::refused(change, obstacle);
        if self.lock().symlink_metadata().is_ok() {
            return Err(refused(first, Obstacle::IndexLocked));
        }
        let index = self.index()?;
        let head = self.user.head()?.map(|id| self.objects.repo.find_commit(id)?.tree()).transpose();
        let head = head.map_err(GitError::from)?;
        for change in changes {
            let path = change.path.as_bytes();
            let staged = match index.at(path) {
                [] => None,
                [entry] if entry.stage() == 0 => Some(entry),
                _ => return Err(refused(change, Obstacle::Unmerged)),
            };
            let now = staged.map(|entry| kind(entry.mode.cast_signed()).map(|mode| (mode, entry.id)));
            // A submodule is no file.
            let Ok(now) = now.map_or(Ok(None), |now| now.ok_or(()).map(Some)) else { continue };
            let now = match begun.get(path) {
                Some((before, after)) if now == *after => *before,
                _ => now,
            };
            let committed = head.as_ref().and_then(|tree| tree.get_path(crate::folder::os(path)).ok());
            let committed = committed.and_then(|entry| Some((kind(entry.filemode())?, entry.id())));
            if follow == Follow::Staged && now == committed {
                continue;
            }
            // Of a file whose name alone is staged, the name goes with the file.
            let user = match staged {
                Some(entry) if entry.is_intended() && change.new.is_some() => continue,
                Some(entry) if entry.is_intended() => change.old.clone(),
                _ => now.map(|(mode, id)| self.objects.file(mode, id)).transpose()?,
            };
            let FilePlan { write, landed, already_there, set_aside } =
                plan_file(change.old.as_ref(), change.new.as_ref(), user.as_ref());
            let after = match &write {
                Write::Leave => now,
                Write::Put(file) => Some(self.stored(file)?),
                Write::Delete => None,
            };
            if after != now {
                plan.writes.insert(path.to_vec(), (now, after));
            }
            let current = if set_aside.is_some() { user } else { None };
            let path = change.path.clone();
            plan.reports.push(FileReport { path, landed, already_there, set_aside, current });
        }
        if let Some(change) = changes.iter().find(|change| plan.writes.contains_key(change.path.as_bytes())) {
            index.to_bytes().map_err(|why| refused(change, Obstacle::Index(why)))?;
        }
        Ok(plan)
    }

    /// Writes to the index what is to be written there. What the user staged meanwhile is planned again.
    pub(super) fn put_index(&self, writes: &Writes) -> Result<(), ApplyError> {
        let Some(path) = writes.keys().next() else { return Ok(()) };
        let path = RepoPath::new(path).map_err(GitError::from)?;
        self.write_index(writes).map_err(|obstacle| {
            // Only where that fails too is anything left, and the next apply clears it up.
            let _kept_quiet = self.clear_lock();
            ApplyError::Refused { path, obstacle }
        })
    }

    fn write_index(&self, writes: &Writes) -> Result<(), Obstacle> {
        let git = |e: GitError| Obstacle::Io(io::Error::other(e.to_string()));
        let (ours, lock, index) = (self.ours(), self.lock(), self.user.git_dir().join("index"));
        for _ in 0..LOOKS {
            let bytes = read_index(self.user.git_dir()).map_err(git)?;
            let Some(after) = self.index_after(bytes.as_deref(), writes).map_err(git)? else { return Ok(()) };
            let after = after.to_bytes().map_err(Obstacle::Index)?;
            let mut file = fs::File::create(&ours)?;
            io::Write::write_all(&mut file, &after)?;
            if let Ok(stat) = index.metadata() {
                file.set_permissions(stat.permissions())?;
                // Git looks closer at files that are not older than the index; those it knew keep their age.
                file.set_modified(stat.modified()?)?;
            }
            file.sync_all()?;
            (self.watch)();
            self.take_lock()?;
            (self.watch)();
            if read_index(self.user.git_dir()).map_err(git)? != bytes {
                fs::remove_file(&lock)?;
                continue;
            }
            fs::rename(&lock, &index)?;
            (self.watch)();
            self.clear_lock()?;
            return Ok(Folder::open(self.user.git_dir())?.sync()?);
        }
        Err(Obstacle::Io(io::Error::other("the index keeps changing")))
    }

    /// Makes the new index git's lock.
    fn take_lock(&self) -> Result<(), Obstacle> {
        let (ours, lock) = (self.ours(), self.lock());
        let taken = match fs::hard_link(&ours, &lock) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => {
                // A file system without second names.
                fs::File::create_new(&lock).and_then(|_| fs::rename(&ours, &lock))
            }
            linked => linked,
        };
        taken.map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => Obstacle::IndexLocked,
            _ => Obstacle::Io(e),
        })
    }

    /// The index with what is to be written; `None` where it is written already.
    fn index_after(&self, bytes: Option<&[u8]>, writes: &Writes) -> Result<Option<Index>, GitError> {
        let mut index = bytes.map_or_else(|| Ok(Index::empty()), |bytes| self.user.index_of(bytes))?;
        let file = |named: Option<Named>| named.map(|(mode, id)| self.objects.file(mode, id)).transpose();
        let mut changed = false;
        for (path, (before, after)) in writes {
            let now = match index.at(path) {
                [] => None,
                [entry] if entry.stage() == 0 => named(entry),
                // The user is in the middle of a merge: theirs stands.
                _ => continue,
            };
            let after =
                match plan_file(file(*before)?.as_ref(), file(*after)?.as_ref(), file(now)?.as_ref()).write {
                    _ if now == *before => *after,
                    Write::Leave => continue,
                    Write::Put(file) => Some(self.stored(&file)?),
                    Write::Delete => None,
                };
            if let Some((_, id)) = after {
                let bytes = self.objects.repo.find_blob(id)?.content().to_vec();
                self.user.git()?.odb()?.write(ObjectType::Blob, &bytes)?;
            }
            if now != after {
                index.set(path, after);
                changed = true;
            }
        }
        Ok(changed.then_some(index))
    }

    /// Whether any of this is written to the index.
    pub(super) fn index_is_written(&self, writes: &Writes) -> Result<bool, GitError> {
        if writes.is_empty() {
            return Ok(false);
        }
        let index = self.index()?;
        Ok(writes.iter().any(|(path, (_, after))| index.at(path).first().and_then(named) == *after))
    }

    /// Removes what is ours beside the index, and the lock if it is.
    pub(super) fn clear_lock(&self) -> io::Result<()> {
        let (ours, lock) = (self.ours(), self.lock());
        let there = |path: &Path| match path.symlink_metadata() {
            Ok(stat) => Ok(Some((stat.dev(), stat.ino()))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        };
        if let Some(file) = there(&ours)? {
            if there(&lock)? == Some(file) {
                fs::remove_file(&lock)?;
            }
            fs::remove_file(&ours)?;
        }
        Ok(())
    }

    fn index(&self) -> Result<Index, GitError> {
        let file = read_index(self.user.git_dir())?;
        file.map_or_else(|| Ok(Index::empty()), |file| self.user.index_of(&file))
    }

    fn stored(&self, file: &File) -> Result<Named, GitError> {
        let (mode, _) = name(file)?;
        Ok((mode, self.objects.write(ObjectType::Blob, &file.bytes.0)?))
    }

    fn lock(&self) -> PathBuf {
        self.user.git_dir().join("index.lock")
    }

    fn ours(&self) -> PathBuf {
        self.user.git_dir().join("index.heph")
    }
}

fn named(entry: &IndexEntry) -> Option<Named> {
    kind(entry.mode.cast_signed()).map(|mode| (mode, entry.id))
}
