//! Which deleted file came back under another name.
//!
//! As git does it (diffcore-rename): files of the same content first, then the most alike, where at least half
//! of the larger one is in common. Empty files are nobody's rename.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, HashMap, VecDeque},
};

use crate::{
    diff::is_text,
    file::{File, FileChange},
    path::RepoPath,
    refusal::link_leaves,
    text::{lines, without_end},
};

/// So many deleted files are compared line by line with so many added ones at most: git's `diff.renameLimit`,
/// which bounds the product. Beyond that only the same content is a rename.
const LIMIT: usize = 1000;

/// The share of common bytes that makes a rename: git's default for `-M`.
const ALIKE: f64 = 0.5;

type Files = BTreeMap<RepoPath, File>;

/// A deleted path and the added one that it became.
type Pair = (RepoPath, RepoPath);

/// The changes with each deleted file that was renamed joined to what it became, sorted by path.
pub fn pair(changes: Vec<FileChange>) -> Vec<FileChange> {
    let (mut deleted, mut added) = (Files::new(), Files::new());
    let mut rest = Vec::new();
    for change in changes {
        match (change.old, change.new) {
            (Some(old), None) => drop(deleted.insert(change.path, old)),
            (None, Some(new)) => drop(added.insert(change.path, new)),
            (old, new) => rest.push(FileChange { old, new, ..change }),
        }
    }
    // What is the same is no longer there to be like something.
    for find in [same, alike] {
        for (from, to) in find(&deleted, &added) {
            if !deleted.contains_key(&from) || !added.contains_key(&to) {
                continue;
            }
            let (old, new) = (deleted.remove(&from), added.remove(&to));
            rest.push(FileChange { path: to, old_path: Some(from), old, new });
        }
    }
    let gone = |(path, old)| FileChange { path, old_path: None, old: Some(old), new: None };
    let come = |(path, new)| FileChange { path, old_path: None, old: None, new: Some(new) };
    rest.extend(deleted.into_iter().map(gone).chain(added.into_iter().map(come)));
    rest.sort_by(|one, other| one.path.cmp(&other.path));
    rest
}

/// Pairs of the same content; of several, those with the same file name first, then in the order of paths.
fn same(deleted: &Files, added: &Files) -> Vec<Pair> {
    let mut by_content: HashMap<(bool, &[u8]), [Vec<&RepoPath>; 2]> = HashMap::new();
    for (path, file) in deleted.iter().filter(|(_, file)| !file.bytes.0.is_empty()) {
        by_content.entry((file.is_link(), &file.bytes.0)).or_default()[0].push(path);
    }
    // A link that its new place makes point out of the repository is to be refused, as any new one is.
    for (path, file) in added.iter().filter(|(path, file)| !link_leaves(path, file)) {
        if let Some([_, to]) = by_content.get_mut(&(file.is_link(), &file.bytes.0[..])) {
            to.push(path);
        }
    }
    let mut pairs = Vec::new();
    for [from, to] in by_content.into_values() {
        let mut by_name: BTreeMap<&[u8], VecDeque<&RepoPath>> = BTreeMap::new();
        for path in from {
            by_name.entry(name(path)).or_default().push_back(path);
        }
        let mut left = Vec::new();
        for to in to {
            match by_name.get_mut(name(to)).and_then(VecDeque::pop_front) {
                Some(from) => pairs.push((from.clone(), to.clone())),
                None => left.push(to),
            }
        }
        let mut from: Vec<&RepoPath> = by_name.into_values().flatten().collect();
        from.sort();
        pairs.extend(from.into_iter().zip(left).map(|(from, to)| (from.clone(), to.clone())));
    }
    pairs
}

fn name(path: &RepoPath) -> &[u8] {
    path.as_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// Pairs of texts that are alike, the most alike first, then those with the same file name, then in the order of
/// paths.
fn alike(deleted: &Files, added: &Files) -> Vec<Pair> {
    let mut numbers = HashMap::new();
    let deleted = Weighed::all(deleted, &mut numbers);
    let added = Weighed::all(added, &mut numbers);
    if deleted.len() * added.len() > LIMIT * LIMIT {
        return Vec::new();
    }
    let mut pairs: Vec<(f64, &RepoPath, &RepoPath)> = Vec::new();
    for to in &added {
        for from in &deleted {
            let (smaller, larger) = (from.bytes.min(to.bytes) as f64, from.bytes.max(to.bytes) as f64);
            // No two files of such different length can have half of the larger one in common.
            if smaller >= ALIKE * larger {
                let share = from.common(to) as f64 / larger;
                if share >= ALIKE {
                    pairs.push((share, from.path, to.path));
                }
            }
        }
    }
    pairs.sort_by(|(share, from, to), (other_share, other_from, other_to)| {
        let is_other_name = name(from) != name(to);
        other_share
            .total_cmp(share)
            .then(is_other_name.cmp(&(name(other_from) != name(other_to))))
            .then_with(|| (from, to).cmp(&(other_from, other_to)))
    });
    pairs.into_iter().map(|(_, from, to)| (from.clone(), to.clone())).collect()
}

/// A text as the bytes that each of its lines makes up in all, by the lines' numbers. As in git, how a line ends
/// makes no difference.
struct Weighed<'a> {
    path: &'a RepoPath,
    /// Sorted by the number.
    lines: Vec<(usize, usize)>,
    bytes: usize,
}

