//! Writes accepted hunks into the user's files, and takes them back.
//!
//! What becomes of a file is planned by [`heph_core::apply`]; here it is carried out. Everything is planned,
//! a journal says what will be written, everything is written beside its place, and only then do index and
//! files change, each in one step and after a last look. Whatever cuts that off, asking for the same again
//! completes it, and gives the report that it would have given.

mod carry_out;
mod journal;
mod plan;
mod staged;
#[cfg(test)]
mod tests;

use std::{fs, io};

use heph_core::{apply::FileReport, file::FileChange, id::TreeId, path::RepoPath};

pub use self::carry_out::STAGED;
use self::{
    carry_out::Emptied,
    journal::{Journal, Kind, Record, Request, State, applied},
    plan::Planned,
    staged::{Follow, IndexPlan},
};
use crate::{
    error::{At, GitError},
    folder::Folder,
    objects::Objects,
    private::PrivateRepo,
    tracked::Tracked,
    user::UserRepo,
};

/// What an apply did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyReport {
    /// The files that the accepted state changes, sorted by path.
    pub files: Vec<FileReport>,
    /// What became of those that are staged, where the index was to follow.
    pub index: Vec<FileReport>,
    /// A tree of the files that were written, and nothing else, as they were.
    pub before: TreeId,
    /// The same as they are now.
    pub after: TreeId,
}

impl ApplyReport {
    /// Whether any file was written.
    pub fn has_written(&self) -> bool {
        self.before != self.after
    }
}

/// Why an apply did not happen, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// Nothing was written: one file stands in the way of all.
    #[error("nothing was applied: {path} {obstacle}")]
    Refused {
        /// The file.
        path: RepoPath,
        /// What is the matter with it.
        obstacle: Obstacle,
    },
    /// Some files were written. Each of them is whole, and applying again completes the rest.
    #[error("applying stopped at {path}: {source}; files before it are written, applying again goes on")]
    Stopped {
        /// The file that could not be written.
        path: RepoPath,
        /// The reason.
        source: io::Error,
    },
    /// The trees or the user's index cannot be read. Nothing was written.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// What keeps a file from being applied to. It is found out before anything is written.
#[derive(Debug, thiserror::Error)]
pub enum Obstacle {
    /// The file is marked read-only, or belongs to somebody else.
    #[error("is read-only")]
    ReadOnly,
    /// Its folder is.
    #[error("is in a folder that is read-only")]
    ReadOnlyFolder,
    /// A folder on the way is a symbolic link, and links are not followed.
    #[error("is reached through {0}, which is a symbolic link now")]
    Link(RepoPath),
    /// Another git command holds the user's index.
    #[error(
        "is staged, and another git command is at work on the index (index.lock); apply again when it is done"
    )]
    IndexLocked,
    /// The user's index is of a form that is only read.
    #[error("is staged, and the index cannot be written: {0}")]
    Index(&'static str),
    /// There is a conflict in the index.
    #[error("is in conflict in the index; resolve it first")]
    Unmerged,
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    /// It cannot be written beside its place (a full disk).
    #[error("cannot be written: {0}")]
    Io(#[from] io::Error),
}

/// The user's tree during one apply.
struct Target<'a> {
    root: Folder,
    user: &'a UserRepo,
    tracked: Tracked,
    objects: &'a Objects,
    emptied: Emptied,
    /// Called between any two steps, for tests to stop there.
    watch: &'a dyn Fn(),
}

impl PrivateRepo {
    /// Writes what `accepted` changes of `base` into the user's files, each hunk where its lines are
    /// now. Nothing of the user's that the base does not hold is overwritten; what cannot land is set
    /// aside and told. Index, HEAD, refs and config are not touched, and no link is followed.
    ///
    /// Asked for again before [`PrivateRepo::forget_apply`], it completes what was cut off, and gives the same
    /// report. Any other apply that was cut off is completed first.
    ///
    /// # Errors
    /// [`ApplyError::Refused`] before anything is written; [`ApplyError::Stopped`] part-way.
    pub fn apply(&self, base: &TreeId, accepted: &TreeId) -> Result<ApplyReport, ApplyError> {
        self.run(Kind::Apply, base, accepted, &|| ())
    }

