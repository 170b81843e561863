//! The worktree's files as `find` and `search` see them.

use std::path::Path;

use ignore::{Walk, WalkBuilder};

use super::Worktree;

/// All files below `start` (a file or a folder in the worktree, free of symbolic links), in the
/// order of their paths, without what the worktree's own ignore rules leave out and without git's
/// folder. Links are neither followed nor given.
pub(super) fn files(worktree: &Worktree, start: &Path) -> impl Iterator<Item = std::path::PathBuf> {
    let root = worktree.root().to_path_buf();
    walk(&root.join(start)).filter_map(move |entry| {
        // A folder that cannot be read is passed over, as a search of many files does.
        let entry = entry.ok()?;
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        is_file.then(|| entry.path().strip_prefix(&root).ok().map(Path::to_path_buf)).flatten()
    })
}

fn walk(start: &Path) -> Walk {
    WalkBuilder::new(start)
        // Names with a dot in front are files like others: CI settings, for one.
        .hidden(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        // The same answer on every machine: not the user's global rules, not those above.
        .git_global(false)
        .git_exclude(false)
        .require_git(false)
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .build()
}
