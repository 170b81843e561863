//! What was rejected in a turn, and whether a hunk proposes it again.
//!
//! A hunk is compared with the constraints of its own file by their **counted lines**: the added
//! lines where one of them has a letter or digit, else the removed ones, without white space and
//! without empty lines, as a multiset. A moved, re-indented or split copy is the same change; another
//! change of the same lines is not. Where nothing can be counted, only an equal item is a repeat: a
//! deletion repeats a deletion, and punctuation only itself between the same neighbours, run by run, since
//! another change nearby makes one hunk of both.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::{
    diff::{CONTEXT, ChangedLine, Edit, FileHunks, Hunk, Item},
    file::{File, Mode},
    id::{ConstraintId, HunkId, RoundNo},
    path::RepoPath,
};

/// A constraint of fewer counted lines must also make up half of the hunk that repeats it.
const SMALL: usize = 4;

/// A rejected hunk, for the rest of the turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// Its name.
    pub id: ConstraintId,
    /// The round of the rejection.
    pub round: RoundNo,
    /// What was rejected.
    pub hunk: Hunk,
    /// The names that its file has had since, and had before.
    pub paths: BTreeSet<RepoPath>,
    /// The user's words, exactly.
    pub comments: Vec<String>,
    /// Whether it holds.
    pub standing: Standing,
    /// The round whose review answers the comments, once that review has opened.
    pub answered: Option<RoundNo>,
    /// Whether the model proposed it again.
    pub reproposed: bool,
    /// Line (from 0) of the accepted state at which the rejected change would lie.
    pub place: usize,
}

/// Whether a constraint holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Standing {
    /// It does.
    Holds,
    /// An accepted hunk would match it, or the user lifted it.
    Lifted,
}

/// A hunk that repeats a constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Reproposal {
    /// The hunk.
    pub hunk: HunkId,
    /// The constraint it repeats.
    pub constraint: ConstraintId,
    /// The round of the rejection.
    pub round: RoundNo,
    /// The share of the constraint's counted lines that came back, over 0, to 1.
    pub share: f64,
}

impl Constraint {
    /// The file.
    pub fn path(&self) -> &RepoPath {
        &self.hunk.path
    }

    /// The names of the file of a hunk that is rejected now.
    pub fn names_of(hunk: &Hunk) -> BTreeSet<RepoPath> {
        [hunk.path.clone(), hunk.source().clone()].into()
    }

    /// Follows its file to where an accepted rename puts it.
    pub fn follow(&mut self, accepted: &Hunk) {
        if accepted.item == Item::Rename && self.paths.contains(accepted.source()) {
            self.paths.insert(accepted.path.clone());
        }
    }

    /// Whether `hunk` is of its file.
    fn is_of_its_file(&self, hunk: &Hunk) -> bool {
        self.paths.contains(&hunk.path) || self.paths.contains(hunk.source())
    }

    /// Whether it holds, and hunks of `round` are compared with it. One with a comment asks for a
    /// variant: it is compared only from the round after the one that answered it.
    pub fn compared_in(&self, round: RoundNo) -> bool {
        let due = self.comments.is_empty() || self.answered.is_some_and(|answered| answered < round);
        self.standing == Standing::Holds && due
    }

    /// Whether `hunk`, in the review of `round`, stands where this was rejected with a comment.
    pub fn is_answered_by(&self, hunk: &Hunk, round: RoundNo) -> bool {
        if self.comments.is_empty() || self.answered != Some(round) || !self.is_of_its_file(hunk) {
            return false;
        }
        match (&self.hunk.item, &hunk.item) {
            (Item::Rename, Item::Rename) | (Item::Mode { .. }, Item::Mode { .. }) => true,
            // A name or a mode answers nothing that was said of what a file holds, nor the other way round.
            (Item::Rename | Item::Mode { .. }, _) | (_, Item::Rename | Item::Mode { .. }) => false,
            (_, Item::Lines { edits, .. }) => edits.iter().any(|edit| {
                let lines = edit.old_range();
                (lines.start.saturating_sub(CONTEXT)..=lines.end + CONTEXT).contains(&self.place)
            }),
            _ => true,
        }
    }
}

