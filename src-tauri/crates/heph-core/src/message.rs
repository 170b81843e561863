//! What the model is told, as one function per message, from plain data.
//!
//! The user manual's sample messages hold these to the byte. Heph's own sentences and the headings of
//! constraints wrap at [`WIDTH`](crate::wrap::WIDTH); nothing that is quoted is changed.

use std::{fmt::Display, ops::RangeInclusive};

use crate::{
    apply::{FileReport, Meant, Reason},
    constraint::{Constraint, Standing},
    path::RepoPath,
    review::{Comment, Place, Side},
    text::{lines, without_end},
    wrap::{Piece, quote, wrap},
};

/// So many lines stay at each end of a constraint that is elided in the middle.
const CONSTRAINT_ENDS: usize = 20;
/// So many lines of a gate's output stay at each end.
const OUTPUT_ENDS: usize = 100;
/// A set-aside file of more lines is told by its regions.
const FILE_LINES: usize = 1000;
/// So many lines stand around each region of a file that is told by its regions.
const REGION_CONTEXT: usize = 50;

/// The outcome of a review, as the model is told it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The reviewed files, in the order of the review.
    pub files: Vec<FileResult>,
    /// How many hunks were not reached, where the review was stopped partway.
    pub not_reached: Option<usize>,
}

impl Outcome {
    /// Adds a re-proposal that is no part of the review's own.
    pub fn reproposed(&mut self, path: &RepoPath, what: String) {
        match self.files.iter_mut().find(|file| file.path == *path) {
            Some(file) => file.reproposed.push(what),
            None => {
                self.files.push(FileResult { path: path.clone(), hunks: Vec::new(), reproposed: vec![what] })
            }
        }
    }
}

/// One file of a review.
#[derive(Clone, Debug, PartialEq)]
pub struct FileResult {
    /// The file.
    pub path: RepoPath,
    /// Its hunks that are told, in order.
    pub hunks: Vec<HunkResult>,
    /// What each refused re-proposal was: `lines a-b`.
    pub reproposed: Vec<String>,
}

/// One hunk of a review.
#[derive(Clone, Debug, PartialEq)]
pub struct HunkResult {
    /// Its number in the file, from 1.
    pub number: usize,
    /// `lines a-b`, or what the item is.
    pub what: String,
    /// The user's word on it.
    pub decision: Decision,
    /// The model's own reason.
    pub rationale: Option<String>,
    /// The user's comments.
    pub comments: Vec<Comment>,
}

/// The user's word on a hunk, as told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is in the worktree.
    Accepted,
    /// It is not, and is a constraint.
    Rejected,
    /// The review ended before it.
    Undecided,
    /// The user's own text of the file decided it.
    Edited,
}

/// A gate that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct GateFailure {
    /// Its name.
    pub name: String,
    /// The exit status.
    pub exit: i32,
    /// How long it took.
    pub seconds: f64,
    /// What it printed.
    pub output: String,
}

/// What gates say of a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GateReport {
    /// Those that failed.
    pub failed: Vec<GateFailure>,
    /// Those that had failed before the turn, and hold up nothing: told once.
    pub red_before: Vec<GateFailure>,
}

/// On which state gates failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedOn {
    /// All that the model proposes; nobody has reviewed it.
    Proposed,
    /// What was left after a review that rejected something.
    RejectionLeft,
    /// What was left after a review that rejected nothing.
    ReviewLeft,
}

/// How a message closes.
#[derive(Clone, Debug, PartialEq)]
pub enum Closing {
    /// The model works on.
    Work,
    /// The turn ends here.
    TurnEnds,
    /// The turn ends here, and what was accepted last is not applied.
    NotApplied {
        /// Why, as `gate NAME failed`.
        why: String,
        /// Whether something was applied before in this turn.
        before: bool,
    },
    /// It was a review of the user's own tree, and they closed it without a change.
    Closed,
}

