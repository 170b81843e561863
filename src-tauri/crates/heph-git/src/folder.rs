//! A folder held open, in which names are looked up one at a time and links never followed.

use std::{
    ffi::OsStr,
    fs::{File as OsFile, FileTimes},
    io::{self, Read, Write},
    os::unix::ffi::OsStrExt,
    path::Path,
};

use cap_std::fs::Dir;
use heph_core::file::{File, Mode};
use heph_core::text::Bytes;
use rustix::{
    fs::{AtFlags, FileType, Mode as Permissions, OFlags, Stat},
    io::Errno,
};

/// An open folder.
pub(crate) struct Folder(Dir);

/// What a name in a folder stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A regular file or a link.
    File(Mode),
    /// A folder.
    Folder,
    /// A socket, a pipe, a device: nothing that a tree could hold.
    Other,
}

impl Kind {
    /// From what the file system says.
    pub(crate) fn of(stat: &Stat) -> Kind {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if stat.st_mode & 0o100 != 0 => Kind::File(Mode::Executable),
            FileType::RegularFile => Kind::File(Mode::Regular),
            FileType::Symlink => Kind::File(Mode::Symlink),
            FileType::Directory => Kind::Folder,
            _ => Kind::Other,
        }
    }
}

/// The last component of a path, and the folder before it (`""` for the root).
pub(crate) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|&b| b == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (&[], path),
    }
}

/// Bytes as a path of the operating system's.
pub(crate) fn os(path: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(path))
}

impl Folder {
    /// Opens a folder by its place in the file system; the last component must not be a link.
    pub(crate) fn open(path: &Path) -> io::Result<Folder> {
        Ok(Folder::held(rustix::fs::open(path, folder_flags(), Permissions::empty())?))
    }

    fn held(fd: rustix::fd::OwnedFd) -> Folder {
        Folder(Dir::from_std_file(OsFile::from(fd)))
    }

    /// A second handle of the same folder.
    pub(crate) fn again(&self) -> io::Result<Folder> {
        Ok(Folder(self.0.try_clone()?))
    }

    /// The folder `name` in this one. Fails with `NotADirectory` where it is a link.
    pub(crate) fn enter(&self, name: &[u8]) -> io::Result<Folder> {
        Ok(Folder::held(rustix::fs::openat(&self.0, name, folder_flags(), Permissions::empty())?))
    }

    /// The folder at `path`, each component entered in turn; `""` is this one.
    pub(crate) fn descend(&self, path: &[u8]) -> io::Result<Folder> {
        let mut folder = self.again()?;
        for name in path.split(|&b| b == b'/').filter(|name| !name.is_empty()) {
            folder = folder.enter(name)?;
        }
        Ok(folder)
    }

