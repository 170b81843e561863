//! `move {path, to, rationale}`: a file gets another path.

use serde::Deserialize;

use super::{Done, Rationale, ToolError, Worktree};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Move {
    pub(super) path: String,
    to: String,
    rationale: Rationale,
}

impl Move {
    pub(super) fn carry_out(self, worktree: &Worktree) -> Result<Done, ToolError> {
        let (from, to) = (worktree.resolve_entry(&self.path)?, worktree.resolve_entry(&self.to)?);
        let bytes = worktree.read_existing(&from)?;
        if worktree.entry(&to)?.is_some() {
            return Err(ToolError::Exists(to.display()));
        }
        worktree.make_folder_of(&to)?;
        worktree.rename(&from, &to)?;
        let content = format!("{from}: moved to {to}.");
        let files = vec![(from, Some(bytes.clone()), None), (to.clone(), None, Some(bytes))];
        Ok(Done::edited(&format!("moved to {to}"), content, &self.rationale, files))
    }
}
