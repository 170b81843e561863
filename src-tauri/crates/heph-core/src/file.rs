//! A file on one side of a change.

use serde::{Deserialize, Serialize};

use crate::{path::RepoPath, text::Bytes};

/// The kind of a tree entry, of those that a working tree can hold as a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// 100644.
    Regular,
    /// 100755.
    Executable,
    /// 120000; the content is the target.
    Symlink,
}

impl Mode {
    /// As git's tree has it.
    pub fn bits(self) -> u32 {
        match self {
            Mode::Regular => 0o100644,
            Mode::Executable => 0o100755,
            Mode::Symlink => 0o120000,
        }
    }
}

/// A file: its mode and its bytes as they are on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// The mode.
    pub mode: Mode,
    /// The bytes; for a symlink, its target.
    pub bytes: Bytes,
}

impl File {
    /// Whether it is a symbolic link.
    pub fn is_link(&self) -> bool {
        self.mode == Mode::Symlink
    }
}

/// A file that differs between two trees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// Where it lies.
    pub path: RepoPath,
    /// Where it lay, where it was renamed; `old` is then what lay there.
    pub old_path: Option<RepoPath>,
    /// Before; `None` where it is new.
    pub old: Option<File>,
    /// After; `None` where it is gone.
    pub new: Option<File>,
}