/// A review's result and what follows from it, for the model to work on or to read with the next
/// prompt. [`with_constraints`] goes around it where the model works on.
pub fn reviewed(
    outcome: &Outcome,
    gates: &GateReport,
    set_aside: &[FileReport],
    closing: &Closing,
) -> String {
    let mut sections: Vec<String> = Vec::new();
    if !outcome.files.is_empty() {
        sections.push("Your proposed changes were reviewed. Here is the result:".into());
        sections.extend(outcome.files.iter().map(file_section));
    }
    if let Some(count) = outcome.not_reached {
        let (noun, verb) = if count == 1 { ("hunk", "was") } else { ("hunks", "were") };
        sections.push(own(&format!("The review is not finished: {count} {noun} {verb} not reached."), 0));
    }
    if !gates.failed.is_empty() {
        let rejected = outcome.files.iter().any(|file| {
            !file.reproposed.is_empty() || file.hunks.iter().any(|hunk| hunk.decision == Decision::Rejected)
        });
        let on = if rejected { FailedOn::RejectionLeft } else { FailedOn::ReviewLeft };
        sections.push(gate_section(on, &gates.failed));
    }
    sections.extend(red_before_section(&gates.red_before));
    sections.extend(
        set_aside.iter().filter(|file| file.set_aside.is_some()).map(|file| aside_section(file, closing)),
    );
    sections.push(own(&closing_words(closing), 0));
    sections.join("\n\n")
}

/// A message that asks the model to work, and after it all that it must not propose again.
pub fn with_constraints(message: &str, constraints: &[Constraint]) -> String {
    let mut sections = vec![message.to_owned()];
    sections.extend(constraint_sections(constraints));
    sections.join("\n\n")
}

/// Gates failed on what the model proposes, before any review. `commented` is what the user has said of it
/// while they ran.
pub fn gates_failed(gates: &GateReport, commented: &Outcome) -> String {
    let mut sections = Vec::new();
    if !commented.files.is_empty() {
        sections.push("The user has commented on your change while the gates ran:".into());
        sections.extend(commented.files.iter().map(file_section));
    }
    sections.push(gate_section(FailedOn::Proposed, &gates.failed));
    sections.extend(red_before_section(&gates.red_before));
    sections.push("Mend your change until the gates pass.".into());
    sections.join("\n\n")
}

/// The model was cut off, or failed, before it had stopped.
pub fn go_on() -> String {
    let words = "You were cut off before you had finished. The worktree holds what you changed so far. Go on \
                 from there.";
    own(words, 0)
}

/// What of an ended turn the user has taken back, for the model to read with the next prompt.
pub fn undone(restored: &[RepoPath], left: &[RepoPath]) -> String {
    let mut out = own(
        "The user undid what that turn applied. These files are as they were before it; do not build on \
         the undone changes.",
        0,
    );
    restored.iter().for_each(|path| out.push_str(&format!("\n  {}", path.shown())));
    if !left.is_empty() {
        out.push_str("\n\n");
        out.push_str(&own("In these files the user has changed the same lines since, and they stay:", 0));
        left.iter().for_each(|path| out.push_str(&format!("\n  {}", path.shown())));
    }
    out
}

/// A prompt, after what the model has not yet been told of the turn before.
pub fn prompt(untold: Option<&str>, prompt: &str) -> String {
    match untold {
        Some(untold) => format!("{untold}\n\n{prompt}"),
        None => prompt.to_owned(),
    }
}

fn closing_words(closing: &Closing) -> String {
    let ends = "If the user wants them done differently, their next prompt will say so.";
    match closing {
        Closing::Work => {
            "Address the comments. The rejected hunks are constraints: do not re-propose them in any \
                          form. The worktree already holds only what was accepted."
                .into()
        }
        Closing::TurnEnds => format!(
            "The turn ends here. The worktree holds only what was accepted; the rejected changes are not in place, \
             so do not build on them. {ends}"
        ),
        Closing::NotApplied { why, before } => {
            let more = if *before { " more" } else { "" };
            format!("The turn ends here. Nothing{more} was applied: {why}. {ends}")
        }
        Closing::Closed => {
            "The turn ends here. The user closed this review of their own tree without changing it: the \
             rejected changes are still in place."
                .into()
        }
    }
}

/// Words of Heph's own, wrapped at `indent`.
fn own(words: &str, indent: usize) -> String {
    let mut out = " ".repeat(indent);
    wrap(&mut out, &[Piece::Words(words)], indent);
    out
}

