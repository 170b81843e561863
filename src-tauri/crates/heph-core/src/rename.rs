//! Which deleted file came back under another name.
//!
//! As git does it (diffcore-rename): files of the same content first, then the most alike, where at least half
//! of the larger one is in common. Empty files are nobody's rename.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{
    diff::is_text,
    file::{File, FileChange, Mode},
    path::RepoPath,
    text::lines,
};

/// So many deleted and so many added files are compared line by line at most: git's `diff.renameLimit`. Beyond
/// that only the same content is a rename.
const LIMIT: usize = 1000;

/// The share of common bytes that makes a rename: git's default for `-M`.
const ALIKE: f64 = 0.5;

/// The changes with each deleted file that was renamed joined to what it became, sorted by path.
pub fn pair(changes: Vec<FileChange>) -> Vec<FileChange> {
    let mut deleted: BTreeMap<RepoPath, File> = BTreeMap::new();
    let mut added: BTreeMap<RepoPath, File> = BTreeMap::new();
    let mut rest = Vec::new();
    for change in changes {
        match (change.old, change.new) {
            (Some(old), None) => drop(deleted.insert(change.path, old)),
            (None, Some(new)) => drop(added.insert(change.path, new)),
            (old, new) => rest.push(FileChange { old, new, ..change }),
        }
    }
    let renamed = same(&deleted, &added).into_iter().chain(alike(&deleted, &added));
    let (mut gone, mut come) = (BTreeSet::new(), BTreeSet::new());
    for (from, to) in renamed.collect::<Vec<_>>() {
        if gone.contains(&from) || come.contains(&to) {
            continue;
        }
        let (old, new) = (deleted.get(&from).cloned(), added.get(&to).cloned());
        rest.push(FileChange { path: to.clone(), old_path: Some(from.clone()), old, new });
        gone.insert(from);
        come.insert(to);
    }
    let deleted = deleted.into_iter().filter(|(path, _)| !gone.contains(path));
    rest.extend(deleted.map(|(path, old)| FileChange { path, old_path: None, old: Some(old), new: None }));
    let added = added.into_iter().filter(|(path, _)| !come.contains(path));
    rest.extend(added.map(|(path, new)| FileChange { path, old_path: None, old: None, new: Some(new) }));
    rest.sort_by(|one, other| one.path.cmp(&other.path));
    rest
}

type Files = BTreeMap<RepoPath, File>;

/// Pairs of the same content; of several, those with the same file name first.
fn same(deleted: &Files, added: &Files) -> Vec<(RepoPath, RepoPath)> {
    let mut by_content: HashMap<&[u8], Vec<&RepoPath>> = HashMap::new();
    for (path, file) in deleted.iter().filter(|(_, file)| !file.bytes.0.is_empty()) {
        by_content.entry(&file.bytes.0).or_default().push(path);
    }
    let mut pairs = Vec::new();
    for (to, file) in added {
        let is_link = |file: &File| file.mode == Mode::Symlink;
        for from in by_content.get(&file.bytes.0[..]).into_iter().flatten() {
            if is_link(&deleted[*from]) == is_link(file) {
                pairs.push((name(from) != name(to), (*from).clone(), to.clone()));
            }
        }
    }
    pairs.sort();
    pairs.into_iter().map(|(_, from, to)| (from, to)).collect()
}

fn name(path: &RepoPath) -> &[u8] {
    path.as_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// Pairs of texts that are alike, the most alike first.
fn alike(deleted: &Files, added: &Files) -> Vec<(RepoPath, RepoPath)> {
    let is_candidate = |file: &File| is_text(file) && !file.bytes.0.is_empty();
    let deleted: Vec<_> = deleted.iter().filter(|(_, file)| is_candidate(file)).collect();
    let added: Vec<_> = added.iter().filter(|(_, file)| is_candidate(file)).collect();
    if deleted.len() > LIMIT || added.len() > LIMIT {
        return Vec::new();
    }
    let counted: Vec<_> =
        deleted.iter().map(|(path, file)| (*path, file.bytes.0.len(), counts(file))).collect();
    let mut pairs: Vec<(f64, RepoPath, RepoPath)> = Vec::new();
    for (to, file) in added {
        let own = counts(file);
        for (from, length, theirs) in &counted {
            let larger = (*length).max(file.bytes.0.len());
            // No two files of such different length can have half of the larger in common.
            if ((*length).min(file.bytes.0.len()) as f64) < ALIKE * larger as f64 {
                continue;
            }
            let common: usize = own
                .iter()
                .map(|(line, count)| line.len() * (*count).min(theirs.get(line).copied().unwrap_or(0)))
                .sum();
            let share = common as f64 / larger as f64;
            if share >= ALIKE {
                pairs.push((share, (*from).clone(), to.clone()));
            }
        }
    }
    pairs.sort_by(|one, other| {
        other.0.total_cmp(&one.0).then_with(|| (&one.1, &one.2).cmp(&(&other.1, &other.2)))
    });
    pairs.into_iter().map(|(_, from, to)| (from, to)).collect()
}

fn counts(file: &File) -> HashMap<&[u8], usize> {
    let mut counts = HashMap::new();
    for line in lines(&file.bytes.0) {
        *counts.entry(line).or_insert(0) += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Bytes;

    fn paired(changes: &[(&str, Option<&str>, Option<&str>)]) -> Vec<(String, Option<String>)> {
        let file = |text: &str| File { mode: Mode::Regular, bytes: Bytes(text.into()) };
        let changes = changes.iter().map(|(path, old, new)| FileChange {
            path: RepoPath::new(*path).unwrap(),
            old_path: None,
            old: old.map(file),
            new: new.map(file),
        });
        let shown = |path: RepoPath| path.display();
        pair(changes.collect())
            .into_iter()
            .map(|change| (shown(change.path), change.old_path.map(shown)))
            .collect()
    }

    fn renamed(to: &str, from: &str) -> (String, Option<String>) {
        (to.into(), Some(from.into()))
    }

    fn other(path: &str) -> (String, Option<String>) {
        (path.into(), None)
    }

    const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";

    #[test]
    fn a_file_of_the_same_content_or_half_of_it_was_renamed() {
        let edited = TEXT.replace("two", "zwei");
        let changes = [
            ("a", Some(TEXT), None),
            ("b", None, Some(edited.as_str())),
            ("c", None, Some("nothing\nof\nit\n")),
        ];
        assert_eq!(paired(&changes), [renamed("b", "a"), other("c")]);
        let both = [("a", Some(TEXT), None), ("b", None, Some(edited.as_str())), ("c", None, Some(TEXT))];
        assert_eq!(paired(&both), [other("b"), renamed("c", "a")], "the same content goes first");
    }

    #[test]
    fn empty_files_and_changed_ones_are_no_renames() {
        assert_eq!(paired(&[("a", Some(""), None), ("b", None, Some(""))]), [other("a"), other("b")]);
        let stays = [("a", Some(TEXT), Some("x\n")), ("b", None, Some(TEXT))];
        assert_eq!(paired(&stays), [other("a"), other("b")]);
    }

    #[test]
    fn a_folder_that_moved_keeps_its_file_names() {
        let changes = [
            ("new/x", None, Some(TEXT)),
            ("new/y", None, Some(TEXT)),
            ("old/x", Some(TEXT), None),
            ("old/y", Some(TEXT), None),
        ];
        assert_eq!(paired(&changes), [renamed("new/x", "old/x"), renamed("new/y", "old/y")]);
    }
}