    /// As [`PrivateRepo::apply`], and what is staged of the changed files, and differs from HEAD, follows: the
    /// staged text is then the user's side of the three.
    ///
    /// # Errors
    /// As [`PrivateRepo::apply`]; also refused where another git command holds the index, or where it is of a
    /// form that is not written.
    pub fn apply_with_index(&self, base: &TreeId, accepted: &TreeId) -> Result<ApplyReport, ApplyError> {
        self.run(Kind::ApplyToIndex, base, accepted, &|| ())
    }

    /// Takes back what an apply wrote, hunk by hunk, in the files and in the index: `after` and `before` are
    /// of its report. What the user has changed since stands, and is told as set aside.
    ///
    /// # Errors
    /// As [`PrivateRepo::apply`].
    pub fn undo(&self, after: &TreeId, before: &TreeId) -> Result<ApplyReport, ApplyError> {
        self.run(Kind::Undo, after, before, &|| ())
    }

    /// Completes every apply and undo that was cut off. Whoever asked for one and asks again still gets its
    /// report.
    ///
    /// # Errors
    /// [`ApplyError::Stopped`] where one cannot be completed now; it is tried again with the next apply.
    pub fn complete_applies(&self) -> Result<(), ApplyError> {
        let _lock = self.lock_applies()?;
        self.complete_others(None, &|| ())
    }

    /// Forgets how an apply or an undo went, whose report has these trees: it is taken down. From then on,
    /// asking for the same is asking anew.
    ///
    /// # Errors
    /// Where the data folder cannot be read or written.
    pub fn forget_apply(&self, before: &TreeId, after: &TreeId) -> Result<(), GitError> {
        let objects = self.objects()?;
        for journal in Journal::all(self, &objects)? {
            if journal.state == State::Finished
                && journal.record.trees(&objects)?.each_ref() == [before, after]
            {
                journal.remove()?;
            }
        }
        Ok(())
    }

    fn lock_applies(&self) -> Result<fs::File, GitError> {
        let path = self.home().join("apply.lock");
        fs::File::create(&path).and_then(|file| file.lock().map(|()| file)).at("lock", &path)
    }

    fn complete_others(&self, wanted: Option<&Request>, watch: &dyn Fn()) -> Result<(), ApplyError> {
        let objects = self.objects()?;
        let mut outcome = Ok(());
        for journal in Journal::all(self, &objects)? {
            if journal.state == State::Open && Some(&journal.request) != wanted {
                outcome = outcome.and(self.carry_on(&objects, journal, watch).map(|_| ()));
            }
        }
        outcome
    }

    fn run(
        &self,
        kind: Kind,
        base: &TreeId,
        accepted: &TreeId,
        watch: &dyn Fn(),
    ) -> Result<ApplyReport, ApplyError> {
        let _lock = self.lock_applies()?;
        let request = Request { kind, base: base.clone(), accepted: accepted.clone() };
        // What stands in the way of another apply need not stand in the way of this one.
        let _still_open = self.complete_others(Some(&request), watch);
        let objects = self.objects()?;
        let begun = Journal::all(self, &objects)?.into_iter().find(|journal| journal.request == request);
        let journal = begun.map_or_else(|| Journal::new(self, &request), Ok)?;
        self.carry_on(&objects, journal, watch)
    }

