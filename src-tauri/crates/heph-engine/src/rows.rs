//! Rows of a hunk as a window shows them: numbers, text, colours and changed words.

use std::{cell::LazyCell, ops::RangeInclusive};

use heph_core::{
    compose::replace_lines,
    diff::{Edit, FileHunks, Hunk, Item, is_text},
    text::{Bytes, lines, without_end},
};
use heph_wire::{Row, RowKind};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::colours::{self, Colours, MAX_LINE, Span};

/// A block of more changed lines is shown without changed words: they would mark all of it.
const MARKED_LINES: usize = 60;

/// Below this share of equal words two blocks are another text, and no words are marked.
const ALIKE: f32 = 0.35;

/// Both sides of a file under review, and their colours.
pub struct Sides {
    old: Side,
    new: Side,
}

/// A text that is split once, and its colours.
struct Side {
    text: Vec<u8>,
    /// Where each line ends, in bytes, its line end included.
    ends: Vec<usize>,
    colours: colours::Lines,
}

impl Side {
    fn new(text: Vec<u8>, colours: colours::Lines) -> Side {
        let mut end = 0;
        let ends = lines(&text)
            .into_iter()
            .map(|line| {
                end += line.len();
                end
            })
            .collect();
        Side { text, ends, colours }
    }

    fn line(&self, index: usize) -> &[u8] {
        let Some(end) = self.ends.get(index) else { return &[] };
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..*end]
    }

    fn spans(&self, index: usize) -> &[Span] {
        spans(&self.colours, index)
    }
}

/// Collects the rows that were asked for; the others are counted and not made.
struct Page {
    asked: RangeInclusive<usize>,
    next: usize,
    rows: Vec<Row>,
}

impl Page {
    fn add(&mut self, row: impl FnOnce() -> Row) {
        if self.asked.contains(&self.next) {
            self.rows.push(row());
        }
        self.next += 1;
    }
}

/// How many rows a hunk has.
pub fn count(hunk: &Hunk) -> usize {
    match &hunk.item {
        Item::Lines { old, edits, .. } => old.count + edits.iter().map(|edit| edit.new.len()).sum::<usize>(),
        _ => hunk.changed_lines().len(),
    }
}

impl Sides {
    /// The sides of a file: `old` as accepted, and that with all hunks of `file`.
    pub fn of(colours: &Colours, file: &FileHunks, old: &[u8]) -> Sides {
        let edits: Vec<&Edit> = file
            .hunks
            .iter()
            .flat_map(|hunk| match &hunk.item {
                Item::Lines { edits, .. } => edits.as_slice(),
                _ => &[],
            })
            .collect();
        let created = file.hunks.iter().find_map(|hunk| match &hunk.item {
            Item::Create(new) if is_text(new) => Some(new.bytes.0.clone()),
            _ => None,
        });
        let new = created.or_else(|| replace_lines(old, &edits)).unwrap_or_default();
        let name = file.path.display();
        let (old_colours, new_colours) = (colours.of(&name, old), colours.of(&name, &new));
        Sides { old: Side::new(old.to_vec(), old_colours), new: Side::new(new, new_colours) }
    }

    /// Rows `first..=last` of `hunk`, from 0.
    pub fn rows(&self, hunk: &Hunk, first: usize, last: usize) -> Vec<Row> {
        let (old, new) = (&self.old, &self.new);
        let mut page = Page { asked: first..=last, next: 0, rows: Vec::new() };
        let context = |page: &mut Page, old_line: usize, new_line: usize| {
            let numbers = (Some(old_line), Some(new_line));
            page.add(|| row(RowKind::Context, numbers, old.line(old_line), new.spans(new_line), &[]));
        };
        match &hunk.item {
            Item::Lines { edits, old: range, new: new_range, .. } => {
                let mut old_line = if range.count == 0 { range.first } else { range.first - 1 };
                let mut new_line = if new_range.count == 0 { new_range.first } else { new_range.first - 1 };
                let old_end = old_line + range.count;
                for edit in edits {
                    while old_line < edit.old_start {
                        context(&mut page, old_line, new_line);
                        (old_line, new_line) = (old_line + 1, new_line + 1);
                    }
                    let marks = LazyCell::new(|| Marks::of(edit));
                    for (index, line) in edit.old.iter().enumerate() {
                        let numbers = (Some(old_line), None);
                        let spans = old.spans(old_line);
                        page.add(|| row(RowKind::Removed, numbers, &line.0, spans, marks.removed(index)));
                        old_line += 1;
                    }
                    for (index, line) in edit.new.iter().enumerate() {
                        let numbers = (None, Some(new_line));
                        let spans = new.spans(new_line);
                        page.add(|| row(RowKind::Added, numbers, &line.0, spans, marks.added(index)));
                        new_line += 1;
                    }
                }
                while old_line < old_end {
                    context(&mut page, old_line, new_line);
                    (old_line, new_line) = (old_line + 1, new_line + 1);
                }
            }
            Item::Create(_) => {
                for line in 0..new.ends.len() {
                    let numbers = (None, Some(line));
                    page.add(|| row(RowKind::Added, numbers, new.line(line), new.spans(line), &[]));
                }
            }
            Item::Delete(_) => {
                for line in 0..old.ends.len() {
                    let numbers = (Some(line), None);
                    page.add(|| row(RowKind::Removed, numbers, old.line(line), old.spans(line), &[]));
                }
            }
            Item::Mode { .. } | Item::Replace { .. } | Item::Rename | Item::LineEndings { .. } => {}
        }
        page.rows
    }
}

