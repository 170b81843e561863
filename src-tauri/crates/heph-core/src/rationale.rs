//! Which edit's reason belongs to which hunk.

use serde::{Deserialize, Serialize};

use crate::{path::RepoPath, text::Bytes};

/// One edit that a model made with a tool, and why. `None` for a side that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditNote {
    /// The file.
    pub path: RepoPath,
    /// Its bytes before the edit.
    pub before: Option<Bytes>,
    /// Its bytes after the edit.
    pub after: Option<Bytes>,
    /// The model's own sentence.
    pub rationale: String,
}
