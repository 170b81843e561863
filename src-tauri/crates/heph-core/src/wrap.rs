//! Lines of the messages, wrapped so that quoted words stay the quoted words.
//!
//! A break replaces one single space and nothing else: runs of spaces, words longer than the line,
//! lines that start with a space or tab, and lines inside a code fence stay whole. Columns are
//! Unicode scalar values.

/// The column at which lines of Heph's own and quoted text wrap: the widest line of the manual's
/// sample messages.
pub const WIDTH: usize = 76;

/// A piece of a line.
#[derive(Clone, Copy)]
pub enum Piece<'a> {
    /// May be broken at single spaces.
    Words(&'a str),
    /// Stays whole: a path.
    Solid(&'a str),
}

/// Appends `pieces` to `out`, which ends where they start; lines after the first start with `indent`
/// spaces. A line break inside the pieces starts a new line at that indent.
pub fn wrap(out: &mut String, pieces: &[Piece<'_>], indent: usize) {
    let mut lines: Vec<Vec<(char, bool)>> = vec![Vec::new()];
    for piece in pieces {
        let (text, breakable) = match piece {
            Piece::Words(text) => (text, true),
            Piece::Solid(text) => (text, false),
        };
        for c in text.chars() {
            match (c, lines.last_mut()) {
                ('\n', _) => lines.push(Vec::new()),
                (c, Some(line)) => line.push((c, breakable)),
                (_, None) => {}
            }
        }
    }
    let mut fence = None;
    for (number, line) in lines.iter().enumerate() {
        if number > 0 {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
        }
        let whole = fence.is_some() || line.first().is_some_and(|(c, _)| matches!(c, ' ' | '\t'));
        let opens = fence_of(line);
        if fence.is_none() {
            fence = opens;
        } else if opens == fence {
            fence = None;
        }
        if whole || opens.is_some() {
            out.extend(line.iter().map(|(c, _)| c));
        } else {
            wrap_line(out, line, indent);
        }
    }
}

/// The fence character of a line that opens or closes a code fence.
fn fence_of(line: &[(char, bool)]) -> Option<char> {
    let text = line.iter().map(|(c, _)| *c).skip_while(|c| matches!(c, '"' | ' '));
    let start: Vec<char> = text.take(3).collect();
    match start[..] {
        ['`', '`', '`'] => Some('`'),
        ['~', '~', '~'] => Some('~'),
        _ => None,
    }
}

fn wrap_line(out: &mut String, line: &[(char, bool)], indent: usize) {
    let is_space = |at: usize| line.get(at).is_some_and(|(c, _)| *c == ' ');
    let is_break = |at: usize| {
        is_space(at) && line[at].1 && at > 0 && at + 1 < line.len() && !is_space(at - 1) && !is_space(at + 1)
    };
    let mut column = out.chars().rev().take_while(|c| *c != '\n').count();
    let mut start = 0;
    while start < line.len() {
        // A word runs from one place that may break to the next.
        let end = (start + 1..line.len()).find(|at| is_break(*at)).unwrap_or(line.len());
        let breaks = is_break(start);
        if breaks && column + (end - start) > WIDTH {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            column = indent;
            start += 1;
        }
        out.extend(line[start..end].iter().map(|(c, _)| c));
        column += end - start;
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(start: &str, pieces: &[Piece<'_>], indent: usize) -> String {
        let mut out = start.to_owned();
        wrap(&mut out, pieces, indent);
        out
    }

    #[test]
    fn a_break_replaces_one_single_space_and_never_splits_a_path_or_a_long_word() {
        let long = "x".repeat(90);
        let text = format!("short {long} and  two spaces");
        assert_eq!(
            wrapped("    ", &[Piece::Words(&text)], 6),
            format!("    short\n      {long}\n      and  two spaces")
        );
        let path = "a path ".repeat(12);
        assert_eq!(wrapped("", &[Piece::Solid(&path)], 2), path);
    }

    #[test]
    fn taking_the_breaks_back_gives_the_quoted_words() {
        let text = "no sleeps; 测试 — wait for the condition, as the other tests do ".repeat(4) + " end ";
        let out = wrapped("    user: \"", &[Piece::Words(&text)], 6);
        assert!(out.lines().all(|line| line.chars().count() <= WIDTH));
        assert_eq!(out.replace("\n      ", " ").strip_prefix("    user: \"").unwrap(), text);
    }

    #[test]
    fn fenced_and_indented_lines_stay_whole_and_own_breaks_keep_the_indent() {
        let wide = "let x = ".repeat(15);
        let text = format!("like this:\n```rust\n{wide}\n```\n    {wide}\n\nthen done");
        let out = wrapped("  \"", &[Piece::Words(&text)], 4);
        assert_eq!(
            out,
            format!("  \"like this:\n    ```rust\n    {wide}\n    ```\n        {wide}\n    \n    then done")
        );
    }
}
