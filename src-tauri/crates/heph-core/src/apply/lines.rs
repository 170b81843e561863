//! The three-way plan of one text, line by line.
//!
//! Lines are compared without what is an attribute of the text and not of a line: the newline at the end of
//! the file, and the line ends where the user turned all of them into the other kind.
//!
//! A run of lines that came or went among equal lines has no one place: it can slide over them, and the text
//! stays the same. All the places it can slide to are its *reach*. Two changes touch where their reaches do.

use std::ops::Range;

use super::{FilePlan, Meant, Reason, SetAside, Write};
use crate::{
    diff::{Edit, changed_runs, edits, group},
    file::File,
};

/// How all lines of a text end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineEnds {
    Lf,
    CrLf,
    Mixed,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FinalNewline {
    Present,
    Missing,
}

/// A line and its end, which only the last line can lack.
#[derive(Clone, Copy)]
struct Line<'a> {
    body: &'a [u8],
    end: &'a [u8],
}

struct Text<'a> {
    lines: Vec<Line<'a>>,
    ends: LineEnds,
    final_newline: FinalNewline,
}

impl<'a> Text<'a> {
    fn of(bytes: &'a [u8]) -> Text<'a> {
        let lines: Vec<Line<'a>> = crate::text::lines(bytes)
            .into_iter()
            .map(|line| match line.strip_suffix(b"\n") {
                None => Line { body: line, end: b"" },
                Some(body) => match body.strip_suffix(b"\r") {
                    None => Line { body, end: b"\n" },
                    Some(body) => Line { body, end: b"\r\n" },
                },
            })
            .collect();
        let ended = || lines.iter().filter(|line| !line.end.is_empty());
        let ends = match (ended().any(|line| line.end == b"\n"), ended().any(|line| line.end == b"\r\n")) {
            (_, false) => LineEnds::Lf,
            (false, true) => LineEnds::CrLf,
            (true, true) => LineEnds::Mixed,
        };
        let missing = lines.last().is_some_and(|line| line.end.is_empty());
        let final_newline = if missing { FinalNewline::Missing } else { FinalNewline::Present };
        Text { lines, ends, final_newline }
    }

    /// What a line gets for an end that has none.
    fn end(&self) -> &'static [u8] {
        match self.ends {
            LineEnds::CrLf => b"\r\n",
            LineEnds::Lf | LineEnds::Mixed => b"\n",
        }
    }

    /// What its lines are compared by.
    fn keys(&self, ends: Ends) -> Vec<(&'a [u8], &'a [u8])> {
        let end = |line: &Line<'a>| match ends {
            Ends::Ignored => b"",
            Ends::Compared if line.end.is_empty() => self.end(),
            Ends::Compared => line.end,
        };
        self.lines.iter().map(|line| (line.body, end(line))).collect()
    }
}

/// Whether line ends count as part of the lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Compared,
    Ignored,
}

/// One run of changed lines of the base.
struct Run {
    old: Range<usize>,
    new: Range<usize>,
    /// The lines of the base within which it can lie; starts and ends of a side's reaches are in order.
    reach: Range<usize>,
}

/// All runs of one side, in order.
struct Side<'a, Key> {
    runs: Vec<Run>,
    keys: &'a [Key],
    /// For each number of runs, how many lines they add.
    growth: Vec<isize>,
}