/// What a hunk is compared by.
struct Compared<'a> {
    hunk: &'a Hunk,
    /// `None` for lines of a file.
    identity: Option<Identity<'a>>,
    /// Its added lines, if it has lines: without white space, empty ones left out.
    added: Vec<String>,
    /// Its removed lines, likewise.
    removed: Vec<String>,
}

/// What makes two items of a file the same where no line of theirs can be counted.
#[derive(PartialEq, Eq, Hash)]
enum Identity<'a> {
    /// The same bytes of a file that comes whole.
    File(&'a [u8]),
    /// The same target of a symlink.
    Symlink(&'a [u8]),
    /// The file goes.
    Deletion,
    /// The same mode, as git's bits.
    Mode(u32),
    /// The same names before and after.
    Rename(&'a RepoPath, &'a RepoPath),
}

/// A run of changed lines and the old lines around it, outwards from it: up to [`CONTEXT`] of them, less where
/// the file ends or its hunk was split. The start of the file counts as a line, `None`.
struct Run<'a> {
    edit: &'a Edit,
    above: Vec<Option<&'a [u8]>>,
    below: Vec<&'a [u8]>,
}

/// The runs of a hunk; none where their neighbours are not known.
fn runs(hunk: &Hunk) -> Vec<Run<'_>> {
    let Some((first, lines)) = hunk.old_lines() else { return Vec::new() };
    let start_of_file = (first == 0).then_some(None);
    let run = |edit| {
        let (above, rest) = lines.split_at(Edit::old_range(edit).start - first);
        let above = above.iter().rev().copied().map(Some).chain(start_of_file).take(CONTEXT);
        let below = rest[edit.old.len()..].iter().copied().take(CONTEXT);
        Run { edit, above: above.collect(), below: below.collect() }
    };
    hunk.edits().iter().map(run).collect()
}

impl Run<'_> {
    /// Whether both change the same lines between the same neighbours, as far as both know theirs.
    fn is_same(&self, other: &Run<'_>) -> bool {
        (&self.edit.old, &self.edit.new) == (&other.edit.old, &other.edit.new)
            && self.above.iter().zip(&other.above).all(|(one, other)| one == other)
            && self.below.iter().zip(&other.below).all(|(one, other)| one == other)
    }

    fn len(&self) -> usize {
        self.edit.old.len() + self.edit.new.len()
    }
}

