//! The accepted state, file by file.

use crate::{
    diff::{Edit, Hunk, Item},
    file::{File, Mode},
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
            Item::LineEndings { old: before, new } => match &mut file {
                Some(file) if file.bytes == before.bytes => file.bytes = new.bytes.clone(),
                _ => return Err(misfit()),
            },
            Item::Create(new) if old.is_none() => file = Some(new.clone()),
            Item::Delete(gone) if old == Some(gone) => file = None,
            Item::Replace { old: before, new } if old == Some(before) => {
                // A mode that changes with the bytes is an item of its own, unless the file becomes a link or
                // stops being one.
                let is_link = |file: &File| file.mode == Mode::Symlink;
                let mode = if is_link(before) == is_link(new) { file.map(|file| file.mode) } else { None };
                file = Some(File { mode: mode.unwrap_or(new.mode), bytes: new.bytes.clone() });
            }
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
    use proptest::prelude::*;

    use super::*;
    use crate::{diff, file::FileChange};

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let line = prop_oneof![Just("a\n"), Just("b\n"), Just("\n"), Just("}\n"), Just("c\r\n"), Just("d")];
        prop::collection::vec(line, 0..40).prop_map(|lines| lines.concat().into_bytes())
    }

    fn regular(bytes: Vec<u8>) -> File {
        File { mode: Mode::Regular, bytes: Bytes(bytes) }
    }

    proptest! {
        #[test]
        fn none_is_the_old_text_all_is_the_new_and_some_then_the_rest_is_all(
            old in text(), new in text(), picks in prop::collection::vec(any::<bool>(), 40)
        ) {
            let path = RepoPath::new("f").unwrap();
            let old = regular(old);
            let new = regular(new);
            let change = FileChange { path: path.clone(), old_path: None, old: Some(old.clone()), new: Some(new.clone()) };
            let hunks = diff::hunks(&change).hunks;
            let all: Vec<&Hunk> = hunks.iter().collect();
            prop_assert_eq!(compose(Some(&old), &[]).unwrap().unwrap(), old.clone());
            prop_assert_eq!(compose(Some(&old), &all).unwrap().unwrap(), new.clone());
            let some: Vec<&Hunk> = hunks.iter().zip(&picks).filter(|(_, pick)| **pick).map(|(hunk, _)| hunk).collect();
            let part = compose(Some(&old), &some).unwrap().unwrap();
            let rest = diff::hunks(&FileChange { path, old_path: None, old: Some(part.clone()), new: Some(new.clone()) }).hunks;
            let rest: Vec<&Hunk> = rest.iter().collect();
            prop_assert_eq!(compose(Some(&part), &rest).unwrap().unwrap(), new);
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
        assert_eq!(what, ["renamed from a", "mode 644 -> 755", "lines 6-12"]);
        let accepted: Vec<&Hunk> =
            hunks.iter().zip(picks).filter(|(_, pick)| *pick).map(|(hunk, _)| hunk).collect();
        let outcomes = outcomes(&from, Some(&old), &accepted).unwrap();
        outcomes.into_iter().map(|outcome| (outcome.path.display(), outcome.file)).collect()
    }

    #[test]
    fn a_rename_and_the_hunks_under_it_land_or_fall_apart() {
        let edited =
            |file: &Option<File>| file.as_ref().unwrap().bytes.0.windows(4).any(|part| part == b"nine");
        let stays = renamed([false, false, true]);
        assert_eq!((stays.len(), stays[0].0.as_str(), edited(&stays[0].1)), (1, "a", true));
        let moves = renamed([true, true, false]);
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
        assert_eq!(hunks.iter().map(Hunk::what).collect::<Vec<_>>(), ["mode 644 -> 755", "binary"]);
        let composed = |accepted: &[&Hunk]| compose(Some(&old), accepted).unwrap().unwrap();
        assert_eq!(composed(&[&hunks[1]]), File { mode: Mode::Regular, ..new.clone() });
        assert_eq!(composed(&[&hunks[0]]), File { mode: Mode::Executable, ..old.clone() });
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
