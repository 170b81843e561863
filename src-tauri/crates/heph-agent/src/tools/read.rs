//! `read {path, first?, last?}`: a file's lines with their numbers.

use std::{fmt::Write as _, ops::RangeInclusive};

use heph_core::text;
use serde::Deserialize;

use super::{Done, ToolError, Worktree, counted};

/// At most so many lines in one answer,
const MOST_LINES: usize = 2000;

/// and at most so many bytes of them.
const MOST_BYTES: usize = 64 * 1024;

/// A file with a NUL among so many first bytes is binary: git's own rule (`buffer_is_binary`).
const BINARY_WITHIN: usize = 8000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Read {
    pub(super) path: String,
    first: Option<usize>,
    last: Option<usize>,
}

impl Read {
    pub(super) fn carry_out(self, worktree: &Worktree) -> Result<Done, ToolError> {
        let path = worktree.resolve(&self.path)?;
        let bytes = worktree.read_existing(&path)?;
        if bytes[..bytes.len().min(BINARY_WITHIN)].contains(&0) {
            let size = counted(bytes.len(), "byte", "bytes");
            return Ok(Done::looked(format!("binary, {size}"), format!("{path} is binary: {size}")));
        }
        let lines = text::lines(&bytes);
        if lines.is_empty() {
            return Ok(Done::looked("empty".into(), format!("{path} is empty")));
        }
        let wanted = self.wanted(lines.len())?;
        let shown = Shown::of(&lines, wanted.clone());
        let (first, last) = (wanted.start(), shown.last);
        let outcome = match self.first.or(self.last) {
            None if shown.whole => counted(lines.len(), "line", "lines"),
            _ => format!("lines {first}-{last} of {}", lines.len()),
        };
        let mut content = shown.text;
        if std::str::from_utf8(&bytes).is_err() {
            content += "[the file is not UTF-8; bytes that are not are shown as \u{fffd}]\n";
        }
        Ok(Done::looked(outcome, content))
    }

    /// The lines that are asked for, of a file that has `count` of them.
    fn wanted(&self, count: usize) -> Result<RangeInclusive<usize>, ToolError> {
        let (first, last) = (self.first.unwrap_or(1), self.last.unwrap_or(count));
        if first > count {
            return Err(ToolError::PastTheEnd { path: self.path.clone(), first, lines: count });
        }
        if first == 0 || last < first {
            return Err(ToolError::Range { first, last });
        }
        Ok(first..=last.min(count))
    }
}

/// So much of the wanted lines as one answer holds.
struct Shown {
    text: String,
    last: usize,
    whole: bool,
}

impl Shown {
    fn of(lines: &[&[u8]], wanted: RangeInclusive<usize>) -> Shown {
        let mut text = String::new();
        let mut last = *wanted.start();
        for number in wanted.clone() {
            let line = String::from_utf8_lossy(text::without_end(lines[number - 1]));
            if number > *wanted.start()
                && (number - wanted.start() >= MOST_LINES || text.len() + line.len() > MOST_BYTES)
            {
                let _ = writeln!(
                    text,
                    "[... lines {number}-{} are left out; ask with `first` = {number} ...]",
                    wanted.end()
                );
                return Shown { text, last, whole: false };
            }
            let _ = match line.char_indices().nth(MOST_BYTES) {
                Some((cut, _)) => writeln!(text, "{number:>5}  {} [... the line goes on ...]", &line[..cut]),
                None => writeln!(text, "{number:>5}  {line}"),
            };
            last = number;
        }
        Shown { text, last, whole: true }
    }
}