/// Only the changed rows of a hunk that is not in the worktree, coloured by themselves.
pub fn quoted(colours: &Colours, hunk: &Hunk) -> Vec<Row> {
    let name = hunk.path.display();
    let joined = |lines: &[Bytes]| lines.iter().flat_map(|line| line.0.iter().copied()).collect::<Vec<u8>>();
    let mut rows = Vec::new();
    let whole_text;
    let edits = match &hunk.item {
        Item::Lines { edits, .. } => edits.as_slice(),
        Item::Create(file) if is_text(file) => {
            let new = lines(&file.bytes.0).into_iter().map(|line| Bytes(line.to_vec())).collect();
            whole_text = [Edit { old_start: 0, old: Vec::new(), new_start: 0, new }];
            &whole_text
        }
        Item::Delete(file) if is_text(file) => {
            let old = lines(&file.bytes.0).into_iter().map(|line| Bytes(line.to_vec())).collect();
            whole_text = [Edit { old_start: 0, old, new_start: 0, new: Vec::new() }];
            &whole_text
        }
        _ => &[],
    };
    for edit in edits {
        let (old, new) = (colours.of(&name, &joined(&edit.old)), colours.of(&name, &joined(&edit.new)));
        for (index, line) in edit.old.iter().enumerate() {
            let numbers = (Some(edit.old_start + index), None);
            rows.push(row(RowKind::Removed, numbers, &line.0, spans(&old, index), &[]));
        }
        for (index, line) in edit.new.iter().enumerate() {
            let numbers = (None, Some(edit.new_start + index));
            rows.push(row(RowKind::Added, numbers, &line.0, spans(&new, index), &[]));
        }
    }
    rows
}

fn spans(colours: &colours::Lines, line: usize) -> &[Span] {
    colours.get(line).map(Vec::as_slice).unwrap_or_default()
}

/// A row; `numbers` are line indexes from 0, `spans` and `marks` count bytes of `line`.
fn row(
    kind: RowKind,
    numbers: (Option<usize>, Option<usize>),
    line: &[u8],
    spans: &[Span],
    marks: &[(usize, usize)],
) -> Row {
    let text = String::from_utf8_lossy(without_end(line)).into_owned();
    let number = |index: Option<usize>| index.map(|index| index as u32 + 1);
    let (spans, marks) = if line.len() > MAX_LINE { (&[][..], &[][..]) } else { (spans, marks) };
    let mut units = Units::of(&text);
    let spans = spans.iter().filter_map(|(from, to, class)| {
        let (from, to) = (units.at(*from)?, units.at(*to)?);
        Some((from, to, (*class).to_owned()))
    });
    let spans = spans.collect();
    let mut units = Units::of(&text);
    let marks = marks.iter().filter_map(|(from, to)| Some((units.at(*from)?, units.at(*to)?))).collect();
    Row {
        kind,
        old: number(numbers.0),
        new: number(numbers.1),
        spans,
        marks,
        no_newline: !line.ends_with(b"\n"),
        text,
    }
}

/// Counts UTF-16 units, in one pass over a text.
struct Units<'a> {
    text: &'a str,
    byte: usize,
    units: u32,
}

impl Units<'_> {
    fn of(text: &str) -> Units<'_> {
        Units { text, byte: 0, units: 0 }
    }

    /// The units before `byte`, which never goes back; `None` where no character starts there.
    fn at(&mut self, byte: usize) -> Option<u32> {
        let byte = byte.min(self.text.len());
        self.units += self.text.get(self.byte..byte)?.encode_utf16().count() as u32;
        self.byte = byte;
        Some(self.units)
    }
}

/// Changed words of a block: for each line, the byte ranges that differ.
#[derive(Default)]
struct Marks {
    old: Vec<Vec<(usize, usize)>>,
    new: Vec<Vec<(usize, usize)>>,
}

/// A word of a block: the line it is in, its start there, and its bytes.
type Word<'a> = (usize, usize, &'a [u8]);