    /// What `name` is; `None` where it is nothing.
    pub(crate) fn look(&self, name: &[u8]) -> io::Result<Option<Stat>> {
        match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// The names in here but `.` and `..`, each with its kind where the file system tells it.
    pub(crate) fn names(&self) -> io::Result<Vec<(Vec<u8>, FileType)>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push((name.to_vec(), entry.file_type()));
            }
        }
        Ok(names)
    }

    /// The bytes of the regular file `name`, and what the file system says of it. A file that changes
    /// while it is read is read again; one that never rests (a log) is taken as it was last seen.
    pub(crate) fn read(&self, name: &[u8]) -> io::Result<(Vec<u8>, Stat)> {
        let mut seen = self.read_once(name)?;
        for _ in 0..3 {
            let (bytes, before, after) = &mut seen;
            if Stamp::of(before) == Stamp::of(after) {
                return Ok((std::mem::take(bytes), *after));
            }
            seen = self.read_once(name)?;
        }
        Ok((seen.0, seen.2))
    }

    fn read_once(&self, name: &[u8]) -> io::Result<(Vec<u8>, Stat, Stat)> {
        let mut file = self.open_file(name)?;
        let before = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(before.st_mode) != FileType::RegularFile {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file any more"));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(before.st_size).unwrap_or(0));
        file.read_to_end(&mut bytes)?;
        let after = rustix::fs::fstat(&file)?;
        Ok((bytes, before, after))
    }

    /// Where the link `name` points.
    pub(crate) fn read_link(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        Ok(rustix::fs::readlinkat(&self.0, name, Vec::new())?.into_bytes())
    }

    /// The file or link `name`, with what the file system says of it.
    pub(crate) fn file(&self, name: &[u8]) -> io::Result<(Option<File>, Option<Stat>)> {
        let Some(stat) = self.look(name)? else { return Ok((None, None)) };
        let Kind::File(mode) = Kind::of(&stat) else { return Ok((None, Some(stat))) };
        let bytes = match mode {
            Mode::Symlink => self.read_link(name)?,
            Mode::Regular | Mode::Executable => self.read(name)?.0,
        };
        Ok((Some(File { mode, bytes: Bytes(bytes) }), Some(stat)))
    }

    /// Writes a file that must not be there yet; its permissions are what the process's umask leaves.
    pub(crate) fn create(&self, name: &[u8], mode: Mode, bytes: &[u8]) -> io::Result<Option<OsFile>> {
        let permissions = match mode {
            Mode::Regular => Permissions::from_raw_mode(0o666),
            Mode::Executable => Permissions::from_raw_mode(0o777),
            Mode::Symlink => {
                self.0.symlink_contents(OsStr::from_bytes(bytes), os(name))?;
                return Ok(None);
            }
        };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = OsFile::from(rustix::fs::openat(&self.0, name, flags, permissions)?);
        file.write_all(bytes)?;
        Ok(Some(file))
    }

    /// Copies the regular file `name` into another folder, where that name must be free, with its
    /// permissions and the time of its last change.
    pub(crate) fn copy(&self, name: &[u8], other: &Folder) -> io::Result<()> {
        let mut from = self.open_file(name)?;
        let original = from.metadata()?;
        if !original.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file any more"));
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let own = Permissions::RUSR | Permissions::WUSR;
        let mut to = OsFile::from(rustix::fs::openat(&other.0, name, flags, own)?);
        io::copy(&mut from, &mut to)?;
        to.set_permissions(original.permissions())?;
        // Last, so that a copy that was cut off has another time than its original.
        to.set_times(FileTimes::new().set_modified(original.modified()?))
    }

    fn open_file(&self, name: &[u8]) -> io::Result<OsFile> {
        // A pipe put in the file's place must not hold the reader up.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        Ok(OsFile::from(rustix::fs::openat(&self.0, name, flags, Permissions::empty())?))
    }

    /// Makes the folder `name`, unless there is one.
    pub(crate) fn make(&self, name: &[u8]) -> io::Result<()> {
        match self.0.create_dir(os(name)) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
            _ => Ok(()),
        }
    }

    /// Removes the file or link `name`; it may be gone already.
    pub(crate) fn remove(&self, name: &[u8]) -> io::Result<()> {
        match self.0.remove_file(os(name)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }

    /// Removes the folder `name` if it is empty, and says whether it is gone.
    pub(crate) fn remove_empty(&self, name: &[u8]) -> io::Result<bool> {
        match rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR | Errno::BUSY) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    /// Removes whatever `name` is, with all that is in it.
    pub(crate) fn remove_all(&self, name: &[u8]) -> io::Result<()> {
        match self.look(name)?.as_ref().map(Kind::of) {
            None => Ok(()),
            Some(Kind::Folder) => self.0.remove_dir_all(os(name)),
            Some(Kind::File(_) | Kind::Other) => self.remove(name),
        }
    }

    /// Puts `name` in the place of `to` in another folder, in one step.
    pub(crate) fn rename(&self, name: &[u8], other: &Folder, to: &[u8]) -> io::Result<()> {
        self.0.rename(os(name), &other.0, os(to))
    }

    /// Puts `name` where there is nothing yet; fails with `AlreadyExists` else.
    pub(crate) fn rename_new(&self, name: &[u8], other: &Folder, to: &[u8]) -> io::Result<()> {
        // A second name for the same file is refused where the name is taken, on every file system
        // that has such names; a plain rename would replace what came there meanwhile.
        match rustix::fs::linkat(&self.0, name, &other.0, to, AtFlags::empty()) {
            Ok(()) => self.remove(name),
            Err(Errno::EXIST) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => match other.look(to)? {
                Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
                None => self.rename(name, other, to),
            },
        }
    }

    /// Whether this process may write the file `name`, or add to and remove from the folder (`"."`).
    /// What is marked read-only for everybody counts as read-only for the superuser too.
    pub(crate) fn writable(&self, name: &[u8]) -> io::Result<bool> {
        let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if stat.st_mode & 0o222 == 0 {
            return Ok(false);
        }
        match rustix::fs::accessat(&self.0, name, rustix::fs::Access::WRITE_OK, AtFlags::EACCESS) {
            Ok(()) => Ok(true),
            Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    /// Makes names that were added and removed here last through a loss of power.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.0)?)
    }

    /// Makes everything that was written to this file system last through a loss of power.
    pub(crate) fn sync_all(&self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        rustix::fs::syncfs(&self.0)?;
        #[cfg(not(target_os = "linux"))]
        rustix::fs::sync();
        Ok(())
    }
}

/// A folder below another, kept open while neighbours in it are visited.
pub(crate) struct Cursor<'a> {
    root: &'a Folder,
    at: Option<(Vec<u8>, Folder)>,
}

