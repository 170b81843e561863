//! The accepted state, file by file.

use crate::{
    diff::{Edit, Hunk, Item},
    file::File,
    path::RepoPath,
    text::{Bytes, lines},
};

/// What becomes of one file when an accepted state is written. Files not named stay as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOutcome {
    /// The file.
    pub path: RepoPath,
    /// Its new content; `None` deletes it.
    pub file: Option<File>,
}

/// A hunk does not fit the file it is composed onto: it is a hunk of another state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a hunk of {path} does not fit the accepted state")]
pub struct Misfit {
    /// The file.
    pub path: RepoPath,
}

/// The file that `accepted` makes of `old`. The hunks are of one diff that starts at `old`, in order;
/// bytes outside them stay as they are.
///
/// # Errors
/// [`Misfit`] where a hunk's old side is not what `old` holds; nothing is then composed.
pub fn compose(old: Option<&File>, accepted: &[&Hunk]) -> Result<Option<File>, Misfit> {
    let mut file = old.cloned();
    let mut edits: Vec<&Edit> = Vec::new();
    for hunk in accepted {
        let misfit = || Misfit { path: hunk.path.clone() };
        match &hunk.item {
            Item::Lines { edits: more, .. } => edits.extend(more),
            // Where the file lies is no part of what it holds.
            Item::Rename if old.is_some() => {}
            Item::LineEndings { old: before, new } | Item::Replace { old: before, new } => match &mut file {
                Some(file) if file.bytes == before.bytes && file.is_link() == before.is_link() => {
                    file.bytes = new.bytes.clone();
                    // A mode is an item of its own, but for what becomes a link or ceases to be one.
                    if before.is_link() != new.is_link() {
                        file.mode = new.mode;
                    }
                }
                _ => return Err(misfit()),
            },
            Item::Create(new) if old.is_none() => file = Some(new.clone()),
            Item::Delete(gone) if old == Some(gone) => file = None,
            Item::Mode { from, to } => match &mut file {
                Some(file) if file.mode == *from => file.mode = *to,
                _ => return Err(misfit()),
            },
            _ => return Err(misfit()),
        }
        if !edits.is_empty() && file.is_none() {
            return Err(misfit());
        }
    }
    if let (Some(file), Some(hunk)) = (&mut file, accepted.first()) {
        let misfit = || Misfit { path: hunk.path.clone() };
        file.bytes = Bytes(replace_lines(&file.bytes.0, &edits).ok_or_else(misfit)?);
    }
    Ok(file)
}

/// What becomes of the places of one file, by `accepted` hunks of one diff in which it lay at `source`: `old` is
/// what lies there. A file whose rename is not accepted stays where it lay, with its other hunks.
///
/// # Errors
/// [`Misfit`], as for [`compose`].
pub fn outcomes(
    source: &RepoPath,
    old: Option<&File>,
    accepted: &[&Hunk],
) -> Result<Vec<FileOutcome>, Misfit> {
    let file = compose(old, accepted)?;
    let outcome = |path: &RepoPath, file| FileOutcome { path: path.clone(), file };
    Ok(match accepted.iter().find(|hunk| hunk.item == Item::Rename) {
        Some(rename) => vec![outcome(source, None), outcome(&rename.path, file)],
        None => vec![outcome(source, file)],
    })
}