fn file_section(file: &FileResult) -> String {
    let mut out = format!("file: {}", file.path.shown());
    for hunk in &file.hunks {
        let word = match hunk.decision {
            Decision::Accepted => "ACCEPTED",
            Decision::Rejected => "REJECTED",
            Decision::Undecided => "UNDECIDED",
            Decision::Edited => "EDITED BY THE USER",
        };
        out.push_str(&format!("\n  hunk {} ({}): {word}", hunk.number, hunk.what));
        if let (Decision::Rejected, Some(rationale)) = (hunk.decision, &hunk.rationale) {
            told(&mut out, "your rationale", rationale);
        }
        for comment in &hunk.comments {
            let label = match comment.place {
                Place::Hunk => "user".to_owned(),
                Place::Line { side: Side::New, line } => format!("user (line {line})"),
                Place::Line { side: Side::Old, line } => format!("user (old line {line})"),
            };
            told(&mut out, &label, &comment.text);
        }
    }
    for what in &file.reproposed {
        out.push_str(&format!("\n  re-proposed hunk ({what}): REJECTED"));
    }
    out
}

fn told(out: &mut String, label: &str, text: &str) {
    out.push_str("\n    ");
    quote(out, &[Piece::Solid(&format!("{label}: \""))], text, 6);
}

fn gate_section(on: FailedOn, gates: &[GateFailure]) -> String {
    let lead = match on {
        FailedOn::Proposed => "The gates ran on your change:",
        FailedOn::RejectionLeft => "As a consequence of the rejection:",
        FailedOn::ReviewLeft => "On the state after the review:",
    };
    let mut out = String::from(lead);
    for gate in gates {
        out.push_str(&format!("\n\ngate {} failed (exit {}, {:.1} s):", gate.name, gate.exit, gate.seconds));
        let plain = without_colours(&gate.output);
        push_elided(&mut out, &plain.lines().collect::<Vec<_>>(), OUTPUT_ENDS);
    }
    out
}

fn red_before_section(gates: &[GateFailure]) -> Option<String> {
    let line = |gate: &GateFailure| {
        let (name, exit, seconds) = (&gate.name, gate.exit, gate.seconds);
        own(
            &format!(
                "gate {name} was red before this turn (exit {exit}, {seconds:.1} s); it holds up nothing."
            ),
            0,
        )
    };
    (!gates.is_empty()).then(|| gates.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// Appends each of `lines`; where they are more than two ends, so many at each end and how many are left
/// out between.
fn push_elided(out: &mut String, lines: &[impl Display], ends: usize) {
    let left_out = lines.len().saturating_sub(2 * ends);
    let (first, rest) = lines.split_at(if left_out > 0 { ends } else { lines.len() });
    first.iter().for_each(|line| out.push_str(&format!("\n  {line}")));
    if left_out > 0 {
        out.push_str(&format!("\n  [... {left_out} lines left out ...]"));
    }
    rest.iter().skip(left_out).for_each(|line| out.push_str(&format!("\n  {line}")));
}

/// `text` without escape sequences (ECMA-48).
pub fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, sequence)) = rest.split_once('\u{1b}') {
        out.push_str(plain);
        rest = &sequence[sequence_length(sequence)..];
    }
    out.push_str(rest);
    out
}

/// How many bytes after an ESC belong to it: those of a control sequence (CSI), of a string (OSC, DCS,
/// SOS, PM, APC) with its end, ST or BEL, or of an escape sequence. A string that nothing ends goes to
/// the end of its line.
fn sequence_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let run = |from: usize, of: RangeInclusive<u8>| {
        from + bytes[from..].iter().take_while(|byte| of.contains(byte)).count()
    };
    let and_final = |at: usize, of: RangeInclusive<u8>| {
        at + usize::from(bytes.get(at).is_some_and(|byte| of.contains(byte)))
    };
    match bytes.first() {
        Some(b'[') => and_final(run(1, 0x20..=0x3f), 0x40..=0x7e),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let end = text.find(['\u{7}', '\u{1b}', '\n']).unwrap_or(text.len());
            match &bytes[end..] {
                [0x07, ..] => end + 1,
                [0x1b, b'\\', ..] => end + 2,
                _ => end,
            }
        }
        _ => and_final(run(0, 0x20..=0x2f), 0x30..=0x7e),
    }
}

