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
    /// May be broken at single spaces between two of its characters.
    Words(&'a str),
    /// Stays whole: a path, or a line of code.
    Solid(&'a str),
}

/// Appends the line that `pieces` make to `out`, which ends where it starts; what does not fit goes on
/// after `indent` spaces.
pub fn wrap(out: &mut String, pieces: &[Piece<'_>], indent: usize) {
    let mut parts: Vec<String> = Vec::new();
    let mut part = String::new();
    for piece in pieces {
        match piece {
            Piece::Solid(text) => part.push_str(text),
            Piece::Words(text) => {
                let mut start = 0;
                for at in single_spaces(text) {
                    part.push_str(&text[start..at]);
                    parts.push(std::mem::take(&mut part));
                    start = at + 1;
                }
                part.push_str(&text[start..]);
            }
        }
    }
    parts.push(part);
    let mut column = out.chars().rev().take_while(|c| *c != '\n').count();
    for (number, part) in parts.iter().enumerate() {
        let width = part.chars().count();
        if number > 0 && column + 1 + width > WIDTH {
            next_line(out, indent);
            column = indent;
        } else if number > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(part);
        column += width;
    }
}

/// Appends `lead`, which ends in an opening quotation mark, then `text` and the closing mark. Each line
/// of the text starts at `indent` but the first, and is wrapped or stays whole for what it is itself.
pub fn quote(out: &mut String, lead: &[Piece<'_>], text: &str, indent: usize) {
    let mut pieces = lead.to_vec();
    let mut open: Option<Fence> = None;
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            wrap(out, &pieces, indent);
            next_line(out, indent);
            pieces.clear();
        }
        let whole = match open {
            Some(fence) => {
                if fence.is_closed_by(line) {
                    open = None;
                }
                true
            }
            None => {
                open = Fence::opened_by(line);
                open.is_some() || line.starts_with([' ', '\t'])
            }
        };
        pieces.push(if whole { Piece::Solid(line) } else { Piece::Words(line) });
    }
    pieces.push(Piece::Solid("\""));
    wrap(out, &pieces, indent);
}

fn next_line(out: &mut String, indent: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
}

/// Where `text` has a space with another character on either side.
fn single_spaces(text: &str) -> impl Iterator<Item = usize> {
    let is_other = |byte: Option<&u8>| byte.is_some_and(|byte| *byte != b' ');
    let bytes = text.as_bytes();
    (1..bytes.len())
        .filter(move |&at| bytes[at] == b' ' && is_other(bytes.get(at - 1)) && is_other(bytes.get(at + 1)))
}

/// The start of a fenced code block, as CommonMark 0.31 has it (section 4.5).
#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    /// The fence at the start of `line` and what follows it.
    fn at_start(line: &str) -> Option<(Fence, &str)> {
        let text = line.trim_start_matches(' ');
        let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let rest = text.trim_start_matches(mark);
        let length = text.len() - rest.len();
        (length >= 3 && line.len() - text.len() <= 3).then_some((Fence { mark, length }, rest))
    }

    fn opened_by(line: &str) -> Option<Fence> {
        let (fence, info) = Fence::at_start(line)?;
        (fence.mark == '~' || !info.contains('`')).then_some(fence)
    }

    fn is_closed_by(self, line: &str) -> bool {
        Fence::at_start(line).is_some_and(|(fence, rest)| {
            fence.mark == self.mark && fence.length >= self.length && rest.trim().is_empty()
        })
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

    fn quoted(text: &str) -> String {
        let mut out = String::from("    ");
        quote(&mut out, &[Piece::Solid("user: \"")], text, 6);
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
        let out = quoted(&text);
        assert!(out.lines().all(|line| line.chars().count() <= WIDTH));
        assert_eq!(out.replace("\n      ", " "), format!("    user: \"{text}\""));
        let full = format!("{} ", "x".repeat(WIDTH - 11));
        assert_eq!(quoted(&full), format!("    user: \"{full}\""), "the last space is no break");
    }

    fn whole(text: &str) {
        assert_eq!(quoted(text), format!("    user: \"{}\"", text.replace('\n', "\n      ")));
    }

    #[test]
    fn fenced_and_indented_lines_stay_whole_and_own_breaks_keep_the_indent() {
        let wide = "let x = ".repeat(15) + "0";
        whole(&format!("like this:\n```rust\n{wide}\n```\n    {wide}\n\nthen done"));
    }

    #[test]
    fn a_quoted_text_may_start_with_code() {
        let wide = "let x = ".repeat(15) + "0";
        for start in ["    ", " ", "\t", "```\n", "~~~~ rust\n"] {
            whole(&format!("{start}{wide}"));
        }
        let after = quoted(&format!("```\n{wide}\n```\n{wide}"));
        assert_eq!(after.lines().count(), 5, "{after}");
        let mark = quoted(&format!("\"```\n{wide}"));
        assert_eq!(mark.lines().count(), 3, "a fence in quotation marks is none: {mark}");
    }

    #[test]
    fn only_a_bare_fence_as_long_as_the_opening_one_closes_code() {
        let wide = "let x = ".repeat(15) + "0";
        for inner in ["```rust", "~~~~", "```", "    ````"] {
            whole(&format!("````\n{inner}\n{wide}\n`````  \nend"));
        }
        let inline = quoted(&format!("```a``` is code\n{wide}"));
        assert_eq!(inline.lines().count(), 3, "{inline}");
    }
}
