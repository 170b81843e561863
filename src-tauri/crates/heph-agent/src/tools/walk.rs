//! The worktree's files as `find` and `search` see them.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::Worktree;

/// All files below the folder `start` (a path in the worktree, free of symbolic links), in the order
/// of their paths, without what the worktree's own ignore rules leave out and without git's folder.
/// Links are neither followed nor given. A `start` that is a file is the only one.
pub(super) fn files(worktree: &Worktree, start: &Path) -> impl Iterator<Item = PathBuf> {
    let root = worktree.root().to_path_buf();
    let below = move |path: &Path| path.strip_prefix(&root).ok().map(Path::to_path_buf);
    let (start, inside) = (start.to_path_buf(), below.clone());
    // From the worktree's root in any case, so that its rules hold and none from above it: a home
    // folder kept in git often ignores everything.
    let walk = WalkBuilder::new(worktree.root())
        .parents(false)
        .git_global(false)
        .git_exclude(false)
        .require_git(false)
        // Names with a dot in front are files like others: CI settings, for one.
        .hidden(false)
        .filter_entry(move |entry| {
            let on_the_way = |path: PathBuf| path.starts_with(&start) || start.starts_with(&path);
            entry.file_name() != ".git" && inside(entry.path()).is_some_and(on_the_way)
        })
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .build();
    walk.filter_map(move |entry| {
        // A folder that cannot be read is passed over, as a search of many files does.
        let entry = entry.ok()?;
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        is_file.then(|| below(entry.path())).flatten()
    })
}