impl<'a> Weighed<'a> {
    /// The texts among `files` that are not empty. `numbers` are those of the lines met so far.
    fn all(files: &'a Files, numbers: &mut HashMap<&'a [u8], usize>) -> Vec<Weighed<'a>> {
        let is_candidate = |(_, file): &(&RepoPath, &File)| is_text(file) && !file.bytes.0.is_empty();
        let weighed = files.iter().filter(is_candidate).map(|(path, file)| {
            let mut weights: BTreeMap<usize, usize> = BTreeMap::new();
            for line in lines(&file.bytes.0) {
                let line = without_end(line);
                let next = numbers.len();
                // The end counts as one byte.
                *weights.entry(*numbers.entry(line).or_insert(next)).or_default() += line.len() + 1;
            }
            let bytes = weights.values().sum();
            Weighed { path, lines: weights.into_iter().collect(), bytes }
        });
        weighed.collect()
    }

    /// The bytes of lines that both have.
    fn common(&self, other: &Weighed<'_>) -> usize {
        let (mut own, mut theirs) = (&self.lines[..], &other.lines[..]);
        let mut bytes = 0;
        while let ([(line, weight), more @ ..], [(other_line, other_weight), more_theirs @ ..]) =
            (own, theirs)
        {
            match line.cmp(other_line) {
                Ordering::Less => own = more,
                Ordering::Greater => theirs = more_theirs,
                Ordering::Equal => {
                    bytes += weight.min(other_weight);
                    (own, theirs) = (more, more_theirs);
                }
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{file::Mode, text::Bytes};

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

    #[test]
    fn of_files_that_are_as_much_alike_the_one_of_the_same_name_is_taken() {
        let edited = TEXT.replace("two", "zwei");
        let changes = [
            ("a/x", Some(TEXT), None),
            ("a/y", Some(TEXT), None),
            ("b/y", None, Some(edited.as_str())),
            ("c/x", None, Some(edited.as_str())),
        ];
        assert_eq!(paired(&changes), [renamed("b/y", "a/y"), renamed("c/x", "a/x")]);
    }

    #[test]
    fn a_file_that_moved_is_known_by_its_lines_whatever_their_ends() {
        let windows = TEXT.replace('\n', "\r\n");
        assert_eq!(paired(&[("a", Some(TEXT), None), ("b", None, Some(&windows))]), [renamed("b", "a")]);
    }

    #[test]
    fn many_files_that_moved_unchanged_do_not_hide_one_that_was_also_edited() {
        let texts: Vec<(String, String, String)> = (0..LIMIT + 200)
            .map(|n| (format!("old/{n:04}"), format!("new/{n:04}"), format!("{n}\n").repeat(9)))
            .collect();
        let edited = TEXT.replace("two", "zwei");
        let mut changes = vec![("old/edited", Some(TEXT), None), ("new/edited", None, Some(edited.as_str()))];
        for (old, new, text) in &texts {
            changes.push((old, Some(text), None));
            changes.push((new, None, Some(text)));
        }
        let found = paired(&changes);
        assert_eq!(found.len(), texts.len() + 1);
        assert!(found.contains(&renamed("new/edited", "old/edited")));
        assert!(found.iter().all(|(to, from)| from.as_deref() == Some(&to.replace("new", "old"))));
    }

    #[test]
    fn too_many_files_to_be_compared_are_renamed_only_where_they_are_the_same() {
        let texts: Vec<(String, String, String, String)> = (0..=LIMIT)
            .map(|n| {
                let text = format!("{n}\n").repeat(3);
                (format!("old/{n}"), format!("new/{n}"), text.clone(), text + "more\n")
            })
            .collect();
        let mut changes = vec![("old/same", Some(TEXT), None), ("new/same", None, Some(TEXT))];
        for (old, new, before, after) in &texts {
            changes.push((old, Some(before), None));
            changes.push((new, None, Some(after)));
        }
        let renames: Vec<_> = paired(&changes).into_iter().filter(|(_, from)| from.is_some()).collect();
        assert_eq!(renames, [renamed("new/same", "old/same")]);
    }

    #[test]
    fn a_link_that_would_point_out_of_the_repository_from_its_new_place_is_no_rename() {
        let link = || Some(File { mode: Mode::Symlink, bytes: Bytes(b"../x".into()) });
        let renames = |to: &str| {
            let deleted =
                FileChange { path: RepoPath::new("d/link").unwrap(), old_path: None, old: link(), new: None };
            let added =
                FileChange { path: RepoPath::new(to).unwrap(), old: None, new: link(), ..deleted.clone() };
            pair(vec![deleted, added]).iter().filter(|change| change.old_path.is_some()).count()
        };
        assert_eq!((renames("e/link"), renames("link")), (1, 0));
    }
}