impl<'a, Key: Eq> Side<'a, Key> {
    fn new(base: &[Key], keys: &'a [Key], changed: Vec<(Range<usize>, Range<usize>)>) -> Side<'a, Key> {
        let mut growth = vec![0];
        let mut runs = Vec::with_capacity(changed.len());
        for (at, (old, new)) in changed.iter().enumerate() {
            let above = if at == 0 { 0 } else { changed[at - 1].0.end };
            let below = changed.get(at + 1).map_or(base.len(), |(next, _)| next.start);
            let reach = reach(base, old, &keys[new.clone()], above..below);
            growth.push(growth[at] + new.len() as isize - old.len() as isize);
            runs.push(Run { old: old.clone(), new: new.clone(), reach });
        }
        Side { runs, keys, growth }
    }

    /// The runs that touch `reach`.
    fn touching(&self, reach: &Range<usize>) -> Range<usize> {
        let start = self.runs.partition_point(|run| run.reach.end < reach.start);
        let end = self.runs.partition_point(|run| run.reach.start <= reach.end);
        start..end.max(start)
    }

    /// Where lines of the base are in this side's text; `runs` are those that lie in them.
    fn place(&self, lines: &Range<usize>, runs: &Range<usize>) -> Range<usize> {
        let moved = |line: usize, runs: usize| line.saturating_add_signed(self.growth[runs]);
        moved(lines.start, runs.start)..moved(lines.end, runs.end)
    }

    /// `lines` with all the lines that `runs` replace.
    fn span(&self, lines: Range<usize>, runs: &Range<usize>) -> Range<usize> {
        match (self.runs[runs.clone()].first(), self.runs[runs.clone()].last()) {
            (Some(first), Some(last)) => lines.start.min(first.old.start)..lines.end.max(last.old.end),
            _ => lines,
        }
    }
}

/// The lines within which a change of `old` into `new` can lie without another text coming of it, and
/// without passing `bounds`. As with git, lines that came or went slide over equal ones; what has as many
/// lines after as before stays where it is. A part of them that slides is as good as all.
fn reach<Key: Eq>(base: &[Key], old: &Range<usize>, new: &[Key], bounds: Range<usize>) -> Range<usize> {
    let moving = match old.len().cmp(&new.len()) {
        std::cmp::Ordering::Equal => return old.clone(),
        std::cmp::Ordering::Less => new,
        std::cmp::Ordering::Greater => &base[old.clone()],
    };
    let count = moving.len();
    let (mut up, mut down) = (0, 0);
    for part in 1..=count {
        let (above, below) = (old.start - bounds.start, bounds.end - old.end);
        if up == above && down == below {
            break;
        }
        let slides_up = |by: &usize| base[old.start - 1 - by] == moving[part - 1 - by % part];
        up = up.max((0..above).take_while(slides_up).count());
        let slides_down = |by: &usize| base[old.end + by] == moving[count - part + by % part];
        down = down.max((0..below).take_while(slides_down).count());
    }
    old.start - up..old.end + down
}

/// What becomes of one run of an accepted hunk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Lands,
    AlreadyThere,
    SetAside,
}

