//! What is at a path of the user's, and what that makes of an accepted change.

use std::{collections::BTreeSet, io};

use heph_core::{
    apply::{FilePlan, FileReport, Reason, RenamePlan, Write, plan_file, plan_rename},
    file::{File, FileChange, Mode},
    path::RepoPath,
    rename,
    text::Bytes,
};

use super::{ApplyError, Obstacle, Target, journal::Record, refused};
use crate::{
    error::GitError,
    folder::{Kind, split},
    tracked::Held,
};

/// What is at a path in the user's tree.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Seen {
    /// Nothing.
    Nothing,
    /// A file or a link.
    File(File),
    /// A file that a sparse checkout leaves out, which is not on disk.
    LeftOut(File),
    /// A folder.
    Folder,
    /// A socket or the like.
    Special,
    /// Nothing can be there: what should be a folder on the way is a file, at this path.
    InFile(Vec<u8>),
}

/// What is where a change is to be written, and where a renamed file was.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Sight {
    pub(super) at: Seen,
    pub(super) from: Option<Seen>,
}

/// A change, and what is to be done for it.
pub(super) struct Planned {
    pub(super) change: FileChange,
    pub(super) seen: Sight,
    pub(super) plan: RenamePlan,
    /// The name under which the new file waits, and the folder it waits in.
    pub(super) staged: Option<(Vec<u8>, Vec<u8>)>,
}

impl Seen {
    /// The file that is on disk.
    pub(super) fn on_disk(&self) -> Option<&File> {
        match self {
            Seen::File(file) => Some(file),
            _ => None,
        }
    }

    fn file(&self) -> Option<&File> {
        match self {
            Seen::File(file) | Seen::LeftOut(file) => Some(file),
            _ => None,
        }
    }

    fn into_file(self) -> Option<File> {
        match self {
            Seen::File(file) | Seen::LeftOut(file) => Some(file),
            _ => None,
        }
    }
}

impl Planned {
    pub(super) fn path(&self) -> &[u8] {
        self.change.path.as_bytes()
    }

    pub(super) fn old_path(&self) -> Option<&[u8]> {
        self.change.old_path.as_ref().map(RepoPath::as_bytes)
    }

    /// Whether nothing is to be written for it.
    pub(super) fn leaves(&self) -> bool {
        self.plan.old == Write::Leave && self.plan.new.write == Write::Leave
    }

    /// The paths that are written, each with what is there before and after.
    pub(super) fn writes(&self) -> Vec<(&[u8], Option<&File>, Option<&File>)> {
        let mut writes = Vec::new();
        match &self.plan.new.write {
            Write::Leave => {}
            Write::Put(file) => writes.push((self.path(), self.seen.at.on_disk(), Some(file))),
            Write::Delete => writes.push((self.path(), self.seen.at.on_disk(), None)),
        }
        if let (Write::Delete, Some(path), Some(seen)) = (&self.plan.old, self.old_path(), &self.seen.from) {
            writes.push((path, seen.on_disk(), None));
        }
        writes
    }

    pub(super) fn report(self) -> FileReport {
        let FilePlan { landed, already_there, set_aside, write } = self.plan.new;
        let taken = set_aside.as_ref().is_some_and(|aside| aside.reason == Reason::Exists);
        let old = self.seen.from.filter(|seen| !taken && seen.file().is_some());
        let current = match write {
            _ if set_aside.is_none() => None,
            Write::Put(file) => Some(file),
            Write::Leave | Write::Delete => old.unwrap_or(self.seen.at).into_file(),
        };
        FileReport { path: self.change.path, landed, already_there, set_aside, current }
    }
}