impl<'a> Cursor<'a> {
    /// Starts at `root`.
    pub(crate) fn new(root: &'a Folder) -> Cursor<'a> {
        Cursor { root, at: None }
    }

    /// The folder at `path`.
    pub(crate) fn folder(&mut self, path: &[u8]) -> io::Result<&Folder> {
        if self.at.as_ref().is_none_or(|(at, _)| at != path) {
            self.at = Some((path.to_vec(), self.root.descend(path)?));
        }
        Ok(&self.at.as_ref().expect("it was just set").1)
    }

    /// As [`Cursor::folder`], after making the folders that are missing on the way. Anything else that
    /// lies in their way is removed.
    pub(crate) fn make_folder(&mut self, path: &[u8]) -> io::Result<&Folder> {
        if self.folder(path).is_err() {
            let mut folder = self.root.again()?;
            for name in path.split(|&b| b == b'/').filter(|name| !name.is_empty()) {
                if folder.look(name)?.is_some_and(|stat| Kind::of(&stat) != Kind::Folder) {
                    folder.remove(name)?;
                }
                folder.make(name)?;
                folder = folder.enter(name)?;
            }
            self.at = Some((path.to_vec(), folder));
        }
        self.folder(path)
    }

    /// Removes the folder at `path` and those above it, as far as they are empty and `goes` has them go.
    pub(crate) fn remove_emptied(&mut self, mut path: &[u8], goes: impl Fn(&[u8]) -> bool) -> io::Result<()> {
        self.at = None;
        while !path.is_empty() && goes(path) {
            let (above, name) = split(path);
            match self.folder(above).and_then(|folder| folder.remove_empty(name)) {
                Ok(true) => path = above,
                Ok(false) => break,
                Err(e) if e.kind() == io::ErrorKind::NotFound => path = above,
                // A file has come in the folder's place.
                Err(e) if e.kind() == io::ErrorKind::NotADirectory => break,
                Err(e) => return Err(e),
            }
            self.at = None;
        }
        Ok(())
    }
}

/// What tells one state of a file on disk from another without reading it: what git's index keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Stamp {
    /// Seconds and nanoseconds of the last change to content or permissions, as an index holds them.
    pub(crate) changed: (i32, u32),
    /// The same of the last change to the content; programs can set this one.
    pub(crate) modified: (i32, u32),
    pub(crate) device: u32,
    pub(crate) inode: u32,
    pub(crate) user: u32,
    pub(crate) group: u32,
    /// Bytes, of which the lower 32 bits.
    pub(crate) size: u32,
}

impl Stamp {
    /// Cut to the widths that an index has; the loss is the same on both sides of a comparison.
    #[allow(clippy::cast_possible_truncation, clippy::unnecessary_cast)]
    pub(crate) fn of(stat: &Stat) -> Stamp {
        Stamp {
            changed: (stat.st_ctime as i32, stat.st_ctime_nsec as u32),
            modified: (stat.st_mtime as i32, stat.st_mtime_nsec as u32),
            device: stat.st_dev as u32,
            inode: stat.st_ino as u32,
            user: stat.st_uid,
            group: stat.st_gid,
            size: stat.st_size as u32,
        }
    }
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}
