//! The accepted state, file by file.

use serde::{Deserialize, Serialize};

use crate::{file::File, path::RepoPath};

/// What becomes of one file when an accepted state is written. Files not named stay as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileOutcome {
    /// The file.
    pub path: RepoPath,
    /// Its new content; `None` deletes it.
    pub file: Option<File>,
}
