//! A file's change as reviewable hunks.
//!
//! Lines are raw bytes with their ends, so a missing final newline is a changed line as in git, and
//! composing hunks back can lose nothing. Hunks have [`CONTEXT`] unchanged lines around them; changes
//! whose contexts touch are one hunk, as in git's unified diffs.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::Hash,
    ops::Range,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::{
    file::{File, FileChange, Mode},
    id::HunkId,
    path::RepoPath,
    text::{Bytes, lines, without_end},
};

/// Unchanged lines shown around a change, as git's default.
pub const CONTEXT: usize = 3;

/// How far into a file a NUL byte makes it binary: git's `FIRST_FEW_BYTES` in xdiff-interface.c.
const BINARY_WINDOW: usize = 8000;

/// One run of changed lines: `old` gives way to `new`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// Index from 0 of the first line replaced, or before which lines are inserted.
    pub old_start: usize,
    /// The lines that go.
    pub old: Vec<Bytes>,
    /// Index from 0 of the first line that comes, on the proposed side.
    pub new_start: usize,
    /// The lines that come.
    pub new: Vec<Bytes>,
}

impl Edit {
    /// The replaced range of old lines.
    pub fn old_range(&self) -> Range<usize> {
        self.old_start..self.old_start + self.old.len()
    }

    /// The change that takes this one back.
    pub fn reversed(&self) -> Edit {
        Edit {
            old_start: self.new_start,
            old: self.new.clone(),
            new_start: self.old_start,
            new: self.old.clone(),
        }
    }

    /// The range of proposed lines that come.
    pub fn new_range(&self) -> Range<usize> {
        self.new_start..self.new_start + self.new.len()
    }
}

/// A range of lines as in a unified diff header: the first line's number from 1, and how many.
/// With no lines, `first` is the number of the line before, as git has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineRange {
    /// Number of the first line.
    pub first: usize,
    /// How many lines.
    pub count: usize,
}

impl LineRange {
    pub(crate) fn of(range: Range<usize>) -> LineRange {
        let count = range.len();
        LineRange { first: if count == 0 { range.start } else { range.start + 1 }, count }
    }

    /// Number of the last line; `first` where there is none.
    pub fn last(self) -> usize {
        self.first + self.count.saturating_sub(1)
    }
}

/// What one reviewable change consists of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Item {
    /// Lines of a file that is text on both sides.
    Lines {
        /// In order, not touching.
        edits: Vec<Edit>,
        /// Lines before, with context.
        old: LineRange,
        /// Lines proposed, with context.
        new: LineRange,
        /// The unchanged lines of `old`, in order.
        #[serde(default)]
        unchanged: Vec<Bytes>,
    },
    /// A new file.
    Create(File),
    /// A deleted file.
    Delete(File),
    /// Another mode, the bytes apart.
    Mode {
        /// Before.
        from: Mode,
        /// Proposed.
        to: Mode,
    },
    /// The file has another name, its content apart.
    Rename,
    /// Every line that differs does so in its end alone, CRLF or LF.
    LineEndings {
        /// Before.
        old: File,
        /// Proposed.
        new: File,
    },
    /// A file replaced whole: binary, or a symlink on one side.
    Replace {
        /// Before.
        old: File,
        /// Proposed.
        new: File,
    },
}

/// One reviewable change of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// Its name, made of its content.
    pub id: HunkId,
    /// The file.
    pub path: RepoPath,
    /// The name it had, where it was renamed.
    #[serde(default)]
    pub old_path: Option<RepoPath>,
    /// The change.
    pub item: Item,
    /// The function or section it lies in, where one can be told.
    pub heading: String,
    /// The model's own reason.
    pub rationale: Option<String>,
    /// The reasons of the model's edits that it comes from, by their place in the round: those of each
    /// run of changed lines, so that a part of the hunk keeps its own, or those of an item without lines.
    #[serde(default)]
    pub reasons: Vec<BTreeMap<usize, String>>,
}

/// A changed file and its hunks, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHunks {
    /// The file.
    pub path: RepoPath,
    /// In the order of the review.
    pub hunks: Vec<Hunk>,
}