impl Target<'_> {
    /// Plans all changes. What `record` says was written counts as it was before: where it is still so, or
    /// is written already, the plan is the one that was made then.
    pub(super) fn plan(&self, changes: Vec<FileChange>, record: &Record) -> Result<Vec<Planned>, ApplyError> {
        let mut planned = Vec::with_capacity(changes.len());
        for change in renames(changes) {
            let seen = self.sight(&change).map_err(|obstacle| match obstacle {
                Obstacle::Io(e) => refused(&change, Obstacle::Unreadable(e)),
                other => refused(&change, other),
            })?;
            let plan = match self.begun(&change, &seen, record)? {
                Some(plan) => plan,
                None => plan_seen(&change, &seen),
            };
            planned.push(Planned { change, seen, plan, staged: None });
        }
        // A file may take a folder's place, and the reverse, where this apply makes the room.
        let mut deleted: BTreeSet<Vec<u8>> = BTreeSet::new();
        for planned in &planned {
            let gone = planned.writes().into_iter().filter(|(_, _, after)| after.is_none());
            deleted.extend(gone.map(|(path, ..)| path.to_vec()));
        }
        for planned in &mut planned {
            let room = match &planned.seen.at {
                Seen::InFile(file) => deleted.contains(file),
                Seen::Folder => self
                    .only_holds(planned.path(), &deleted)
                    .map_err(|e| refused(&planned.change, Obstacle::Io(e)))?,
                _ => false,
            };
            if room && planned.change.old.is_none() {
                planned.plan = alone(plan_file(None, planned.change.new.as_ref(), None));
            }
        }
        Ok(planned)
    }

    /// The plan that was made for a change of which something was written or was to be; `None` where there
    /// is none, or the user changed the file since.
    fn begun(
        &self,
        change: &FileChange,
        now: &Sight,
        record: &Record,
    ) -> Result<Option<RenamePlan>, GitError> {
        let was = |path: &RepoPath, now: &Seen| match record.before(path.as_bytes()) {
            None => Ok(now.clone()),
            Some(Some((mode, id))) => Ok::<_, GitError>(Seen::File(self.objects.file(mode, id)?)),
            Some(None) => Ok(match now {
                Seen::LeftOut(file) => Seen::LeftOut(file.clone()),
                _ => Seen::Nothing,
            }),
        };
        let known = |path: &RepoPath| record.before(path.as_bytes()).is_some();
        if !known(&change.path) && !change.old_path.as_ref().is_some_and(known) {
            return Ok(None);
        }
        let from = match (&change.old_path, &now.from) {
            (Some(path), Some(now)) => Some(was(path, now)?),
            _ => None,
        };
        let mut plan = plan_seen(change, &Sight { at: was(&change.path, &now.at)?, from });
        let done = |path: &RepoPath, seen: &Seen| record.is_after(path.as_bytes(), seen.on_disk());
        let waits = |path: &RepoPath, seen: &Seen| record.is_before(path.as_bytes(), seen.on_disk());
        if plan.new.write != Write::Leave {
            if done(&change.path, &now.at)? {
                plan.new.write = Write::Leave;
            } else if !waits(&change.path, &now.at)? {
                return Ok(None);
            }
        }
        if let (Write::Delete, Some(path), Some(seen)) = (&plan.old, &change.old_path, &now.from) {
            if done(path, seen)? {
                plan.old = Write::Leave;
                if plan.new.write != Write::Leave {
                    return Ok(None);
                }
            } else if !waits(path, seen)? {
                return Ok(None);
            }
        }
        Ok(Some(plan))
    }

    /// What is where a change is to be written.
    pub(super) fn sight(&self, change: &FileChange) -> Result<Sight, Obstacle> {
        let wanted = change.new.is_some();
        let from = change.old_path.as_ref().map(|path| self.see(path, wanted)).transpose()?;
        Ok(Sight { at: self.see(&change.path, wanted)?, from })
    }

    /// What is at a path; `wanted` is whether a file that a sparse checkout leaves out counts.
    pub(super) fn see(&self, path: &RepoPath, wanted: bool) -> Result<Seen, Obstacle> {
        let path = path.as_bytes();
        let (above, name) = split(path);
        let mut folder = self.root.again()?;
        let mut walked = Vec::new();
        for name in above.split(|&b| b == b'/').filter(|name| !name.is_empty()) {
            walked.extend_from_slice(name);
            match folder.look(name)?.as_ref().map(Kind::of) {
                Some(Kind::Folder) => folder = folder.enter(name)?,
                Some(Kind::File(Mode::Symlink)) => {
                    let link = RepoPath::new(&walked).map_err(io::Error::other)?;
                    return Err(Obstacle::Link(link));
                }
                Some(Kind::File(_) | Kind::Other) => return Ok(Seen::InFile(walked)),
                None => return self.left_out(path, wanted),
            }
            walked.push(b'/');
        }
        match folder.file(name)? {
            (Some(file), _) => Ok(Seen::File(file)),
            (None, Some(stat)) if Kind::of(&stat) == Kind::Folder => Ok(Seen::Folder),
            (None, Some(_)) => Ok(Seen::Special),
            (None, None) => self.left_out(path, wanted),
        }
    }

    /// What a path stands for that is not on disk.
    fn left_out(&self, path: &[u8], wanted: bool) -> Result<Seen, Obstacle> {
        match self.tracked.at(path) {
            Some(Held::LeftOut(mode, id)) if wanted => {
                let file = self.objects.file(mode, id).map_err(io::Error::other)?;
                Ok(Seen::LeftOut(file))
            }
            _ => Ok(Seen::Nothing),
        }
    }

    /// Whether the folder at `path` has nothing in it but files of `these`.
    fn only_holds(&self, path: &[u8], these: &BTreeSet<Vec<u8>>) -> io::Result<bool> {
        let folder = self.root.descend(path)?;
        for (name, _) in folder.names()? {
            let path = [path, b"/", &name].concat();
            let known = match folder.look(&name)?.as_ref().map(Kind::of) {
                Some(Kind::Folder) => self.only_holds(&path, these)?,
                Some(Kind::File(_) | Kind::Other) => these.contains(&path),
                None => true,
            };
            if !known {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The changes with renames joined, but for those whose new path needs room that a deletion is to make.
fn renames(changes: Vec<FileChange>) -> Vec<FileChange> {
    let gone: BTreeSet<RepoPath> =
        changes.iter().filter(|change| change.new.is_none()).map(|change| change.path.clone()).collect();
    let needs_room = |path: &RepoPath| {
        let below = |one: &RepoPath, other: &RepoPath| {
            one.as_bytes().strip_prefix(other.as_bytes()).is_some_and(|rest| rest.starts_with(b"/"))
        };
        gone.iter().any(|gone| below(path, gone) || below(gone, path))
    };
    let mut joined = Vec::new();
    for change in rename::pair(changes) {
        match &change.old_path {
            Some(old_path) if needs_room(&change.path) => {
                let old = FileChange { path: old_path.clone(), old_path: None, old: change.old, new: None };
                let new = FileChange { path: change.path, old_path: None, old: None, new: change.new };
                joined.extend([old, new]);
            }
            _ => joined.push(change),
        }
    }
    joined.sort_by(|one, other| one.path.cmp(&other.path));
    joined
}

fn alone(new: FilePlan) -> RenamePlan {
    RenamePlan { old: Write::Leave, new }
}

/// The plan for what was seen. Where something is in the way that is no file, nothing lands.
pub(super) fn plan_seen(change: &FileChange, seen: &Sight) -> RenamePlan {
    let FileChange { old, new, .. } = change;
    let plan = |at: Option<&File>| match (&seen.from, old, new) {
        (Some(from), Some(old), Some(new)) => plan_rename(old, new, from.file(), at),
        _ => alone(plan_file(old.as_ref(), new.as_ref(), at)),
    };
    match &seen.at {
        Seen::Nothing => plan(None),
        Seen::File(file) | Seen::LeftOut(file) => plan(Some(file)),
        // The file is gone, whatever has come in its place.
        Seen::Folder | Seen::InFile(_) if new.is_none() => plan(None),
        Seen::InFile(_) if old.is_some() && seen.from.is_none() => plan(None),
        Seen::Folder | Seen::Special | Seen::InFile(_) => {
            // No file is like this one: nothing can be a link to an empty name.
            let unlike = File { mode: Mode::Symlink, bytes: Bytes(Vec::new()) };
            let mut plan = plan(Some(&unlike));
            plan.new.write = Write::Leave;
            if let Some(set_aside) = &mut plan.new.set_aside {
                set_aside.reason = Reason::TypeChanged;
            }
            plan
        }
    }
}