fn aside_section(file: &FileReport, closing: &Closing) -> String {
    let Some(aside) = &file.set_aside else { return String::new() };
    let first = match aside.reason {
        Reason::Region | Reason::ChangedSince => {
            "this region changed in the user's tree after the turn began."
        }
        Reason::Deleted => "the user deleted the file after the turn began.",
        Reason::TypeChanged => {
            "the user replaced the file with something of another kind after the turn began."
        }
        Reason::BinaryChanged => "this binary file changed in the user's tree after the turn began.",
        Reason::EncodingChanged => "the user saved the file in another encoding after the turn began.",
        Reason::Exists => "a file of this name exists in the user's tree now, with other content.",
    };
    let text = file.current.as_ref().filter(|file| crate::diff::is_text(file));
    let second = match (&file.current, text) {
        (None, _) => "The file no longer exists in the user's tree.",
        (Some(_), Some(_)) => "The current text is below.",
        (Some(_), None) => "Its current content is not text.",
    };
    let words = match closing {
        Closing::Work => {
            format!(
                "SET ASIDE AT APPLY: {first} {second} Redo your change against it, or explain why it no longer applies."
            )
        }
        Closing::TurnEnds | Closing::NotApplied { .. } | Closing::Closed => {
            format!("SET ASIDE AT APPLY: {first} It was not applied.")
        }
    };
    let mut out = format!("file: {}\n{}", file.path.shown(), own(&words, 2));
    if *closing != Closing::Work {
        return out;
    }
    if let Some(text) = text {
        let shown = lines(&text.bytes.0);
        for region in regions(&shown, &aside.change) {
            match region {
                Region::Lines(lines) => lines.iter().for_each(|line| push_line(&mut out, "    ", line)),
                Region::LeftOut(count) => out.push_str(&format!("\n  [... {count} lines left out ...]")),
            }
        }
    }
    if !aside.change.is_empty() {
        out.push_str("\n  Your change:");
        for Meant { edit, .. } in &aside.change {
            edit.old.iter().for_each(|line| push_line(&mut out, "    -", &line.0));
            edit.new.iter().for_each(|line| push_line(&mut out, "    +", &line.0));
        }
    }
    out
}

enum Region<'a> {
    Lines(&'a [&'a [u8]]),
    LeftOut(usize),
}

/// The whole file where it is short, else the lines around each place that was meant.
fn regions<'a>(lines: &'a [&'a [u8]], change: &[Meant]) -> Vec<Region<'a>> {
    if lines.len() <= FILE_LINES || change.is_empty() {
        return vec![Region::Lines(lines)];
    }
    let mut found = Vec::new();
    let mut shown = 0;
    for Meant { place, .. } in change {
        let start = place.start.saturating_sub(REGION_CONTEXT).clamp(shown, lines.len());
        let end = (place.end + REGION_CONTEXT).clamp(start, lines.len());
        if start > shown {
            found.push(Region::LeftOut(start - shown));
        }
        found.push(Region::Lines(&lines[start..end]));
        shown = end;
    }
    if shown < lines.len() {
        found.push(Region::LeftOut(lines.len() - shown));
    }
    found
}

fn push_line(out: &mut String, start: &str, line: &[u8]) {
    out.push('\n');
    out.push_str(start);
    out.push_str(&String::from_utf8_lossy(without_end(line)));
}

fn constraint_sections(constraints: &[Constraint]) -> Vec<String> {
    let live: Vec<&Constraint> =
        constraints.iter().filter(|constraint| constraint.standing == Standing::Holds).collect();
    if live.is_empty() {
        return Vec::new();
    }
    let heading = "The user rejected the following changes in this turn. Do not re-propose them in any form.";
    let mut sections = vec![own(heading, 0)];
    sections.extend(live.into_iter().map(constraint_section));
    sections
}

fn constraint_section(constraint: &Constraint) -> String {
    let mut out = String::new();
    let path = constraint.path().shown();
    let round = format!(", round {}", constraint.round);
    let mut comments = constraint.comments.iter();
    match comments.next() {
        None => wrap(&mut out, &[Piece::Solid(&path), Piece::Words(&round)], 0),
        Some(first) => {
            quote(&mut out, &[Piece::Solid(&path), Piece::Words(&format!("{round} -- \""))], first, 0)
        }
    }
    for comment in comments {
        out.push('\n');
        quote(&mut out, &[Piece::Solid("-- \"")], comment, 0);
    }
    let changed = constraint.hunk.changed_lines();
    if changed.is_empty() {
        out.push_str(&format!("\n  {}", constraint.hunk.what()));
    }
    push_elided(&mut out, &changed, CONSTRAINT_ENDS);
    if constraint.reproposed {
        out.push_str("\n  you re-proposed a rejected change. Do not.");
    }
    out
}

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;