/// A changed line and its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangedLine<'a> {
    /// A line that goes.
    Removed(&'a [u8]),
    /// A line that comes.
    Added(&'a [u8]),
}

impl std::fmt::Display for ChangedLine<'_> {
    /// The sign and the line, without its end.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (sign, line) = match self {
            ChangedLine::Removed(line) => ('-', line),
            ChangedLine::Added(line) => ('+', line),
        };
        write!(f, "{sign}{}", String::from_utf8_lossy(without_end(line)))
    }
}

impl Hunk {
    /// The digest of its path, its change and the neighbouring lines: what its id has of its content,
    /// equal for equal changes in equal surroundings.
    pub fn content(&self) -> &str {
        self.id.0.split_once('-').map_or(&self.id.0, |(content, _)| content)
    }

    /// The file that it changes, by the name before.
    pub fn source(&self) -> &RepoPath {
        self.old_path.as_ref().unwrap_or(&self.path)
    }

    /// Its runs of changed lines; none for an item without lines.
    pub fn edits(&self) -> &[Edit] {
        match &self.item {
            Item::Lines { edits, .. } => edits,
            _ => &[],
        }
    }

    /// The index from 0 of the first old line that it spans, and all that it spans; `None` for an item without
    /// lines, and for a hunk of a log that did not hold unchanged lines yet.
    pub(crate) fn old_lines(&self) -> Option<(usize, Vec<&[u8]>)> {
        let Item::Lines { edits, old, unchanged, .. } = &self.item else { return None };
        let first = if old.count == 0 { old.first } else { old.first - 1 };
        let mut lines: Vec<&[u8]> = Vec::with_capacity(old.count);
        let mut unchanged = unchanged.iter().map(|line| line.0.as_slice());
        for edit in edits {
            let above = edit.old_start.checked_sub(first + lines.len())?;
            lines.extend(unchanged.by_ref().take(above));
            lines.extend(edit.old.iter().map(|line| line.0.as_slice()));
        }
        lines.extend(unchanged);
        (lines.len() == old.count).then_some((first, lines))
    }

    /// Whether it makes the change that `other` makes, wherever its lines are.
    pub fn is_same_change(&self, other: &Hunk) -> bool {
        let (own, theirs) = (self.changed_lines(), other.changed_lines());
        match own.is_empty() && theirs.is_empty() {
            true => self.item == other.item && (&self.path, self.source()) == (&other.path, other.source()),
            false => own == theirs,
        }
    }

    /// `lines a-b` on the proposed side, or what an item without lines is.
    pub fn what(&self) -> String {
        match &self.item {
            Item::Lines { new, .. } => format!("lines {}-{}", new.first, new.last()),
            Item::Create(file) => match created_lines(file) {
                Some(count) if count > 0 => format!("lines 1-{count}"),
                Some(_) => "empty file".into(),
                None if file.is_link() => "symlink".into(),
                None => "binary".into(),
            },
            Item::Delete(_) => "file deleted".into(),
            Item::Rename => format!("renamed from {}", self.source().shown()),
            Item::LineEndings { .. } => "line endings".into(),
            Item::Mode { from, to } => format!("mode {:o} -> {:o}", from.bits() & 0o777, to.bits() & 0o777),
            Item::Replace { old, new } if old.is_link() || new.is_link() => "symlink".into(),
            Item::Replace { .. } => "binary".into(),
        }
    }

