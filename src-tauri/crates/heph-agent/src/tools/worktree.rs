//! The worktree as the tools may use it: its own files, never git's, never anything outside.

use std::{
    ffi::OsStr,
    io::{self, Read as _},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use cap_std::{
    ambient_authority,
    fs::{Dir, Metadata},
};
use heph_core::path::RepoPath;

use super::ToolError;

/// Files larger than this many bytes are neither read nor edited as a whole.
const LARGEST: u64 = 16 * 1024 * 1024;

/// A folder that is left neither by `..` nor by a symbolic link: the operating system is asked for
/// one component at a time, beginning at the folder that was opened.
pub(crate) struct Worktree {
    root: PathBuf,
    dir: Dir,
}

impl Worktree {
    pub(crate) fn open(root: &Path) -> io::Result<Worktree> {
        let root = root.canonicalize()?;
        let dir = Dir::open_ambient_dir(&root, ambient_authority())?;
        Ok(Worktree { root, dir })
    }

    /// Where it lies, free of symbolic links.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The file or folder that `given` means, after every symbolic link in it: what does not exist
    /// yet is taken as it stands.
    pub(super) fn resolve(&self, given: &str) -> Result<RepoPath, ToolError> {
        self.follow(&RepoPath::new(given)?)
    }

    /// The entry that `given` means: symbolic links are followed on the way to it, but it may be one
    /// itself.
    pub(super) fn resolve_entry(&self, given: &str) -> Result<RepoPath, ToolError> {
        let path = RepoPath::new(given)?;
        match parent(&path) {
            Some(folder) => join(&self.follow(&folder)?, &path),
            None => Ok(path),
        }
    }

    fn follow(&self, path: &RepoPath) -> Result<RepoPath, ToolError> {
        match self.dir.canonicalize(std_path(path)) {
            Ok(real) => Ok(RepoPath::new(real.into_os_string().into_vec())?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if self.dir.symlink_metadata(std_path(path)).is_ok() {
                    return Err(ToolError::Missing(format!("what the symbolic link {path} points to")));
                }
                match parent(path) {
                    Some(folder) => join(&self.follow(&folder)?, path),
                    None => Ok(path.clone()),
                }
            }
            Err(error) => Err(self.fault(path, error)),
        }
    }

    /// Metadata of the entry itself, or `None` where there is none.
    pub(super) fn entry(&self, path: &RepoPath) -> Result<Option<Metadata>, ToolError> {
        match self.dir.symlink_metadata(std_path(path)) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.fault(path, error)),
        }
    }

    /// The bytes of a file, the target of a symbolic link, or `None` where there is neither.
    pub(super) fn read(&self, path: &RepoPath) -> Result<Option<Vec<u8>>, ToolError> {
        let Some(metadata) = self.entry(path)? else { return Ok(None) };
        if metadata.is_symlink() {
            let target =
                self.dir.read_link_contents(std_path(path)).map_err(|error| self.fault(path, error))?;
            return Ok(Some(target.into_os_string().into_vec()));
        }
        if metadata.is_dir() {
            return Err(ToolError::Folder(path.display()));
        }
        // A pipe would be waited for without end.
        if !metadata.is_file() {
            return Err(ToolError::Special(path.display()));
        }
        let too_large = |size| ToolError::TooLarge { path: path.display(), size };
        if metadata.len() > LARGEST {
            return Err(too_large(metadata.len()));
        }
        let file = self.dir.open(std_path(path)).map_err(|error| self.fault(path, error))?;
        let mut bytes = Vec::new();
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| self.fault(path, error))?;
        match bytes.len() as u64 {
            size if size > LARGEST => Err(too_large(size)),
            _ => Ok(Some(bytes)),
        }
    }

    /// The bytes of a file that must be there.
    pub(super) fn read_existing(&self, path: &RepoPath) -> Result<Vec<u8>, ToolError> {
        self.read(path)?.ok_or_else(|| ToolError::Missing(path.display()))
    }

    /// Writes a whole file; one that exists keeps its mode. Makes the folders on the way.
    pub(super) fn write(&self, path: &RepoPath, bytes: &[u8]) -> Result<(), ToolError> {
        self.make_folder_of(path)?;
        self.dir.write(std_path(path), bytes).map_err(|error| self.fault(path, error))
    }

    pub(super) fn make_folder_of(&self, path: &RepoPath) -> Result<(), ToolError> {
        let Some(folder) = parent(path) else { return Ok(()) };
        self.dir.create_dir_all(std_path(&folder)).map_err(|error| self.fault(&folder, error))
    }

    pub(super) fn rename(&self, from: &RepoPath, to: &RepoPath) -> Result<(), ToolError> {
        self.dir.rename(std_path(from), &self.dir, std_path(to)).map_err(|error| self.fault(from, error))
    }

    pub(super) fn remove(&self, path: &RepoPath) -> Result<(), ToolError> {
        self.dir.remove_file(std_path(path)).map_err(|error| self.fault(path, error))
    }

    /// The folder `path`, or the worktree itself for `None`.
    pub(super) fn folder(&self, path: Option<&RepoPath>) -> Result<Dir, ToolError> {
        match path {
            None => self.dir.try_clone().map_err(|source| ToolError::Io { path: ".".into(), source }),
            Some(path) => self.dir.open_dir(std_path(path)).map_err(|error| self.fault(path, error)),
        }
    }

    fn fault(&self, path: &RepoPath, source: io::Error) -> ToolError {
        let path = path.display();
        match source.kind() {
            io::ErrorKind::NotFound => ToolError::Missing(path),
            io::ErrorKind::NotADirectory => ToolError::NoFolder(path),
            // cap-std has no code of its own for a path that leads outside.
            io::ErrorKind::PermissionDenied if source.raw_os_error().is_none() => ToolError::Leaves(path),
            _ => ToolError::Io { path, source },
        }
    }
}

/// `given` as a folder: `None` for the worktree itself.
pub(super) fn folder_named(given: &str) -> Option<&str> {
    let is_root = !given.starts_with('/') && given.split('/').all(|part| matches!(part, "" | "."));
    (!is_root).then_some(given)
}

pub(super) fn std_path(path: &RepoPath) -> &Path {
    Path::new(OsStr::from_bytes(path.as_bytes()))
}

fn parent(path: &RepoPath) -> Option<RepoPath> {
    let end = path.as_bytes().iter().rposition(|&b| b == b'/')?;
    RepoPath::new(&path.as_bytes()[..end]).ok()
}

/// `folder` and the last component of `path`.
fn join(folder: &RepoPath, path: &RepoPath) -> Result<RepoPath, ToolError> {
    let name = path.as_bytes().rsplit(|&b| b == b'/').next().unwrap_or_default();
    Ok(RepoPath::new([folder.as_bytes(), name].join(&b'/'))?)
}
