//! Writes accepted hunks into the user's files.
//!
//! What becomes of a file is planned by [`heph_core::apply`]; here it is carried out: everything is
//! planned, then everything is written beside its place, and only then do files change, each in one
//! step and after a last look. Applying twice is the same as applying once.

use std::{collections::BTreeSet, fs, io};

use git2::{ObjectType, Oid};
use heph_core::{
    apply::{FilePlan, FileReport, Reason, Write, plan_file},
    file::{File, FileChange, Mode},
    id::TreeId,
    path::RepoPath,
    text::Bytes,
};
use rustix::fs::{Gid, Mode as Permissions, Stat, Uid};

use crate::{
    error::{At, GitError},
    folder::{Cursor, Folder, Kind, split},
    objects::Objects,
    private::PrivateRepo,
    tracked::{Held, Tracked},
};

/// How files are named between being written and being put in place.
pub(crate) const STAGED: &[u8] = b".heph-staged-";

/// A file that changes this often between two looks is not going to rest.
const LOOKS: usize = 8;

/// What an apply did, file by file, sorted by path.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ApplyReport {
    /// The files that the accepted state changes.
    pub files: Vec<FileReport>,
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
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    /// It cannot be written beside its place (a full disk).
    #[error("cannot be written: {0}")]
    Io(#[from] io::Error),
}

/// What is at a path in the user's tree.
#[derive(Clone, PartialEq, Eq)]
enum Seen {
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

struct Planned {
    change: FileChange,
    seen: Seen,
    plan: FilePlan,
    /// The name under which the new file waits, and the folder it waits in.
    staged: Option<(Vec<u8>, Vec<u8>)>,
}

/// The user's tree during one apply.
struct Target<'a> {
    root: Folder,
    tracked: Tracked,
    objects: &'a Objects,
}

impl PrivateRepo {
    /// Writes what `accepted` changes of `base` into the user's files, each hunk where its lines are
    /// now. Nothing of the user's that the base does not hold is overwritten; what cannot land is set
    /// aside and told. Index, HEAD, refs and config are not touched, and no link is followed.
    ///
    /// # Errors
    /// [`ApplyError::Refused`] before anything is written; [`ApplyError::Stopped`] part-way.
    pub fn apply(&self, base: &TreeId, accepted: &TreeId) -> Result<ApplyReport, ApplyError> {
        let changes = self.diff(base, accepted)?;
        let lock = self.home().join("apply.lock");
        let lock = fs::File::create(&lock).and_then(|file| file.lock().map(|()| file)).at("lock", &lock)?;
        let objects = self.objects()?;
        let root = self.user().root();
        let root = Folder::open(root).at("open", root)?;
        let target = Target { root, tracked: self.user().tracked(&objects)?, objects: &objects };
        let mut planned = target.plan(changes)?;
        let result = target.check(&planned).and_then(|()| target.stage(&mut planned));
        let result = result.and_then(|()| target.carry_out(&mut planned));
        for Planned { staged, .. } in &planned {
            if let Some((name, folder)) = staged {
                // Only after a failure is anything left, and that failure is what is reported.
                let _kept_quiet = target.root.descend(folder).and_then(|folder| folder.remove(name));
            }
        }
        drop(lock);
        result?;
        let files = planned.into_iter().map(Planned::report).collect();
        Ok(ApplyReport { files })
    }
}

impl Planned {
    fn report(self) -> FileReport {
        let current = match (self.plan.write, self.seen) {
            (Write::Put(file), _) | (_, Seen::File(file) | Seen::LeftOut(file))
                if self.plan.set_aside.is_some() =>
            {
                Some(file)
            }
            _ => None,
        };
        FileReport {
            path: self.change.path,
            landed: self.plan.landed,
            already_there: self.plan.already_there,
            set_aside: self.plan.set_aside,
            current,
        }
    }

    fn path(&self) -> &[u8] {
        self.change.path.as_bytes()
    }
}