impl Marks {
    fn of(edit: &Edit) -> Marks {
        let too_long = edit.old.iter().chain(&edit.new).any(|line| line.0.len() > MAX_LINE);
        let too_many = edit.old.len() + edit.new.len() > MARKED_LINES;
        if edit.old.is_empty() || edit.new.is_empty() || too_many || too_long {
            return Marks::default();
        }
        let (old, new) = (words(&edit.old), words(&edit.new));
        let texts = |words: &[Word<'_>]| words.iter().map(|(_, _, text)| text.to_vec()).collect::<Vec<_>>();
        let (old_texts, new_texts) = (texts(&old), texts(&new));
        let ops = capture_diff_slices(Algorithm::Myers, &old_texts, &new_texts);
        let letters = |texts: &[Vec<u8>]| {
            texts.iter().flatten().filter(|byte| !byte.is_ascii_whitespace()).count() as f32
        };
        let equal: f32 = ops
            .iter()
            .filter(|op| matches!(op, DiffOp::Equal { .. }))
            .map(|op| letters(&old_texts[op.old_range()]))
            .sum();
        if 2.0 * equal < ALIKE * (letters(&old_texts) + letters(&new_texts)) {
            return Marks::default();
        }
        let mut marks =
            Marks { old: vec![Vec::new(); edit.old.len()], new: vec![Vec::new(); edit.new.len()] };
        for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
            mark(&mut marks.old, &old[op.old_range()]);
            mark(&mut marks.new, &new[op.new_range()]);
        }
        marks
    }

    fn removed(&self, line: usize) -> &[(usize, usize)] {
        self.old.get(line).map(Vec::as_slice).unwrap_or_default()
    }

    fn added(&self, line: usize) -> &[(usize, usize)] {
        self.new.get(line).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Marks the words, joined where they touch; white space at the start of a mark is left out.
fn mark(lines: &mut [Vec<(usize, usize)>], changed: &[Word<'_>]) {
    for (line, start, text) in changed {
        let end = start + text.len();
        match lines[*line].last_mut() {
            Some(last) if last.1 == *start => last.1 = end,
            _ if text.iter().all(u8::is_ascii_whitespace) => {}
            _ => lines[*line].push((*start, end)),
        }
    }
}

/// Runs of letters, digits and `_`, runs of white space, and every other character by itself.
fn words(block: &[Bytes]) -> Vec<Word<'_>> {
    let class = |byte: u8| match byte {
        b'_' => 1,
        byte if byte.is_ascii_alphanumeric() || byte >= 0x80 => 1,
        byte if byte.is_ascii_whitespace() => 2,
        _ => 0,
    };
    let mut found = Vec::new();
    for (number, line) in block.iter().enumerate() {
        let text = without_end(&line.0);
        let mut start = 0;
        while start < text.len() {
            let kind = class(text[start]);
            let run = text[start..].iter().take_while(|byte| class(**byte) == kind).count();
            let end = start + if kind == 0 { 1 } else { run };
            found.push((number, start, &text[start..end]));
            start = end;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use heph_core::{
        diff::hunks,
        file::{File, FileChange, Mode},
        path::RepoPath,
    };

    use super::*;

    #[test]
    fn rows_have_both_numbers_and_mark_only_the_words_that_changed() {
        let old = "fn a() {\n    let é = b\"hunter2\";\n    b\n}\nc\nd\n";
        let new = old.replace("b\"hunter2\"", "config.secret()").replace("d\n", "d");
        let file = |text: &str| File { mode: Mode::Regular, bytes: Bytes(text.into()) };
        let change = FileChange {
            path: RepoPath::new("a.rs").unwrap(),
            old_path: None,
            old: Some(file(old)),
            new: Some(file(&new)),
        };
        let file = hunks(&change);
        let sides = Sides::of(&Colours::default(), &file, old.as_bytes());
        let rows = sides.rows(&file.hunks[0], 0, usize::MAX);
        assert_eq!(rows.len(), count(&file.hunks[0]));
        let removed = &rows[1];
        assert_eq!(
            (removed.old, removed.new, removed.text.as_str()),
            (Some(2), None, "    let é = b\"hunter2\";")
        );
        assert_eq!(removed.marks, [(12, 22)], "counted in UTF-16 units");
        assert_eq!((rows[2].old, rows[2].new, &rows[2].marks[..]), (None, Some(2), &[(12, 27)][..]));
        assert_eq!((rows[3].old, rows[3].new), (Some(3), Some(3)));
        assert!(rows.last().unwrap().no_newline);
        assert_eq!(sides.rows(&file.hunks[0], 1, 2), rows[1..=2]);
    }

    #[test]
    fn a_very_long_line_is_shown_plain_and_its_neighbours_keep_their_colours() {
        let long = |word: &str| format!("let a = 1;\nlet b = \"{}\";\nlet c = {word};\n", word.repeat(5000));
        let (old, new) = (long("1"), long("2"));
        let file = |text: &str| File { mode: Mode::Regular, bytes: Bytes(text.into()) };
        let change = FileChange {
            path: RepoPath::new("a.rs").unwrap(),
            old_path: None,
            old: Some(file(&old)),
            new: Some(file(&new)),
        };
        let file = hunks(&change);
        let rows = Sides::of(&Colours::default(), &file, old.as_bytes()).rows(&file.hunks[0], 0, usize::MAX);
        let plain: Vec<bool> = rows.iter().map(|row| row.spans.is_empty()).collect();
        assert_eq!(plain, [false, true, false, true, false]);
        assert!(rows.iter().all(|row| row.marks.is_empty()));
        assert_eq!(rows[1].text.len(), 5011);
    }
}