/// The runs of `hunk` that are among `rejected`, all of which have to be there. As with lines that count, a few
/// must make up half of the hunk.
fn same_runs<'a>(hunk: &'a Hunk, rejected: &[Run<'_>]) -> Vec<Run<'a>> {
    let may_be_there = |run: &Run<'_>| hunk.edits().iter().any(|edit| edit.new == run.edit.new);
    if rejected.is_empty() || !rejected.iter().all(may_be_there) {
        return Vec::new();
    }
    let mut own = runs(hunk);
    let total: usize = own.iter().map(Run::len).sum();
    if !rejected.iter().all(|run| own.iter().any(|own| own.is_same(run))) {
        return Vec::new();
    }
    own.retain(|own| rejected.iter().any(|run| own.is_same(run)));
    let lines: usize = own.iter().map(Run::len).sum();
    if lines < SMALL && 2 * lines < total { Vec::new() } else { own }
}

/// Which lines of a constraint count.
#[derive(Clone, Copy, PartialEq)]
enum Sign {
    Added,
    Removed,
}

impl<'a> Compared<'a> {
    fn of(hunk: &'a Hunk) -> Compared<'a> {
        let comes = |file: &'a File| match file.mode {
            Mode::Symlink => Identity::Symlink(&file.bytes.0),
            Mode::Regular | Mode::Executable => Identity::File(&file.bytes.0),
        };
        let identity = match &hunk.item {
            Item::Lines { .. } => None,
            Item::Create(file) | Item::Replace { new: file, .. } | Item::LineEndings { new: file, .. } => {
                Some(comes(file))
            }
            Item::Rename => Some(Identity::Rename(hunk.source(), &hunk.path)),
            Item::Delete(_) => Some(Identity::Deletion),
            Item::Mode { to, .. } => Some(Identity::Mode(to.bits())),
        };
        let mut compared = Compared { hunk, identity, added: Vec::new(), removed: Vec::new() };
        if compared.identity == Some(Identity::Deletion) {
            // A deletion is shown by lines, but a file that is written anew has not been deleted.
            return compared;
        }
        for line in hunk.changed_lines() {
            let (bytes, side) = match line {
                ChangedLine::Added(bytes) => (bytes, &mut compared.added),
                ChangedLine::Removed(bytes) => (bytes, &mut compared.removed),
            };
            let line = bare(bytes);
            if !line.is_empty() {
                side.push(line);
            }
        }
        compared
    }

    fn side(&self, sign: Sign) -> &[String] {
        match sign {
            Sign::Added => &self.added,
            Sign::Removed => &self.removed,
        }
    }

    /// The counted lines' sign; `None` where no changed line has a letter or digit.
    fn counted(&self) -> Option<Sign> {
        let has_word = |lines: &[String]| lines.iter().any(|line| is_word(line));
        if has_word(&self.added) {
            Some(Sign::Added)
        } else {
            has_word(&self.removed).then_some(Sign::Removed)
        }
    }
}

fn is_word(line: &str) -> bool {
    line.chars().any(char::is_alphanumeric)
}

/// How often each line occurs.
fn counts(lines: &[String]) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for line in lines {
        *counts.entry(line.as_str()).or_insert(0) += 1;
    }
    counts
}

/// The hunks of one file that are compared with its constraints, indexed so that a constraint meets
/// only those that share something with it. Hunks are named by their place.
struct Proposed<'a> {
    hunks: Vec<&'a Hunk>,
    /// Whether a hunk is still compared.
    free: Vec<bool>,
    same: HashMap<Identity<'a>, Vec<usize>>,
    added: Postings,
    removed: Postings,
}

/// The lines of one sign.
#[derive(Default)]
struct Postings {
    /// How many lines each hunk has.
    totals: Vec<usize>,
    /// For each line the hunks that have it, and how often.
    holders: HashMap<String, Vec<(usize, usize)>>,
}

impl Postings {
    fn push(&mut self, lines: &[String]) {
        let hunk = self.totals.len();
        self.totals.push(lines.len());
        for (line, count) in counts(lines) {
            self.holders.entry(line.to_owned()).or_default().push((hunk, count));
        }
    }
}

/// A counted line of a constraint that hunks have too.
struct Shared<'a> {
    /// How often the constraint has it.
    count: usize,
    is_word: bool,
    holders: &'a [(usize, usize)],
}

/// The counted lines of a constraint that were found again.
#[derive(Clone, Copy, Default)]
struct Matched {
    lines: usize,
    has_word: bool,
}

impl Matched {
    fn add(&mut self, lines: usize, has_word: bool) {
        self.lines += lines;
        self.has_word |= has_word && lines > 0;
    }

    /// The share of `counted` lines, where that makes hunks of `proposed` lines a re-proposal.
    fn share(self, counted: usize, proposed: usize, threshold: f64) -> Option<f64> {
        let share = self.lines as f64 / counted as f64;
        let large = counted >= SMALL || 2 * self.lines >= proposed;
        (self.has_word && share >= threshold && large).then_some(share)
    }
}

