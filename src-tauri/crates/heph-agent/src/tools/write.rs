//! `write {path, content, rationale}`: a whole file, new or not.

use heph_core::text;
use serde::Deserialize;

use super::{Done, Rationale, ToolError, Worktree, counted};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {
    pub(super) path: String,
    content: String,
    rationale: Rationale,
}

impl Write {
    pub(super) fn carry_out(self, worktree: &Worktree) -> Result<Done, ToolError> {
        let path = worktree.resolve(&self.path)?;
        let before = worktree.read(&path)?;
        let after = self.content.into_bytes();
        worktree.write(&path, &after)?;
        let outcome = if before.is_some() { "replaced" } else { "new file" };
        let content = format!("{path}: written, {}.", counted(text::lines(&after).len(), "line", "lines"));
        Ok(Done::edited(outcome, content, &self.rationale, vec![(path, before, Some(after))]))
    }
}