    /// Its changed lines, top to bottom, each with its end. Empty for an item without lines.
    pub fn changed_lines(&self) -> Vec<ChangedLine<'_>> {
        match &self.item {
            Item::Lines { edits, .. } => edits
                .iter()
                .flat_map(|edit| {
                    let removed = edit.old.iter().map(|line| ChangedLine::Removed(&line.0));
                    removed.chain(edit.new.iter().map(|line| ChangedLine::Added(&line.0)))
                })
                .collect(),
            Item::Create(file) if created_lines(file).is_some() => {
                lines(&file.bytes.0).into_iter().map(ChangedLine::Added).collect()
            }
            Item::Delete(file) if is_text(file) => {
                lines(&file.bytes.0).into_iter().map(ChangedLine::Removed).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn created_lines(file: &File) -> Option<usize> {
    is_text(file).then(|| lines(&file.bytes.0).len())
}

/// Whether a file is shown and changed by lines.
pub fn is_text(file: &File) -> bool {
    let bytes = &file.bytes.0;
    !file.is_link() && !bytes[..bytes.len().min(BINARY_WINDOW)].contains(&0)
}

/// The changed runs between two texts, in order; between two runs lies at least one equal line.
pub fn edits(old: &[u8], new: &[u8]) -> Vec<Edit> {
    let (old_lines, new_lines) = (lines(old), lines(new));
    let owned = |lines: &[&[u8]]| lines.iter().map(|line| Bytes(line.to_vec())).collect::<Vec<_>>();
    let edits = changed_runs(&old_lines, &new_lines).into_iter().map(|(old, new)| Edit {
        old_start: old.start,
        old: owned(&old_lines[old]),
        new_start: new.start,
        new: owned(&new_lines[new]),
    });
    edits.collect()
}

/// As [`edits`], as ranges of whatever lines are compared by.
pub(crate) fn changed_runs<Line: Hash + Ord>(
    old: &[Line],
    new: &[Line],
) -> Vec<(Range<usize>, Range<usize>)> {
    let mut runs: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, old, new) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (old, new) = (op.old_range(), op.new_range());
        match runs.last_mut() {
            Some((last_old, last_new)) if last_old.end == old.start && last_new.end == new.start => {
                last_old.end = old.end;
                last_new.end = new.end;
            }
            _ => runs.push((old, new)),
        }
    }
    runs
}

/// Joins edits whose contexts touch or overlap.
pub fn group(edits: Vec<Edit>) -> Vec<Vec<Edit>> {
    let mut groups: Vec<Vec<Edit>> = Vec::new();
    for edit in edits {
        match groups.last_mut() {
            Some(group)
                if group.last().is_some_and(|last| edit.old_start - last.old_range().end <= 2 * CONTEXT) =>
            {
                group.push(edit)
            }
            _ => groups.push(vec![edit]),
        }
    }
    groups
}

/// The hunks of one file's change, in the order of the review. Rationales are not filled in.
pub fn hunks(change: &FileChange) -> FileHunks {
    let mut found: Vec<(Item, String)> = Vec::new();
    match (&change.old, &change.new) {
        (None, None) => {}
        (None, Some(new)) => found.push((Item::Create(new.clone()), String::new())),
        (Some(old), None) => found.push((Item::Delete(old.clone()), String::new())),
        (Some(old), Some(new)) => {
            if change.old_path.is_some() {
                found.push((Item::Rename, String::new()));
            }
            let same_kind = old.is_link() == new.is_link();
            if differ_in_ends(old, new) {
                found.push((Item::LineEndings { old: old.clone(), new: new.clone() }, String::new()));
            } else if is_text(old) && is_text(new) {
                line_items(&old.bytes.0, &new.bytes.0, &mut found);
            } else if old.bytes != new.bytes || !same_kind {
                found.push((Item::Replace { old: old.clone(), new: new.clone() }, String::new()));
            }
            if same_kind && old.mode != new.mode {
                found.push((Item::Mode { from: old.mode, to: new.mode }, String::new()));
            }
        }
    }
    let old_text = change.old.as_ref().map(|file| file.bytes.0.as_slice()).unwrap_or_default();
    let old_lines = lines(old_text);
    let mut seen: BTreeMap<HunkId, u32> = BTreeMap::new();
    let hunks = found
        .into_iter()
        .map(|(item, heading)| {
            let place = change.old_path.as_ref().unwrap_or(&change.path);
            let content = digest(&change.path, place, &item, &old_lines);
            let nth = seen.entry(content.clone()).and_modify(|n| *n += 1).or_insert(0);
            let id = if *nth == 0 { content } else { HunkId(format!("{content}-{nth}")) };
            Hunk {
                id,
                path: change.path.clone(),
                old_path: change.old_path.clone(),
                item,
                heading,
                rationale: None,
                reasons: Vec::new(),
            }
        })
        .collect();
    FileHunks { path: change.path.clone(), hunks }
}

/// Whether two texts differ, but only in how their lines end: by CRLF or LF.
fn differ_in_ends(old: &File, new: &File) -> bool {
    if !is_text(old) || !is_text(new) || old.bytes == new.bytes {
        return false;
    }
    // A CR at the very end of a file is no part of a line end, and a line without an end has none to change.
    let ends = |line: &[u8]| line.ends_with(b"\n");
    let same = |(one, other): (&&[u8], &&[u8])| {
        one == other || ends(one) && ends(other) && without_end(one) == without_end(other)
    };
    let (old, new) = (lines(&old.bytes.0), lines(&new.bytes.0));
    old.len() == new.len() && old.iter().zip(&new).all(same)
}

fn line_items(old: &[u8], new: &[u8], found: &mut Vec<(Item, String)>) {
    let (old_lines, new_count) = (lines(old), lines(new).len());
    for edits in group(edits(old, new)) {
        let (Some(first), Some(last)) = (edits.first(), edits.last()) else { continue };
        let above = first.old_start.min(CONTEXT);
        let below = CONTEXT.min(old_lines.len() - last.old_range().end);
        let range = first.old_start - above..last.old_range().end + below;
        let is_changed = |line: &usize| edits.iter().any(|edit| edit.old_range().contains(line));
        let unchanged = range.clone().filter(|line| !is_changed(line));
        let unchanged = unchanged.map(|line| Bytes(old_lines[line].to_vec())).collect();
        let old = LineRange::of(range);
        let new_end = (last.new_range().end + below).min(new_count);
        let new = LineRange::of(first.new_start - above..new_end);
        let heading = heading(&old_lines[..first.old_start - above]);
        found.push((Item::Lines { edits, old, new, unchanged }, heading));
    }
}

/// The nearest line above that starts with a letter, `_` or `$`: git's default for hunk headings.
fn heading(above: &[&[u8]]) -> String {
    let starts_section =
        |line: &&&[u8]| line.first().is_some_and(|&b| b.is_ascii_alphabetic() || b == b'_' || b == b'$');
    above
        .iter()
        .rev()
        .find(starts_section)
        .map(|line| String::from_utf8_lossy(without_end(line)).trim_end().chars().take(80).collect())
        .unwrap_or_default()
}

/// A name made of path, change and neighbouring lines, but of no line number: it stays when other
/// hunks of the file move it. 64 bits of SHA-256, as hex.
pub(crate) fn digest(path: &RepoPath, source: &RepoPath, item: &Item, old_lines: &[&[u8]]) -> HunkId {
    let mut hash = Sha256::new();
    let mut part = |tag: &str, bytes: &[u8]| {
        hash.update(tag);
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part("path", path.as_bytes());
    match item {
        Item::Lines { edits, .. } => {
            for edit in edits {
                let above = edit.old_start.saturating_sub(CONTEXT)..edit.old_start;
                let end = edit.old_range().end;
                let below = end..(end + CONTEXT).min(old_lines.len());
                old_lines[above].iter().for_each(|line| part(" ", line));
                edit.old.iter().for_each(|line| part("-", &line.0));
                edit.new.iter().for_each(|line| part("+", &line.0));
                old_lines[below].iter().for_each(|line| part(" ", line));
            }
        }
        Item::Create(file) => part("create", &[&file.mode.bits().to_le_bytes(), &*file.bytes.0].concat()),
        Item::Delete(file) => part("delete", &[&file.mode.bits().to_le_bytes(), &*file.bytes.0].concat()),
        Item::Mode { from, to } => {
            part("mode", &[from.bits().to_le_bytes(), to.bits().to_le_bytes()].concat())
        }
        Item::Rename => part("rename", source.as_bytes()),
        Item::Replace { old, new } | Item::LineEndings { old, new } => {
            part("from", &[&old.mode.bits().to_le_bytes(), &*old.bytes.0].concat());
            part("to", &[&new.mode.bits().to_le_bytes(), &*new.bytes.0].concat());
        }
    }
    HunkId(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// The files without the hunks in `gone`, later hunks of a file moved to where they then lie.
pub fn without(files: &[FileHunks], gone: &BTreeSet<HunkId>) -> Vec<FileHunks> {
    let mut kept = Vec::new();
    for file in files {
        let mut shift = 0isize;
        let mut hunks = Vec::new();
        for hunk in &file.hunks {
            if gone.contains(&hunk.id) {
                if let Item::Lines { edits, .. } = &hunk.item {
                    shift += edits
                        .iter()
                        .map(|edit| edit.old.len() as isize - edit.new.len() as isize)
                        .sum::<isize>();
                }
                continue;
            }
            let mut hunk = hunk.clone();
            if let Item::Lines { edits, new, .. } = &mut hunk.item {
                new.first = new.first.saturating_add_signed(shift);
                for edit in edits {
                    edit.new_start = edit.new_start.saturating_add_signed(shift);
                }
            }
            hunks.push(hunk);
        }
        if !hunks.is_empty() {
            kept.push(FileHunks { path: file.path.clone(), hunks });
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(old: &str, new: &str) -> FileChange {
        let file = |text: &str| File { mode: Mode::Regular, bytes: Bytes(text.into()) };
        FileChange {
            path: RepoPath::new("a.rs").unwrap(),
            old_path: None,
            old: Some(file(old)),
            new: Some(file(new)),
        }
    }

    fn numbered(range: std::ops::RangeInclusive<u32>) -> String {
        range.map(|n| format!("line {n}\n")).collect()
    }

    #[test]
    fn changes_with_touching_contexts_are_one_hunk() {
        let old = numbered(1..=30);
        let near = old.replace("line 10\n", "ten\n").replace("line 17\n", "seventeen\n");
        assert_eq!(hunks(&change(&old, &near)).hunks.len(), 1);
        let far = old.replace("line 10\n", "ten\n").replace("line 18\n", "eighteen\n");
        let whats: Vec<_> = hunks(&change(&old, &far)).hunks.iter().map(Hunk::what).collect();
        assert_eq!(whats, ["lines 7-13", "lines 15-21"]);
    }

    #[test]
    fn a_hunk_keeps_its_name_when_another_moves_it() {
        let old = numbered(1..=40);
        let one = old.replace("line 30\n", "thirty\n");
        let both = one.replace("line 3\n", "three\nand a half\n");
        let (one, both) = (hunks(&change(&old, &one)).hunks, hunks(&change(&old, &both)).hunks);
        assert_eq!(one[0].id, both[1].id);
        assert_ne!(both[0].id, both[1].id);
        let gone = BTreeSet::from([both[0].id.clone()]);
        let file = FileHunks { path: one[0].path.clone(), hunks: both };
        assert_eq!(without(&[file], &gone)[0].hunks, one, "and lies where it would lie alone");
    }

    #[test]
    fn equal_changes_in_equal_surroundings_have_different_names() {
        let old = "a\n".repeat(40);
        let new = format!("{}b\n{}b\n{}", "a\n".repeat(10), "a\n".repeat(20), "a\n".repeat(10));
        let found = hunks(&change(&old, &new)).hunks;
        assert_eq!(found.len(), 2);
        assert_ne!(found[0].id, found[1].id);
    }

    #[test]
    fn only_crlf_and_lf_are_line_ends() {
        let whats = |old, new| hunks(&change(old, new)).hunks.iter().map(Hunk::what).collect::<Vec<_>>();
        assert_eq!(whats("a\nb", "a\r\nb"), ["line endings"]);
        assert_eq!(whats("a\nb\n", "a\nb"), ["lines 1-2"]);
        assert_eq!(whats("a\nb", "a\nb\r"), ["lines 1-2"]);
    }

    #[test]
    fn a_missing_final_newline_is_a_changed_line() {
        let found = edits(b"a\nb", b"a\nb\n");
        assert_eq!(
            found,
            [Edit {
                old_start: 1,
                old: vec![Bytes(b"b".into())],
                new_start: 1,
                new: vec![Bytes(b"b\n".into())]
            }]
        );
    }
}
