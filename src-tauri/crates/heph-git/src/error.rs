//! What can go wrong, in words for the screen.

use std::{
    io,
    path::{Path, PathBuf},
};

use heph_core::path::{PathError, RepoPath};

/// Why a folder cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is nothing at the path.
    #[error("{} does not exist", .0.display())]
    NoSuchPath(PathBuf),
    /// It is in no git repository.
    #[error("{} is not in a git repository; `git init` would make it one", .0.display())]
    NotARepository(PathBuf),
    /// The repository has no files to work on.
    #[error("{} is a bare repository: it has no files to work on; open a worktree of it", .0.display())]
    Bare(PathBuf),
    /// Git's files, or the folder itself, cannot be read.
    #[error("{} cannot be opened: {source}", .path.display())]
    Unreadable {
        /// The path that was asked for.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// There is a repository that cannot be read: damaged, another user's, or of an unknown format.
    #[error("the repository at {} cannot be opened: {}", .path.display(), .source.message())]
    Git {
        /// The path that was asked for.
        path: PathBuf,
        /// The reason.
        source: git2::Error,
    },
}

/// Why a snapshot, a tree or a worktree cannot be made. The user's files are as they were.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// An object or a ref cannot be read or written.
    #[error("git: {}", .0.message())]
    Git(#[from] git2::Error),
    /// A file cannot be read or written.
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io {
        /// What was tried, as a verb: "read", "write".
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The user's index is of a form that is not understood.
    #[error("the index of {} cannot be read: {why}", .repository.display())]
    Index {
        /// The user's repository.
        repository: PathBuf,
        /// What is wrong, and what helps.
        why: &'static str,
    },
    /// A tree holds a path that no file system should be given.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A state cannot be composed with this file.
    #[error("{path} cannot be part of the accepted state: {why}")]
    Refused {
        /// The file.
        path: RepoPath,
        /// Why not.
        why: Refusal,
    },
    /// A revision names nothing that could be reviewed against.
    #[error("`{0}` names no commit of this repository")]
    NoRevision(String),
    /// A session's name is used for folders and refs, and this one cannot be.
    #[error("`{0}` is no name for a session: letters, digits, `-` and `_` only")]
    Session(String),
    /// The worktree's folder is gone; moving the worktree to a tree makes it anew.
    #[error("the worktree {} has vanished", .0.display())]
    WorktreeGone(PathBuf),
    /// A file changed again and again while it was read.
    #[error("{} keeps changing while it is read", .0.display())]
    Unsteady(PathBuf),
    /// A journal of an apply is not as it was written.
    #[error("the journal {} is damaged; when it is removed, applying goes on without it", .0.display())]
    Journal(PathBuf),
    /// Folders lie in each other too deep to be walked.
    #[error("{} is nested too deep", .0.display())]
    TooDeep(PathBuf),
}

/// Why a file is refused at composition, whatever the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A symbolic link to something outside of the repository.
    #[error("the link points out of the repository")]
    LinkLeaves,
    /// A file and a folder of one name.
    #[error("a file and a folder would have the same name")]
    FileAndFolder,
}

/// Names the file in an error of the operating system's.
pub(crate) trait At<T> {
    /// `doing` is a verb: "read", "write".
    fn at(self, doing: &'static str, path: impl AsRef<Path>) -> Result<T, GitError>;
}

impl<T, E: Into<io::Error>> At<T> for Result<T, E> {
    fn at(self, doing: &'static str, path: impl AsRef<Path>) -> Result<T, GitError> {
        self.map_err(|e| GitError::Io { doing, path: path.as_ref().to_owned(), source: e.into() })
    }
}
