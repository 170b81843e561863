//! What files hold, in the words of a scenario.

use super::script::Line;

/// The text that `words`, or the rows of `line`, give. `before` is what the file held at the start.
///
/// - rows: these lines;
/// - `"text"`: exactly this, ends of lines included;
/// - `numbered 1..40`: the lines `line 1` to `line 40`;
/// - `as before`: the file's text at the start of the scenario.
///
/// The last two may be followed by changes: `with "line 5" -> "five", "line 6" -> "six"`, and
/// `without "line 7"`.
pub fn text(words: &[&str], line: &Line, before: Option<&str>) -> String {
    match words {
        [] => line.rows.iter().map(|row| format!("{}\n", row.text)).collect(),
        ["as", "before", changes @ ..] => {
            let before = before.unwrap_or_else(|| panic!("there was no such file at the start"));
            changed(before, changes)
        }
        ["numbered", range, changes @ ..] => changed(&numbered(range), changes),
        [exactly] => (*exactly).to_owned(),
        _ => panic!("no text: {words:?}"),
    }
}

fn numbered(range: &str) -> String {
    let bounds =
        range.split_once("..").and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    let (first, last): (u32, u32) = bounds.unwrap_or_else(|| panic!("no range: {range}"));
    (first..=last).map(|n| format!("line {n}\n")).collect()
}

fn changed(text: &str, changes: &[&str]) -> String {
    match changes {
        [] => text.to_owned(),
        ["without", line, rest @ ..] => changed(&replaced(text, &lines(line), ""), rest),
        ["with", rest @ ..] | rest if rest.len() >= 3 && rest[1] == "->" => {
            changed(&replaced(text, &lines(rest[0]), &lines(rest[2])), &rest[3..])
        }
        _ => panic!("no change: {changes:?}"),
    }
}

/// A change of whole lines: `"old" -> "new"`, or the rows below, where `|` stays, `-` goes and `+` comes.
/// Returns the text that is looked for, and what takes its place.
pub fn change(words: &[&str], line: &Line) -> (String, String) {
    match words {
        [old, "->", new] => (lines(old), lines(new)),
        [] => {
            let side = |gone: char| line.rows.iter().filter(move |row| row.mark != gone);
            let text = |rows: &mut dyn Iterator<Item = &super::script::Row>| {
                rows.map(|row| format!("{}\n", row.text)).collect::<String>()
            };
            (text(&mut side('+')), text(&mut side('-')))
        }
        _ => panic!("no change: {words:?}"),
    }
}

/// `text` with `old`, which occurs once at the start of a line, replaced.
pub fn replaced(text: &str, old: &str, new: &str) -> String {
    let starts: Vec<usize> = text
        .match_indices(old)
        .map(|(at, _)| at)
        .filter(|&at| at == 0 || text[..at].ends_with('\n'))
        .collect();
    let [at] = starts[..] else { panic!("{old:?} is {} times in:\n{text}", starts.len()) };
    [&text[..at], new, &text[at + old.len()..]].concat()
}

fn lines(text: &str) -> String {
    format!("{text}\n")
}