/// Plans the lines of a file that is text on all three sides; its mode is not looked at.
pub(super) fn plan_lines(base: &File, accepted: &File, user: &File) -> FilePlan {
    let (base_bytes, accepted_bytes) = (&base.bytes.0, &accepted.bytes.0);
    let (base, accepted, mine) = (Text::of(base_bytes), Text::of(accepted_bytes), Text::of(&user.bytes.0));
    let ends = match (base.ends, mine.ends) {
        (LineEnds::Lf, LineEnds::CrLf) | (LineEnds::CrLf, LineEnds::Lf) => Ends::Ignored,
        _ => Ends::Compared,
    };
    let (base_keys, accepted_keys, user_keys) = (base.keys(ends), accepted.keys(ends), mine.keys(ends));
    let theirs = Side::new(&base_keys, &user_keys, changed_runs(&base_keys, &user_keys));

    // Hunks are those of the review; without line ends and the final newline less of them may be left.
    let hunks = group(edits(base_bytes, accepted_bytes));
    let mut changed = Vec::new();
    let mut runs_of = Vec::with_capacity(hunks.len());
    for hunk in &hunks {
        let first = changed.len();
        for edit in hunk {
            let (old, new) = (edit.old_range(), edit.new_range());
            let within = changed_runs(&base_keys[old.clone()], &accepted_keys[new.clone()]);
            let moved = |range: Range<usize>, by: usize| range.start + by..range.end + by;
            changed.extend(within.into_iter().map(|(o, n)| (moved(o, old.start), moved(n, new.start))));
        }
        runs_of.push(first..changed.len());
    }
    let ours = Side::new(&base_keys, &accepted_keys, changed);
    let fates = fates(&ours, &theirs);

    let mut plan = FilePlan { write: Write::Leave, landed: 0, already_there: 0, set_aside: None };
    let mut landing: Vec<&Run> = Vec::new();
    let mut final_newline = mine.final_newline;
    let count = hunks.len();
    for (at, (hunk, runs)) in hunks.into_iter().zip(runs_of).enumerate() {
        let mut fate = match &fates[runs.clone()] {
            fates if fates.iter().all(|fate| *fate == Fate::AlreadyThere) => Fate::AlreadyThere,
            fates if fates.iter().all(|fate| *fate == Fate::Lands) => Fate::Lands,
            _ => Fate::SetAside,
        };
        // Another final newline is part of the last hunk. It stays the user's where they changed the end of
        // the file, and that alone sets aside only a hunk that is nothing else.
        if at + 1 == count
            && fate != Fate::SetAside
            && accepted.final_newline != base.final_newline
            && accepted.final_newline != mine.final_newline
        {
            if theirs.runs.last().is_none_or(|last| last.reach.end < base_keys.len()) {
                final_newline = accepted.final_newline;
                fate = Fate::Lands;
            } else if runs.is_empty() {
                fate = Fate::SetAside;
            }
        }
        match fate {
            Fate::AlreadyThere => plan.already_there += 1,
            Fate::Lands => {
                plan.landed += 1;
                let landed = runs.filter(|&run| fates[run] == Fate::Lands);
                landing.extend(landed.map(|run| &ours.runs[run]));
            }
            Fate::SetAside => {
                let aside = SetAside { reason: Reason::Region, hunks: 0, change: Vec::new() };
                let aside = plan.set_aside.get_or_insert(aside);
                aside.hunks += 1;
                aside.change.extend(hunk.into_iter().map(|edit| meant(edit, &theirs)));
            }
        }
    }

    let mut lines: Vec<Line<'_>> = Vec::with_capacity(mine.lines.len());
    let mut next = 0;
    let mut moved = 0;
    for run in landing {
        let place = theirs.place(&run.old, &theirs.touching(&run.reach));
        lines.extend(&mine.lines[next..place.start]);
        lines.extend(accepted.lines[run.new.clone()].iter().map(|line| match ends {
            Ends::Ignored => Line { end: mine.end(), ..*line },
            Ends::Compared if line.end.is_empty() => Line { end: accepted.end(), ..*line },
            Ends::Compared => *line,
        }));
        next = place.end;
        // What is set aside below it moves with what lands.
        let growth = run.new.len() as isize - place.len() as isize;
        let below = place.end.saturating_add_signed(moved);
        for meant in plan.set_aside.iter_mut().flat_map(|aside| &mut aside.change) {
            if meant.place.start >= below {
                let moved = |line: usize| line.saturating_add_signed(growth);
                meant.place = moved(meant.place.start)..moved(meant.place.end);
            }
        }
        moved += growth;
    }
    lines.extend(&mine.lines[next..]);
    let bytes = joined(&lines, mine.end(), final_newline);
    if bytes != user.bytes.0 {
        let mut file = user.clone();
        file.bytes.0 = bytes;
        plan.write = Write::Put(file);
    }
    plan
}

/// What becomes of each run of ours.
fn fates<Key: Eq>(ours: &Side<'_, Key>, theirs: &Side<'_, Key>) -> Vec<Fate> {
    let touched: Vec<Range<usize>> = ours.runs.iter().map(|run| theirs.touching(&run.reach)).collect();
    let mut fates = Vec::with_capacity(touched.len());
    while fates.len() < touched.len() {
        // Runs of both sides that touch, and what touches those, stand or fall together.
        let first = fates.len();
        let mut own = touched[first].clone();
        let mut end = first + 1;
        while !own.is_empty() && touched.get(end).is_some_and(|next| !next.is_empty() && next.start < own.end)
        {
            own.end = own.end.max(touched[end].end);
            end += 1;
        }
        let fate = if own.is_empty() {
            Fate::Lands
        } else {
            let span = theirs.span(ours.runs[first].old.start..ours.runs[end - 1].old.end, &own);
            let there = ours.keys[ours.place(&span, &(first..end))] == theirs.keys[theirs.place(&span, &own)];
            if there { Fate::AlreadyThere } else { Fate::SetAside }
        };
        fates.resize(end, fate);
    }
    fates
}

/// A change that is set aside, with the user's lines that stand where it would have landed.
fn meant<Key: Eq>(edit: Edit, theirs: &Side<'_, Key>) -> Meant {
    let lines = edit.old_range();
    let own = theirs.touching(&lines);
    Meant { place: theirs.place(&theirs.span(lines, &own), &own), edit }
}

/// The text of these lines. `end` is for those that have none, of which the last is none where no final
/// newline is wanted; an empty line needs one to be a line.
fn joined(lines: &[Line<'_>], end: &[u8], final_newline: FinalNewline) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        bytes.extend_from_slice(line.body);
        if at + 1 < lines.len() || final_newline == FinalNewline::Present || line.body.is_empty() {
            bytes.extend_from_slice(if line.end.is_empty() { end } else { line.end });
        }
    }
    bytes
}
