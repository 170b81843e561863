//! `delete {path, rationale}`: one file goes.

use serde::Deserialize;

use super::{Done, Rationale, ToolError, Worktree};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Delete {
    pub(super) path: String,
    rationale: Rationale,
}

impl Delete {
    pub(super) fn carry_out(self, worktree: &Worktree) -> Result<Done, ToolError> {
        let path = worktree.resolve_entry(&self.path)?;
        let before = worktree.read_existing(&path)?;
        worktree.remove(&path)?;
        let content = format!("{path}: deleted.");
        Ok(Done::edited("deleted", content, &self.rationale, vec![(path, Some(before), None)]))
    }
}
