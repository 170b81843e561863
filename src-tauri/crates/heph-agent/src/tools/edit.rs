//! `edit {path, old, new, rationale}`: replaces a text that occurs exactly once.

use heph_core::text;
use serde::Deserialize;

use super::{Done, Rationale, ToolError, Worktree, counted};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edit {
    pub(super) path: String,
    old: String,
    new: String,
    rationale: Rationale,
}

impl Edit {
    pub(super) fn carry_out(self, worktree: &Worktree) -> Result<Done, ToolError> {
        let path = worktree.resolve(&self.path)?;
        let before = worktree.read_existing(&path)?;
        if self.old.is_empty() {
            return Err(ToolError::OldEmpty);
        }
        if self.old == self.new {
            return Err(ToolError::OldIsNew);
        }
        let (old, new) = (with_ends_of(&before, &self.old), with_ends_of(&before, &self.new));
        let at = match occurrences(&before, &old)[..] {
            [at] => at,
            [] => {
                let hint = hint(&before, &old);
                return Err(ToolError::OldAbsent { path: path.display(), hint });
            }
            ref many => {
                let lines: Vec<_> = many.iter().map(|&at| line_at(&before, at).to_string()).collect();
                return Err(ToolError::OldRepeats {
                    path: path.display(),
                    count: many.len(),
                    lines: lines[..lines.len().min(20)].join(", "),
                });
            }
        };
        let after = [&before[..at], &new, &before[at + old.len()..]].concat();
        worktree.write(&path, &after)?;
        let first = line_at(&after, at);
        let content = format!(
            "{path}: replaced at line {first}; {}.",
            match text::lines(&new).len() {
                0 => "the text is gone".to_owned(),
                lines => format!("the new text has {}", counted(lines, "line", "lines")),
            }
        );
        Ok(Done::edited("edited", content, &self.rationale, vec![(path, Some(before), Some(after))]))
    }
}

/// `given` with the line ends of a file in which every line ends in CRLF. A model reads such a file
/// without the CRs, and would else neither find two lines of it nor keep it uniform.
fn with_ends_of(file: &[u8], given: &str) -> Vec<u8> {
    let mut ends = text::lines(file).into_iter().filter(|line| line.ends_with(b"\n")).peekable();
    let uniform = ends.peek().is_some() && ends.all(|line| line.ends_with(b"\r\n"));
    match uniform && !given.contains('\r') {
        true => given.replace('\n', "\r\n").into_bytes(),
        false => given.as_bytes().to_vec(),
    }
}

/// Where `text` begins in `file`; occurrences may overlap.
fn occurrences(file: &[u8], text: &[u8]) -> Vec<usize> {
    file.windows(text.len()).enumerate().filter(|(_, window)| *window == text).map(|(at, _)| at).collect()
}

/// The number of the line that the byte `at` lies in.
fn line_at(file: &[u8], at: usize) -> usize {
    1 + file[..at].iter().filter(|&&b| b == b'\n').count()
}

/// What may have gone wrong with an `old` that is not there.
fn hint(file: &[u8], old: &[u8]) -> String {
    let lines: Vec<_> = text::lines(file).into_iter().map(<[u8]>::trim_ascii).collect();
    let wanted: Vec<_> = text::lines(old.trim_ascii()).into_iter().map(<[u8]>::trim_ascii).collect();
    let Some(&first) = wanted.first() else {
        return "It is white space only; add a line around it.".to_owned();
    };
    if let Some(at) = lines.windows(wanted.len()).position(|window| window == wanted) {
        let (from, to) = (at + 1, at + wanted.len());
        return format!(
            "Lines {from}-{to} differ from it in white space only: `read` them and copy them exactly."
        );
    }
    let starts: Vec<_> =
        (1..).zip(&lines).filter(|(_, line)| **line == first).map(|(n, _): (usize, _)| n).collect();
    match starts[..] {
        [] => "`read` the file: it is not what you expect, or `old` is not a copy of its text.".to_owned(),
        [at, ..] => format!(
            "Its first line is line {at} of the file, but what follows differs: `read` on from there."
        ),
    }
}