/// `old` with each edit's lines replaced; `None` where an edit's old lines are not there.
pub fn replace_lines(old: &[u8], edits: &[&Edit]) -> Option<Vec<u8>> {
    let old_lines = lines(old);
    let mut out = Vec::with_capacity(old.len());
    let mut next = 0;
    for edit in edits {
        let range = edit.old_range();
        old_lines.get(next..range.start)?.iter().for_each(|line| out.extend_from_slice(line));
        let there = old_lines.get(range.clone())?;
        if !there.iter().zip(&edit.old).all(|(line, old)| *line == old.0) {
            return None;
        }
        edit.new.iter().for_each(|line| out.extend_from_slice(&line.0));
        next = range.end;
    }
    old_lines[next..].iter().for_each(|line| out.extend_from_slice(line));
    Some(out)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::{
        diff,
        file::{FileChange, Mode},
    };

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let line = prop_oneof![Just("a\n"), Just("b\n"), Just("\n"), Just("}\n"), Just("c\r\n"), Just("d")];
        prop::collection::vec(line, 0..40).prop_map(|lines| lines.concat().into_bytes())
    }

    fn regular(bytes: Vec<u8>) -> File {
        File { mode: Mode::Regular, bytes: Bytes(bytes) }
    }

    fn file() -> impl Strategy<Value = File> {
        let mode = prop_oneof![Just(Mode::Regular), Just(Mode::Executable)];
        let binary = (0..3u8).prop_map(|byte| vec![0, byte]);
        let plain = (mode, prop_oneof![6 => text(), 1 => binary]);
        let link = prop_oneof![Just("b"), Just("c")].prop_map(|to| (Mode::Symlink, to.as_bytes().to_vec()));
        prop_oneof![8 => plain, 1 => link].prop_map(|(mode, bytes)| File { mode, bytes: Bytes(bytes) })
    }

    /// Two sides of a file that was changed; every few of them by its line ends alone.
    fn sides() -> impl Strategy<Value = (File, File)> {
        (file(), file(), 0..4u8).prop_map(|(old, new, kind)| match String::from_utf8(old.bytes.0.clone()) {
            Ok(text) if kind == 0 && diff::is_text(&old) => {
                let bytes = text.replace("\r\n", "\n").replace('\n', "\r\n").into_bytes();
                (old, File { bytes: Bytes(bytes), ..new })
            }
            _ => (old, new),
        })
    }

    type Tree = BTreeMap<RepoPath, File>;

    /// The only file of `tree` as it is changed into the only one of `to`.
    fn change(tree: &Tree, to: &Tree) -> FileChange {
        let [(from, old), (path, new)] = [tree, to].map(|tree| tree.first_key_value().unwrap());
        let old_path = (from != path).then(|| from.clone());
        FileChange { path: path.clone(), old_path, old: Some(old.clone()), new: Some(new.clone()) }
    }

    fn composed(tree: &Tree, accepted: &[&Hunk]) -> Tree {
        let (source, old) = tree.first_key_value().unwrap();
        let mut tree = tree.clone();
        for FileOutcome { path, file } in outcomes(source, Some(old), accepted).unwrap() {
            match file {
                Some(file) => drop(tree.insert(path, file)),
                None => drop(tree.remove(&path)),
            }
        }
        tree
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn none_is_the_old_tree_all_is_the_new_and_some_then_the_rest_is_all(
            (old, new) in sides(), is_renamed in any::<bool>(), picks in prop::collection::vec(any::<bool>(), 40)
        ) {
            let [from, to] = ["a", if is_renamed { "b" } else { "a" }].map(|path| RepoPath::new(path).unwrap());
            let (old, new) = (Tree::from([(from, old)]), Tree::from([(to, new)]));
            let hunks = diff::hunks(&change(&old, &new)).hunks;
            let all: Vec<&Hunk> = hunks.iter().collect();
            prop_assert_eq!(composed(&old, &[]), old.clone());
            prop_assert_eq!(composed(&old, &all), new.clone());
            let some: Vec<&Hunk> = hunks.iter().zip(&picks).filter(|(_, pick)| **pick).map(|(hunk, _)| hunk).collect();
            let part = composed(&old, &some);
            prop_assert_eq!(part.len(), 1, "the file lies in one place");
            let renamed = |hunk: &&Hunk| hunk.item == Item::Rename;
            prop_assert_eq!(part.contains_key(new.keys().next().unwrap()), !is_renamed || some.iter().any(renamed));
            let moded = |hunk: &&&Hunk| matches!(hunk.item, Item::Mode { .. });
            if all.iter().any(|hunk| moded(&hunk)) && !some.iter().any(|hunk| moded(&hunk)) {
                prop_assert_eq!(part.values().next().unwrap().mode, old.values().next().unwrap().mode);
            }
            let rest = diff::hunks(&change(&part, &new)).hunks;
            prop_assert_eq!(composed(&part, &rest.iter().collect::<Vec<_>>()), new);
        }
    }

    /// Composes a tree of one file at `a`, which is proposed at `b`.
    fn renamed(picks: [bool; 3]) -> Vec<(String, Option<File>)> {
        let old = regular((1..=20).map(|n| format!("{n}\n")).collect::<String>().into_bytes());
        let text = String::from_utf8(old.bytes.0.clone()).unwrap().replace("\n9\n", "\nnine\n");
        let new = File { mode: Mode::Executable, bytes: Bytes(text.into()) };
        let [from, to] = ["a", "b"].map(|path| RepoPath::new(path).unwrap());
        let change =
            FileChange { path: to, old_path: Some(from.clone()), old: Some(old.clone()), new: Some(new) };
        let hunks = diff::hunks(&change).hunks;
        let what: Vec<String> = hunks.iter().map(Hunk::what).collect();
        assert_eq!(what, ["renamed from a", "lines 6-12", "mode 644 -> 755"]);
        let accepted: Vec<&Hunk> =
            hunks.iter().zip(picks).filter(|(_, pick)| *pick).map(|(hunk, _)| hunk).collect();
        let outcomes = outcomes(&from, Some(&old), &accepted).unwrap();
        outcomes.into_iter().map(|outcome| (outcome.path.display(), outcome.file)).collect()
    }

    #[test]
    fn a_rename_and_the_hunks_under_it_land_or_fall_apart() {
        let edited =
            |file: &Option<File>| file.as_ref().unwrap().bytes.0.windows(4).any(|part| part == b"nine");
        let stays = renamed([false, true, false]);
        assert_eq!((stays.len(), stays[0].0.as_str(), edited(&stays[0].1)), (1, "a", true));
        let moves = renamed([true, false, true]);
        assert_eq!((moves[0].0.as_str(), &moves[0].1), ("a", &None));
        assert_eq!((moves[1].0.as_str(), edited(&moves[1].1)), ("b", false));
        assert_eq!(moves[1].1.as_ref().unwrap().mode, Mode::Executable);
        assert!(edited(&renamed([true, true, true])[1].1));
    }

    #[test]
    fn a_change_of_line_ends_alone_is_one_item() {
        let (old, new) = (regular(b"a\nb\r\n".into()), regular(b"a\r\nb\n".into()));
        let path = RepoPath::new("f").unwrap();
        let change = FileChange { path, old_path: None, old: Some(old.clone()), new: Some(new.clone()) };
        let hunks = diff::hunks(&change).hunks;
        assert_eq!(hunks.iter().map(Hunk::what).collect::<Vec<_>>(), ["line endings"]);
        assert_eq!(compose(Some(&old), &[&hunks[0]]).unwrap(), Some(new));
    }

    #[test]
    fn the_mode_and_the_bytes_of_a_binary_land_or_fall_apart() {
        let old = regular(b"\0a".into());
        let new = File { mode: Mode::Executable, bytes: Bytes(b"\0b".into()) };
        let path = RepoPath::new("f").unwrap();
        let change = FileChange { path, old_path: None, old: Some(old.clone()), new: Some(new.clone()) };
        let hunks = diff::hunks(&change).hunks;
        assert_eq!(hunks.iter().map(Hunk::what).collect::<Vec<_>>(), ["binary", "mode 644 -> 755"]);
        let composed = |accepted: &[&Hunk]| compose(Some(&old), accepted).unwrap().unwrap();
        assert_eq!(composed(&[&hunks[0]]), File { mode: Mode::Regular, ..new.clone() });
        assert_eq!(composed(&[&hunks[1]]), File { mode: Mode::Executable, ..old.clone() });
        assert_eq!(composed(&[&hunks[0], &hunks[1]]), new);
    }

    #[test]
    fn a_hunk_of_another_state_does_not_fit() {
        let path = RepoPath::new("f").unwrap();
        let change = FileChange {
            path,
            old_path: None,
            old: Some(regular(b"a\nb\n".into())),
            new: Some(regular(b"a\nc\n".into())),
        };
        let hunks = diff::hunks(&change).hunks;
        assert!(compose(Some(&regular(b"a\nx\n".into())), &[&hunks[0]]).is_err());
        assert!(compose(None, &[&hunks[0]]).is_err());
    }
}