impl Target<'_> {
    fn plan(&self, changes: Vec<FileChange>) -> Result<Vec<Planned>, ApplyError> {
        let mut planned = Vec::with_capacity(changes.len());
        for change in changes {
            let seen = self.see(&change).map_err(|obstacle| match obstacle {
                Obstacle::Io(e) => refused(&change, Obstacle::Unreadable(e)),
                other => refused(&change, other),
            })?;
            let plan = plan_seen(&change, &seen);
            planned.push(Planned { change, seen, plan, staged: None });
        }
        // A file may take a folder's place, and the reverse, where this apply makes the room.
        let deleted = |planned: &Planned| planned.plan.write == Write::Delete;
        let deleted: BTreeSet<Vec<u8>> =
            planned.iter().filter(|p| deleted(p)).map(|p| p.path().to_vec()).collect();
        for planned in &mut planned {
            let room = match &planned.seen {
                Seen::InFile(file) => deleted.contains(file),
                Seen::Folder => self
                    .only_holds(planned.path(), &deleted)
                    .map_err(|e| refused(&planned.change, Obstacle::Io(e)))?,
                _ => false,
            };
            if room && planned.change.old.is_none() {
                planned.plan = plan_file(None, planned.change.new.as_ref(), None);
            }
        }
        Ok(planned)
    }

    /// What is at the path of a change.
    fn see(&self, change: &FileChange) -> Result<Seen, Obstacle> {
        let path = change.path.as_bytes();
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
                None => return self.left_out(change),
            }
            walked.push(b'/');
        }
        match folder.file(name)? {
            (Some(file), _) => Ok(Seen::File(file)),
            (None, Some(stat)) if Kind::of(&stat) == Kind::Folder => Ok(Seen::Folder),
            (None, Some(_)) => Ok(Seen::Special),
            (None, None) => self.left_out(change),
        }
    }

    /// What a path stands for that is not on disk.
    fn left_out(&self, change: &FileChange) -> Result<Seen, Obstacle> {
        match self.tracked.at(change.path.as_bytes()) {
            Some(Held::LeftOut(mode, id)) if change.new.is_some() => {
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

    /// Refuses the whole apply where any file of it could not be written.
    fn check(&self, planned: &[Planned]) -> Result<(), ApplyError> {
        for planned in planned.iter().filter(|planned| planned.plan.write != Write::Leave) {
            let refused = |obstacle| refused(&planned.change, obstacle);
            let checked = || -> Result<(), Obstacle> {
                let (folder, _) = self.nearest(planned.path())?;
                if !folder.writable(b".")? {
                    return Err(Obstacle::ReadOnlyFolder);
                }
                match &planned.seen {
                    Seen::File(file)
                        if file.mode != Mode::Symlink && !folder.writable(split(planned.path()).1)? =>
                    {
                        Err(Obstacle::ReadOnly)
                    }
                    _ => Ok(()),
                }
            };
            checked().map_err(refused)?;
        }
        Ok(())
    }

    /// Writes every new file beside its place, so that a full disk is known before any file changes.
    fn stage(&self, planned: &mut [Planned]) -> Result<(), ApplyError> {
        for planned in planned {
            self.stage_one(planned).map_err(|e| refused(&planned.change, Obstacle::Io(e)))?;
        }
        Ok(())
    }

    fn stage_one(&self, planned: &mut Planned) -> io::Result<()> {
        let Write::Put(file) = &planned.plan.write else { return Ok(()) };
        let (folder, at) = self.nearest(planned.path())?;
        // The same file gets the same name again, so that a try that was cut off leaves nothing behind.
        let content = [planned.path(), b"\0", &file.bytes.0].concat();
        let content = Oid::hash_object(ObjectType::Blob, &content).map_err(io::Error::other)?;
        let name = [STAGED, content.to_string().as_bytes()].concat();
        folder.remove(&name)?;
        planned.staged = Some((name.clone(), at));
        let Some(written) = folder.create(&name, file.mode, &file.bytes.0)? else { return Ok(()) };
        if let Seen::File(File { mode: Mode::Regular | Mode::Executable, .. }) = planned.seen
            && let Some(stat) = folder.look(split(planned.path()).1)?
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

    /// Puts everything in its place: first what is deleted, which makes room, then the rest.
    fn carry_out(&self, planned: &mut [Planned]) -> Result<(), ApplyError> {
        for deletions in [true, false] {
            for planned in planned.iter_mut().filter(|p| (p.plan.write == Write::Delete) == deletions) {
                self.carry_out_one(planned).map_err(|obstacle| ApplyError::Stopped {
                    path: planned.change.path.clone(),
                    source: match obstacle {
                        Obstacle::Io(source) => source,
                        other => io::Error::other(other.to_string()),
                    },
                })?;
            }
        }
        Ok(())
    }

    fn carry_out_one(&self, planned: &mut Planned) -> Result<(), Obstacle> {
        for _ in 0..LOOKS {
            let seen = self.see(&planned.change)?;
            // Room that a deletion was to make is there by now, or the deletion was given up.
            let no_room = matches!(seen, Seen::Folder | Seen::InFile(_));
            if seen != planned.seen || no_room {
                self.unstage(planned)?;
                planned.plan = plan_seen(&planned.change, &seen);
                planned.seen = seen;
                self.stage_one(planned)?;
            }
            match &planned.plan.write {
                Write::Leave => return Ok(()),
                Write::Delete => return Ok(self.delete(planned.path())?),
                Write::Put(_) => match self.put(planned) {
                    Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                    done => return Ok(done?),
                },
            }
        }
        Err(Obstacle::Io(io::Error::other("it keeps changing")))
    }

    fn unstage(&self, planned: &mut Planned) -> io::Result<()> {
        match planned.staged.take() {
            Some((name, folder)) => self.root.descend(&folder)?.remove(&name),
            None => Ok(()),
        }
    }

    fn delete(&self, path: &[u8]) -> io::Result<()> {
        let (above, name) = split(path);
        let mut cursor = Cursor::new(&self.root);
        let folder = cursor.folder(above)?;
        folder.remove(name)?;
        folder.sync()?;
        cursor.remove_emptied(above)
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
            }
            folder = folder.enter(name)?;
        }
        let waiting = self.root.descend(waits_in)?;
        match &planned.seen {
            Seen::File(_) => waiting.rename(staged, &folder, name)?,
            _ => waiting.rename_new(staged, &folder, name)?,
        }
        planned.staged = None;
        folder.sync()
    }
}

/// The plan for what was seen. Where something is in the way that is no file, nothing lands.
fn plan_seen(change: &FileChange, seen: &Seen) -> FilePlan {
    let FileChange { old, new, .. } = change;
    let plan = |user: Option<&File>| plan_file(old.as_ref(), new.as_ref(), user);
    match seen {
        Seen::Nothing => plan(None),
        Seen::File(file) | Seen::LeftOut(file) => plan(Some(file)),
        // The file is gone, whatever has come in its place.
        Seen::Folder | Seen::InFile(_) if new.is_none() => plan(None),
        Seen::InFile(_) if old.is_some() => plan(None),
        Seen::Folder | Seen::Special | Seen::InFile(_) => {
            // No file is like this one: nothing can be a link to an empty name.
            let unlike = File { mode: Mode::Symlink, bytes: Bytes(Vec::new()) };
            let mut plan = plan(Some(&unlike));
            plan.write = Write::Leave;
            if let Some(set_aside) = &mut plan.set_aside {
                set_aside.reason = Reason::TypeChanged;
            }
            plan
        }
    }
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

fn refused(change: &FileChange, obstacle: Obstacle) -> ApplyError {
    ApplyError::Refused { path: change.path.clone(), obstacle }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::user::UserRepo;

    const TEXT: &str = "a\nb\nc\nd\ne\nf\ng\nh\n";

    fn change(path: &str, old: Option<&str>, new: Option<&str>) -> FileChange {
        let file = |text: &str| File { mode: Mode::Regular, bytes: Bytes(text.into()) };
        FileChange {
            path: RepoPath::new(path).unwrap(),
            old_path: None,
            old: old.map(file),
            new: new.map(file),
        }
    }

    /// Plans and stages `changes`, lets the user do something, and carries on.
    fn apply_while(changes: Vec<FileChange>, user: impl FnOnce(&std::path::Path)) -> Vec<FileReport> {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().join("project");
        git2::Repository::init(&root).unwrap();
        for FileChange { path, old, .. } in &changes {
            if let Some(old) = old {
                fs::write(root.join(path.display()), &old.bytes.0).unwrap();
            }
        }
        let repo = PrivateRepo::open(&scratch.path().join("data"), &UserRepo::open(&root).unwrap()).unwrap();
        let objects = repo.objects().unwrap();
        let target =
            Target { root: Folder::open(&root).unwrap(), tracked: Tracked::default(), objects: &objects };
        let mut planned = target.plan(changes).unwrap();
        target.check(&planned).unwrap();
        target.stage(&mut planned).unwrap();
        user(&root);
        target.carry_out(&mut planned).unwrap();
        let left = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(!left.into_iter().any(|name| name.as_encoded_bytes().starts_with(STAGED)));
        planned.into_iter().map(Planned::report).collect()
    }

    #[test]
    fn what_the_user_saves_at_the_last_moment_is_planned_for() {
        let changes = vec![
            change("beside.txt", Some(TEXT), Some(&TEXT.replace("h\n", "eight\n"))),
            change("over.txt", Some(TEXT), Some(&TEXT.replace("h\n", "eight\n"))),
            change("gone.txt", Some(TEXT), None),
            change("new.txt", None, Some("theirs\n")),
        ];
        let reports = apply_while(changes, |root| {
            fs::write(root.join("beside.txt"), TEXT.replace("a\n", "mine\n")).unwrap();
            fs::write(root.join("over.txt"), TEXT.replace("h\n", "mine\n")).unwrap();
            fs::write(root.join("gone.txt"), "mine\n").unwrap();
            fs::write(root.join("new.txt"), "mine\n").unwrap();
        });
        let aside: Vec<Option<Reason>> =
            reports.iter().map(|file| file.set_aside.as_ref().map(|aside| aside.reason)).collect();
        let expected = [None, Some(Reason::Region), Some(Reason::ChangedSince), Some(Reason::Exists)];
        assert_eq!(aside, expected);
        let current: Vec<Option<Vec<u8>>> =
            reports.into_iter().map(|file| file.current.map(|file| file.bytes.0)).collect();
        let over = TEXT.replace("h\n", "mine\n").into_bytes();
        assert_eq!(current, [None, Some(over), Some(b"mine\n".to_vec()), Some(b"mine\n".to_vec())]);
    }

    #[test]
    fn room_that_is_not_made_after_all_sets_the_new_file_aside() {
        let changes = vec![change("thing", Some("file\n"), None), change("thing/in", None, Some("in\n"))];
        let reports = apply_while(changes, |root| fs::write(root.join("thing"), "mine\n").unwrap());
        let reasons: Vec<Reason> = reports.into_iter().map(|file| file.set_aside.unwrap().reason).collect();
        assert_eq!(reasons, [Reason::ChangedSince, Reason::TypeChanged]);
    }
}
