//! The user's repository, which is only read.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use git2::{ErrorCode, Oid, Repository, RepositoryOpenFlags};

use crate::{
    error::{At, GitError, OpenError},
    folder::os,
    index::{self, Index},
    objects::Objects,
    rules::{Rules, Stack},
    tracked::Tracked,
};

/// The repository that the user works in.
#[derive(Clone, Debug)]
pub struct UserRepo {
    root: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
}

impl UserRepo {
    /// Opens the repository that `path`, or a folder above it, is the root of. Linked worktrees, also
    /// of a bare repository, and repositories without a commit are fine.
    ///
    /// # Errors
    /// [`OpenError`]; nothing is written in any case.
    pub fn open(path: &Path) -> Result<UserRepo, OpenError> {
        let unreadable = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => OpenError::NoSuchPath(path.to_owned()),
            _ => OpenError::Unreadable { path: path.to_owned(), source },
        };
        let start = fs::canonicalize(path).map_err(unreadable)?;
        let repo = Repository::discover(&start).map_err(|source| match source.code() {
            ErrorCode::NotFound => OpenError::NotARepository(path.to_owned()),
            _ => OpenError::Git { path: path.to_owned(), source },
        })?;
        let root = repo.workdir().ok_or_else(|| OpenError::Bare(path.to_owned()))?;
        Ok(UserRepo {
            root: fs::canonicalize(root).map_err(unreadable)?,
            git_dir: fs::canonicalize(repo.path()).map_err(unreadable)?,
            common_dir: fs::canonicalize(repo.commondir()).map_err(unreadable)?,
        })
    }

    /// The folder that holds the files; absolute, without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What to call the repository: its folder's name.
    pub fn name(&self) -> String {
        self.root.file_name().unwrap_or(self.root.as_os_str()).to_string_lossy().into_owned()
    }

    /// The branch that is checked out, also when it has no commit yet; where none is, the commit's
    /// short id.
    ///
    /// # Errors
    /// Where HEAD cannot be read.
    pub fn branch(&self) -> Result<String, GitError> {
        let repo = self.git()?;
        let head = repo.find_reference("HEAD")?;
        match head.symbolic_target_bytes() {
            Some(name) => {
                let name = String::from_utf8_lossy(name).into_owned();
                Ok(name.strip_prefix("refs/heads/").map(str::to_owned).unwrap_or(name))
            }
            None => {
                let short = head.peel(git2::ObjectType::Commit)?.short_id()?;
                Ok(String::from_utf8_lossy(&short).into_owned())
            }
        }
    }

    /// Where the objects and refs lie that all worktrees of the repository share.
    pub(crate) fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    pub(crate) fn git(&self) -> Result<Repository, GitError> {
        Ok(Repository::open_ext(&self.root, RepositoryOpenFlags::NO_SEARCH, std::iter::empty::<&Path>())?)
    }

    /// The commit that HEAD stands on; `None` where there is none yet.
    pub(crate) fn head(&self) -> Result<Option<Oid>, GitError> {
        match self.git()?.head() {
            Ok(head) => Ok(Some(head.peel_to_commit()?.id())),
            Err(e) if matches!(e.code(), ErrorCode::UnbornBranch | ErrorCode::NotFound) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// What the user's index tracks, with the files that submodules track in their folders.
    pub(crate) fn tracked(&self, objects: &Objects) -> Result<Tracked, GitError> {
        let mut tracked = Tracked::default();
        self.add_index(&mut tracked, &self.git_dir, &[], objects)?;
        let mut waiting = tracked.submodules();
        while let Some(path) = waiting.pop() {
            // A submodule that is not checked out has an empty folder, or none.
            let place = self.root.join(os(&path));
            let no_search = RepositoryOpenFlags::NO_SEARCH;
            let Ok(repo) = Repository::open_ext(place, no_search, std::iter::empty::<&Path>()) else {
                continue;
            };
            let before = tracked.submodules();
            self.add_index(&mut tracked, repo.path(), &[&path[..], b"/"].concat(), objects)?;
            waiting.extend(tracked.submodules().into_iter().filter(|path| !before.contains(path)));
        }
        Ok(tracked)
    }

    fn add_index(
        &self,
        tracked: &mut Tracked,
        git_dir: &Path,
        prefix: &[u8],
        objects: &Objects,
    ) -> Result<(), GitError> {
        let Some(file) = read_index(git_dir)? else { return Ok(()) };
        tracked.add_index(prefix, self.index_of(&file)?.entries, objects);
        Ok(())
    }

    /// Where git keeps what belongs to this working tree alone.
    pub(crate) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The index of a file's bytes.
    pub(crate) fn index_of(&self, file: &[u8]) -> Result<Index, GitError> {
        index::read(file).map_err(|why| GitError::Index { repository: self.root.clone(), why })
    }

    /// The ignore rules that hold in the whole tree: the user's own, then the repository's.
    pub(crate) fn rules(&self) -> Result<Stack, GitError> {
        let mut stack = Stack::default();
        let global = self.git()?.config()?.get_path("core.excludesFile").ok();
        let files = [global.or_else(default_excludes), Some(self.common_dir.join("info/exclude"))];
        for file in files.into_iter().flatten() {
            match fs::read(&file) {
                Ok(bytes) => stack.push(b"", Rules::parse(&bytes)),
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(e).at("read", file),
            }
        }
        Ok(stack)
    }
}

/// The bytes of the index in a git folder; `None` where there is none yet.
pub(crate) fn read_index(git_dir: &Path) -> Result<Option<Vec<u8>>, GitError> {
    let path = git_dir.join("index");
    match fs::read(&path) {
        Ok(file) => Ok(Some(file)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e).at("read", &path),
    }
}

/// Where git looks for the user's excludes when no setting names them.
fn default_excludes() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let config = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(config.join("git/ignore"))
}