impl<'a> Proposed<'a> {
    fn new(hunks: impl IntoIterator<Item = &'a Hunk>) -> Proposed<'a> {
        let mut proposed = Proposed {
            hunks: Vec::new(),
            free: Vec::new(),
            same: HashMap::new(),
            added: Postings::default(),
            removed: Postings::default(),
        };
        for (place, hunk) in hunks.into_iter().enumerate() {
            let compared = Compared::of(hunk);
            proposed.free.push(true);
            proposed.added.push(&compared.added);
            proposed.removed.push(&compared.removed);
            if let Some(identity) = compared.identity {
                proposed.same.entry(identity).or_default().push(place);
            }
            proposed.hunks.push(hunk);
        }
        proposed
    }

    /// The hunks that are the same as a constraint of which no line can be counted.
    fn same(&self, constraint: &Compared<'_>) -> Vec<usize> {
        match &constraint.identity {
            Some(identity) => self.same.get(identity).cloned().unwrap_or_default(),
            None => {
                let rejected = runs(constraint.hunk);
                let is_same = |hunk: &usize| !same_runs(self.hunks[*hunk], &rejected).is_empty();
                (0..self.hunks.len()).filter(is_same).collect()
            }
        }
    }

    /// The free hunks that repeat `constraint`, each alone or else all of them together as the parts of
    /// a split copy, and the share of its counted lines: see section 6 of the specification.
    fn repeating(&self, constraint: &Compared<'_>, threshold: f64) -> Vec<(usize, f64)> {
        let Some(sign) = constraint.counted() else {
            let same = self.same(constraint).into_iter().filter(|hunk| self.free[*hunk]);
            return same.map(|hunk| (hunk, 1.0)).collect();
        };
        let counted = constraint.side(sign);
        let Postings { totals, holders } = match sign {
            Sign::Added => &self.added,
            Sign::Removed => &self.removed,
        };
        let shared: Vec<Shared<'_>> = counts(counted)
            .into_iter()
            .filter_map(|(line, count)| {
                Some(Shared { count, is_word: is_word(line), holders: holders.get(line)? })
            })
            .collect();
        let mut at_most = Matched::default();
        shared.iter().for_each(|line| at_most.add(line.count, line.is_word));
        if at_most.share(counted.len(), 0, threshold).is_none() {
            return Vec::new();
        }
        let mut alone = vec![Matched::default(); totals.len()];
        for line in &shared {
            for (hunk, there) in line.holders.iter().filter(|(hunk, _)| self.free[*hunk]) {
                alone[*hunk].add(line.count.min(*there), line.is_word);
            }
        }
        let hits: Vec<(usize, f64)> = alone
            .iter()
            .zip(totals)
            .enumerate()
            .filter_map(|(hunk, (found, total))| Some((hunk, found.share(counted.len(), *total, threshold)?)))
            .collect();
        if !hits.is_empty() {
            return hits;
        }
        // A part of a split copy is a hunk of which at least half is the constraint's.
        let is_part = |hunk: usize| alone[hunk].lines > 0 && 2 * alone[hunk].lines >= totals[hunk];
        let mut together = Matched::default();
        for line in &shared {
            let there = line.holders.iter().filter(|(hunk, _)| is_part(*hunk)).map(|(_, there)| there).sum();
            together.add(line.count.min(there), line.is_word);
        }
        let parts: Vec<usize> = (0..totals.len()).filter(|hunk| is_part(*hunk)).collect();
        let total = parts.iter().map(|hunk| totals[*hunk]).sum();
        let share = together.share(counted.len(), total, threshold);
        share.map_or_else(Vec::new, |share| parts.into_iter().map(|hunk| (hunk, share)).collect())
    }
}

/// The constraints that accepting `accepted` lifts: those that hold and that these hunks would repeat,
/// alone or together, in whichever round they come to be compared.
pub fn lifted_by(constraints: &[Constraint], accepted: &[&Hunk], threshold: f64) -> Vec<ConstraintId> {
    let mut by_source: BTreeMap<&RepoPath, Vec<&Hunk>> = BTreeMap::new();
    for hunk in accepted {
        by_source.entry(hunk.source()).or_default().push(hunk);
    }
    let accepted: Vec<(&Hunk, Proposed<'_>)> =
        by_source.into_values().map(|hunks| (hunks[0], Proposed::new(hunks))).collect();
    let is_lifted = |constraint: &&Constraint| {
        constraint.standing == Standing::Holds
            && accepted.iter().any(|(of, accepted)| {
                constraint.is_of_its_file(of)
                    && !accepted.repeating(&Compared::of(&constraint.hunk), threshold).is_empty()
            })
    };
    constraints.iter().filter(is_lifted).map(|constraint| constraint.id.clone()).collect()
}

/// The hunks of `files` that repeat a constraint compared in `round`. Each hunk is named once.
pub fn reproposals(
    files: &[FileHunks],
    constraints: &[Constraint],
    round: RoundNo,
    threshold: f64,
) -> Vec<Reproposal> {
    let mut by_path: BTreeMap<&RepoPath, Vec<usize>> = BTreeMap::new();
    for (place, constraint) in constraints.iter().enumerate() {
        if constraint.compared_in(round) {
            constraint.paths.iter().for_each(|path| by_path.entry(path).or_default().push(place));
        }
    }
    let mut found: Vec<Reproposal> = Vec::new();
    for file in files {
        let names = file.hunks.first().map(|hunk| [&hunk.path, hunk.source()]).into_iter().flatten();
        // In the order in which they were rejected, and each once.
        let own: BTreeSet<usize> = names.filter_map(|name| by_path.get(name)).flatten().copied().collect();
        if own.is_empty() {
            continue;
        }
        let mut proposed = Proposed::new(&file.hunks);
        for constraint in own.into_iter().map(|place| &constraints[place]) {
            for (hunk, share) in proposed.repeating(&Compared::of(&constraint.hunk), threshold) {
                proposed.free[hunk] = false;
                found.push(Reproposal {
                    hunk: file.hunks[hunk].id.clone(),
                    constraint: constraint.id.clone(),
                    round: constraint.round,
                    share,
                });
            }
        }
    }
    found
}

/// The constraint on another file of which `hunk` is a copy. It is shown and not refused: there it may be right.
/// A comment puts nothing off here, since moving the lines to another file is no answer to it.
pub fn copied_from<'a>(hunk: &Hunk, constraints: &'a [Constraint], threshold: f64) -> Option<&'a Constraint> {
    let is_other = |own: &&Constraint| own.standing == Standing::Holds && !own.is_of_its_file(hunk);
    let mut own = None;
    constraints.iter().filter(is_other).find(|constraint| {
        let compared = Compared::of(&constraint.hunk);
        // Without lines to count, the name of the file is all that could tell one from another.
        compared.counted().is_some()
            && !own.get_or_insert_with(|| Proposed::new([hunk])).repeating(&compared, threshold).is_empty()
    })
}