    /// Does what a journal is for, whatever of it is done already. Where it cannot be done, and nothing of it
    /// is, the journal is withdrawn.
    fn carry_on(
        &self,
        objects: &Objects,
        mut journal: Journal,
        watch: &dyn Fn(),
    ) -> Result<ApplyReport, ApplyError> {
        let Request { kind, base, accepted } = &journal.request;
        let undone = match kind {
            Kind::Undo => applied(self, objects, base, accepted)?,
            Kind::Apply | Kind::ApplyToIndex => None,
        };
        let root = self.user().root();
        let target = Target {
            root: Folder::open(root).at("open", root)?,
            user: self.user(),
            tracked: self.user().tracked(objects)?,
            objects,
            emptied: match &undone {
                Some(record) => Emptied::GoWhereMade(record.folders.clone()),
                None => Emptied::Go,
            },
            watch,
        };
        let error = match self.advance(&target, &mut journal, undone) {
            Ok(report) => return Ok(report),
            Err(error) => error,
        };
        let written = target.has_written(&journal.record)?;
        if !written {
            journal.remove()?;
        }
        Err(match error {
            ApplyError::Refused { path, obstacle } if written => {
                ApplyError::Stopped { path, source: io::Error::other(obstacle.to_string()) }
            }
            ApplyError::Stopped { path, source } if !written => {
                ApplyError::Refused { path, obstacle: Obstacle::Io(source) }
            }
            other => other,
        })
    }

    fn advance(
        &self,
        target: &Target<'_>,
        journal: &mut Journal,
        undone: Option<Record>,
    ) -> Result<ApplyReport, ApplyError> {
        let objects = target.objects;
        let Request { kind, base, accepted } = &journal.request;
        let changes = self.diff(base, accepted)?;
        let in_root =
            |e: io::Error| GitError::Io { doing: "write to", path: self.user().root().to_owned(), source: e };
        target.clear_lock().map_err(in_root)?;
        let staged = match (kind, undone) {
            (Kind::Apply, _) | (Kind::Undo, None) => IndexPlan::default(),
            (Kind::ApplyToIndex, _) => target.plan_index(&changes, Follow::Staged, &journal.record.index)?,
            (Kind::Undo, Some(record)) => {
                let [before, after] = record.index_trees(objects)?;
                target.plan_index(&self.diff(&after, &before)?, Follow::All, &journal.record.index)?
            }
        };
        let mut planned = target.plan(changes, &journal.record)?;
        target.check(&planned)?;
        target.sweep(&planned).map_err(in_root)?;

        let deletions = journal.record.deletions();
        journal.record.index = staged.writes;
        journal.record.folders.extend(target.missing_folders(&planned).map_err(in_root)?);
        for planned in &planned {
            journal.record.add(objects, planned)?;
        }
        let [before, after] = journal.record.trees(objects)?;
        if before != after || !journal.record.index.is_empty() {
            journal.state = State::Open;
            journal.write(objects)?;
            (target.watch)();
            // A deletion may have been cut off before the folders that it emptied were gone.
            deletions.iter().try_for_each(|path| target.clear_above(path)).map_err(in_root)?;
            let written = target
                .stage(&mut planned)
                .and_then(|()| target.put_index(&journal.record.index))
                .and_then(|()| target.carry_out(&mut planned, journal));
            if written.is_err() {
                // What cannot be swept away now is when the same is asked for again.
                let _kept_quiet = target.sweep(&planned);
            }
            written?;
            (target.watch)();
            journal.finish(self, objects)?;
            (target.watch)();
        }
        let [before, after] = journal.record.trees(objects)?;
        let files = planned.into_iter().map(Planned::report).collect();
        Ok(ApplyReport { files, index: staged.reports, before, after })
    }
}

impl Target<'_> {
    /// Whether anything of a record is written.
    fn has_written(&self, record: &Record) -> Result<bool, ApplyError> {
        for path in record.files.keys() {
            let path = RepoPath::new(path).map_err(GitError::from)?;
            // What cannot be looked at was not written, or has been taken away since.
            let Ok(seen) = self.see(&path, false) else { continue };
            if record.is_after(path.as_bytes(), seen.on_disk())? {
                return Ok(true);
            }
        }
        Ok(self.index_is_written(&record.index)?)
    }
}

fn refused(change: &FileChange, obstacle: Obstacle) -> ApplyError {
    ApplyError::Refused { path: change.path.clone(), obstacle }
}
