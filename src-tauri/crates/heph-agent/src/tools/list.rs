//! `list {path}`: what one folder holds.

use std::{fmt::Write as _, os::unix::ffi::OsStrExt};

use serde::Deserialize;

use super::{
    Done, ToolError, Worktree, counted,
    worktree::{folder_named, std_path},
};

/// More entries than this are not shown.
const MOST: usize = 1000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    pub(super) path: String,
}

impl List {
    pub(super) fn carry_out(self, worktree: &Worktree) -> Result<Done, ToolError> {
        let path = folder_named(&self.path).map(|given| worktree.resolve(given)).transpose()?;
        let folder = worktree.folder(path.as_ref())?;
        let fault = |source| ToolError::Io { path: self.path.clone(), source };
        let mut names = Vec::new();
        for entry in folder.entries().map_err(fault)? {
            let entry = entry.map_err(fault)?;
            let mut name = String::from_utf8_lossy(entry.file_name().as_bytes()).into_owned();
            if path.is_none() && name == ".git" {
                continue;
            }
            let kind = entry.file_type().map_err(fault)?;
            if kind.is_dir() {
                name.push('/');
            } else if kind.is_symlink()
                && let Ok(target) = folder.read_link_contents(entry.file_name())
            {
                let _ = write!(name, " -> {}", target.display());
            }
            names.push(name);
        }
        names.sort();
        let outcome = counted(names.len(), "entry", "entries");
        let mut content = names[..names.len().min(MOST)].join("\n");
        if names.len() > MOST {
            let _ = write!(content, "\n[... {} more; `find` takes a pattern ...]", names.len() - MOST);
        } else if names.is_empty() {
            content = format!(
                "{} is empty",
                path.as_ref().map_or(".".into(), |path| std_path(path).to_string_lossy())
            );
        }
        Ok(Done::looked(outcome, content))
    }
}