/// The rows of `hunk`'s changed lines, from 0 among them, that repeat counted lines of `constraint`.
pub fn matched_lines(hunk: &Hunk, constraint: &Constraint) -> Vec<usize> {
    let compared = Compared::of(&constraint.hunk);
    let Some(sign) = compared.counted() else { return same_lines(hunk, &constraint.hunk) };
    let mut left = counts(compared.side(sign));
    let lines = hunk.changed_lines().into_iter().enumerate();
    let matched = lines.filter(|(_, line)| {
        let (bytes, own) = match line {
            ChangedLine::Added(bytes) => (bytes, Sign::Added),
            ChangedLine::Removed(bytes) => (bytes, Sign::Removed),
        };
        match left.get_mut(bare(bytes).as_str()) {
            Some(count) if *count > 0 && own == sign => {
                *count -= 1;
                true
            }
            _ => false,
        }
    });
    matched.map(|(row, _)| row).collect()
}

/// As [`matched_lines`], of a constraint without lines that count: those of the same runs, or all of a file
/// that comes whole.
fn same_lines(hunk: &Hunk, rejected: &Hunk) -> Vec<usize> {
    let Item::Lines { .. } = rejected.item else { return (0..hunk.changed_lines().len()).collect() };
    let same = same_runs(hunk, &runs(rejected));
    let mut rows = 0..;
    let of_edit = |edit: &Edit| -> Vec<usize> {
        let own = rows.by_ref().take(edit.old.len() + edit.new.len()).collect();
        if same.iter().any(|run| std::ptr::eq(run.edit, edit)) { own } else { Vec::new() }
    };
    hunk.edits().iter().flat_map(of_edit).collect()
}

/// A line without white space.
fn bare(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests;
