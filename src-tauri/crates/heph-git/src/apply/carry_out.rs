//! Files beside their places, and then in them.

use std::{collections::BTreeSet, io};

use git2::{ObjectType, Oid};
use heph_core::{
    apply::{Reason, SetAside, Write},
    file::{File, Mode},
};
use rustix::fs::{Gid, Mode as Permissions, Stat, Uid};

use super::{
    ApplyError, Obstacle, Target,
    journal::Journal,
    plan::{Planned, Seen, plan_seen},
    refused,
};
use crate::folder::{Cursor, Folder, Kind, split};

/// How files are named between being written and being put in place.
pub const STAGED: &[u8] = b".heph-staged-";

/// A file that changes this often between two looks is not going to rest.
const LOOKS: usize = 8;

/// Which folders go when the last file in them does.
pub(super) enum Emptied {
    /// All, as with git.
    Go,
    /// These, which an apply had made.
    GoWhereMade(BTreeSet<Vec<u8>>),
}

impl Target<'_> {
    /// Refuses the whole apply where any file of it could not be written.
    pub(super) fn check(&self, planned: &[Planned]) -> Result<(), ApplyError> {
        for planned in planned {
            for (path, before, _) in planned.writes() {
                let checked = || -> Result<(), Obstacle> {
                    let (folder, _) = self.nearest(path)?;
                    if !folder.writable(b".")? {
                        return Err(Obstacle::ReadOnlyFolder);
                    }
                    match before {
                        Some(file) if file.mode != Mode::Symlink && !folder.writable(split(path).1)? => {
                            Err(Obstacle::ReadOnly)
                        }
                        _ => Ok(()),
                    }
                };
                checked().map_err(|obstacle| refused(&planned.change, obstacle))?;
            }
        }
        Ok(())
    }

    /// The folders that are missing for what is to be put.
    pub(super) fn missing_folders(&self, planned: &[Planned]) -> io::Result<BTreeSet<Vec<u8>>> {
        let mut missing = BTreeSet::new();
        for (path, _, after) in planned.iter().flat_map(Planned::writes) {
            if after.is_none() {
                continue;
            }
            let (_, there) = self.nearest(path)?;
            let (mut above, _) = split(path);
            while above.len() > there.len() {
                missing.insert(above.to_vec());
                above = split(above).0;
            }
        }
        Ok(missing)
    }

    /// The folder nearest to a path that exists, and its path.
    fn nearest(&self, path: &[u8]) -> io::Result<(Folder, Vec<u8>)> {
        let (above, _) = split(path);
        let mut folder = self.root.again()?;
        let mut walked: Vec<u8> = Vec::new();
        for name in above.split(|&b| b == b'/').filter(|name| !name.is_empty()) {
            match folder.look(name)?.as_ref().map(Kind::of) {
                Some(Kind::Folder) => folder = folder.enter(name)?,
                _ => break,
            }
            if !walked.is_empty() {
                walked.push(b'/');
            }
            walked.extend_from_slice(name);
        }
        Ok((folder, walked))
    }

    /// Removes what was left beside its place for these changes by an apply that was cut off.
    pub(super) fn sweep(&self, planned: &[Planned]) -> io::Result<()> {
        for planned in planned {
            let name = staged_name(planned.path())?;
            let (above, _) = split(planned.path());
            let mut folder = self.root.again()?;
            folder.remove(&name)?;
            for next in above.split(|&b| b == b'/').filter(|name| !name.is_empty()) {
                match folder.look(next)?.as_ref().map(Kind::of) {
                    Some(Kind::Folder) => folder = folder.enter(next)?,
                    _ => break,
                }
                folder.remove(&name)?;
            }
        }
        Ok(())
    }

    /// Writes every new file beside its place, so that a full disk is known before any file changes.
    pub(super) fn stage(&self, planned: &mut [Planned]) -> Result<(), ApplyError> {
        for planned in planned {
            self.stage_one(planned).map_err(|e| refused(&planned.change, Obstacle::Io(e)))?;
        }
        Ok(())
    }

    fn stage_one(&self, planned: &mut Planned) -> io::Result<()> {
        let Write::Put(file) = &planned.plan.new.write else { return Ok(()) };
        let (folder, at) = self.nearest(planned.path())?;
        let name = staged_name(planned.path())?;
        folder.remove(&name)?;
        planned.staged = Some((name.clone(), at));
        (self.watch)();
        let Some(written) = folder.create(&name, file.mode, &file.bytes.0)? else { return Ok(()) };
        let (path, seen) = match (planned.old_path(), &planned.seen.from) {
            (Some(old), Some(seen)) => (old, seen),
            _ => (planned.path(), &planned.seen.at),
        };
        if let Seen::File(File { mode: Mode::Regular | Mode::Executable, .. }) = seen
            && let Some(stat) = self.root.descend(split(path).0)?.look(split(path).1)?
        {
            let now = rustix::fs::fstat(&written)?;
            if (now.st_uid, now.st_gid) != (stat.st_uid, stat.st_gid) {
                let (user, group) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
                // Who may not give files away becomes the owner, as with any editor.
                let _as_far_as_allowed = rustix::fs::fchown(&written, Some(user), Some(group));
            }
            rustix::fs::fchmod(&written, Permissions::from_raw_mode(kept_bits(&stat, file.mode)))?;
        }
        written.sync_all()
    }

    pub(super) fn unstage(&self, planned: &mut Planned) -> io::Result<()> {
        match planned.staged.take() {
            Some((name, folder)) => self.root.descend(&folder)?.remove(&name),
            None => Ok(()),
        }
    }

    /// Puts everything in its place: first what is deleted and then what is renamed, which makes room, then
    /// the rest.
    pub(super) fn carry_out(&self, planned: &mut [Planned], journal: &mut Journal) -> Result<(), ApplyError> {
        let turn = |planned: &Planned| match (&planned.plan.new.write, &planned.change.old_path) {
            (Write::Delete, _) => 0,
            (_, Some(_)) => 1,
            (_, None) => 2,
        };
        let mut order: Vec<&mut Planned> = planned.iter_mut().filter(|planned| !planned.leaves()).collect();
        order.sort_by_key(|planned| turn(planned));
        for planned in order {
            self.carry_out_one(planned, journal).map_err(|obstacle| ApplyError::Stopped {
                path: planned.change.path.clone(),
                source: match obstacle {
                    Obstacle::Io(source) => source,
                    other => io::Error::other(other.to_string()),
                },
            })?;
        }
        Ok(())
    }

    fn carry_out_one(&self, planned: &mut Planned, journal: &mut Journal) -> Result<(), Obstacle> {
        for _ in 0..LOOKS {
            let seen = self.sight(&planned.change)?;
            // Room that a deletion was to make is there by now, or the deletion was given up.
            let no_room = matches!(seen.at, Seen::Folder | Seen::InFile(_));
            if seen != planned.seen || no_room {
                self.unstage(planned)?;
                planned.plan = plan_seen(&planned.change, &seen);
                planned.seen = seen;
                journal.amend(self.objects, planned).map_err(io::Error::other)?;
                self.stage_one(planned)?;
            }
            (self.watch)();
            match &planned.plan.new.write {
                Write::Leave => {}
                Write::Delete => self.delete(planned.path())?,
                Write::Put(_) => match self.put(planned) {
                    Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                    done => done?,
                },
            }
            return self.leave_old(planned);
        }
        Err(Obstacle::Io(io::Error::other("it keeps changing")))
    }

    /// Deletes a renamed file where it was, unless the user saved it there at the last moment.
    fn leave_old(&self, planned: &mut Planned) -> Result<(), Obstacle> {
        let (Write::Delete, Some(old_path)) = (&planned.plan.old, &planned.change.old_path) else {
            return Ok(());
        };
        (self.watch)();
        if planned.seen.from.as_ref() == Some(&self.see(old_path, true)?) {
            return Ok(self.delete(old_path.as_bytes())?);
        }
        planned.plan.old = Write::Leave;
        let aside = SetAside { reason: Reason::ChangedSince, hunks: 0, change: Vec::new() };
        planned.plan.new.set_aside.get_or_insert(aside).hunks += 1;
        planned.plan.new.landed = planned.plan.new.landed.saturating_sub(1);
        Ok(())
    }

    fn delete(&self, path: &[u8]) -> io::Result<()> {
        let (above, name) = split(path);
        match self.root.descend(above) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            folder => {
                let folder = folder?;
                folder.remove(name)?;
                folder.sync()?;
            }
        }
        (self.watch)();
        self.clear_above(path)
    }

    /// Removes the folders above a deleted file that have nothing left in them.
    pub(super) fn clear_above(&self, path: &[u8]) -> io::Result<()> {
        let goes = |folder: &[u8]| match &self.emptied {
            Emptied::Go => true,
            Emptied::GoWhereMade(made) => made.contains(folder),
        };
        Cursor::new(&self.root).remove_emptied(split(path).0, goes)
    }

    /// Moves the staged file into its place. Fails with `AlreadyExists` where something came there that
    /// was not seen.
    fn put(&self, planned: &mut Planned) -> io::Result<()> {
        let Some((staged, waits_in)) = &planned.staged else { return Ok(()) };
        let (above, name) = split(planned.change.path.as_bytes());
        let mut folder = self.root.again()?;
        for name in above.split(|&b| b == b'/').filter(|name| !name.is_empty()) {
            if folder.look(name)?.is_none() {
                folder.make(name)?;
                folder.sync()?;
                (self.watch)();
            }
            folder = folder.enter(name)?;
        }
        let waiting = self.root.descend(waits_in)?;
        match &planned.seen.at {
            Seen::File(_) => waiting.rename(staged, &folder, name)?,
            _ => waiting.rename_new(staged, &folder, name)?,
        }
        planned.staged = None;
        folder.sync()
    }
}

/// The same file gets the same name again, so that a try that was cut off can be cleared up.
fn staged_name(path: &[u8]) -> io::Result<Vec<u8>> {
    let name = Oid::hash_object(ObjectType::Blob, path).map_err(io::Error::other)?;
    Ok([STAGED, name.to_string().as_bytes()].concat())
}

/// The permissions that a file keeps when its content is replaced, made to fit its new mode.
fn kept_bits(stat: &Stat, mode: Mode) -> u32 {
    let bits = stat.st_mode & 0o7777;
    match mode {
        Mode::Executable if bits & 0o100 == 0 => bits | (bits & 0o444) >> 2,
        Mode::Regular => bits & !0o111,
        Mode::Executable | Mode::Symlink => bits,
    }
}
