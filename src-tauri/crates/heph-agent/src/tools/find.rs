//! `find {pattern}`: files by a glob over their paths.

use std::path::Path;

use ignore::overrides::OverrideBuilder;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::{Done, ToolError, Worktree, counted, walk};

/// More paths than this are not shown.
const MOST: usize = 500;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Find {
    /// As a line of `.gitignore`: without a slash it is a name in any folder.
    pub(super) pattern: String,
}

impl Find {
    pub(super) fn carry_out(
        self,
        worktree: &Worktree,
        cancel: &CancellationToken,
    ) -> Result<Done, ToolError> {
        let pattern = |error: ignore::Error| ToolError::Pattern(error.to_string());
        let mut globs = OverrideBuilder::new("");
        globs.add(&self.pattern).map_err(pattern)?;
        let globs = globs.build().map_err(pattern)?;
        let mut found = Vec::new();
        for path in walk::files(worktree, Path::new("")) {
            if cancel.is_cancelled() {
                return Err(ToolError::Cancelled);
            }
            if globs.matched(&path, false).is_whitelist() {
                found.push(path.to_string_lossy().into_owned());
            }
        }
        let outcome = counted(found.len(), "file", "files");
        if found.is_empty() {
            return Ok(Done::looked(
                outcome,
                format!("no file fits {}; ignored files are not looked at", self.pattern),
            ));
        }
        let more = found.len().saturating_sub(MOST);
        found.truncate(MOST);
        let mut content = found.join("\n");
        if more > 0 {
            content += &format!("\n[... {more} more; use a narrower pattern ...]");
        }
        Ok(Done::looked(outcome, content))
    }
}
