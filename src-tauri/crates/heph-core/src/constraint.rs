//! What was rejected in a turn, and whether a hunk proposes it again.
//!
//! A hunk is compared with the constraints of its own file by their **counted lines**: the added
//! lines where one of them has a letter or digit, else the removed ones, without white space and
//! without empty lines, as a multiset. A moved, re-indented or split copy is the same change; another
//! change of the same lines is not.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    diff::{CONTEXT, ChangedLine, FileHunks, Hunk, Item},
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

    /// Whether it holds, and hunks of `round` are compared with it. One with a comment asks for a
    /// variant: it is compared only from the round after the one that answered it.
    pub fn compared_in(&self, round: RoundNo) -> bool {
        let due = self.comments.is_empty() || self.answered.is_some_and(|answered| answered < round);
        self.standing == Standing::Holds && due
    }

    /// Whether `hunk`, in the review of `round`, stands where this was rejected with a comment.
    pub fn is_answered_by(&self, hunk: &Hunk, round: RoundNo) -> bool {
        if self.comments.is_empty() || self.answered != Some(round) || self.path() != &hunk.path {
            return false;
        }
        match &hunk.item {
            Item::Lines { edits, .. } => edits.iter().any(|edit| {
                let lines = edit.old_range();
                (lines.start.saturating_sub(CONTEXT)..=lines.end + CONTEXT).contains(&self.place)
            }),
            _ => true,
        }
    }
}

/// Changed lines as they are compared: sign apart, white space gone, empty ones left out.
struct Lines {
    added: Vec<String>,
    removed: Vec<String>,
}

/// Which lines of a constraint count.
#[derive(Clone, Copy, PartialEq)]
enum Sign {
    Added,
    Removed,
}

impl Lines {
    fn of(hunk: &Hunk) -> Lines {
        let mut lines = Lines { added: Vec::new(), removed: Vec::new() };
        for line in hunk.changed_lines() {
            let (bytes, side) = match line {
                ChangedLine::Added(bytes) => (bytes, &mut lines.added),
                ChangedLine::Removed(bytes) => (bytes, &mut lines.removed),
            };
            let line: String =
                String::from_utf8_lossy(bytes).chars().filter(|c| !c.is_whitespace()).collect();
            if !line.is_empty() {
                side.push(line);
            }
        }
        lines
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

/// The lines of `a` that are in `b` too, each as often as both have it.
fn common<'a>(a: &'a [String], b: &[String]) -> Vec<&'a str> {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for line in b {
        *left.entry(line).or_insert(0) += 1;
    }
    a.iter()
        .map(String::as_str)
        .filter(|line| match left.get_mut(line) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        })
        .collect()
}

/// The share of `constraint`'s counted lines that `hunks` together hold, where that makes them a
/// re-proposal: see section 6 of the specification.
fn repeats(constraint: &Hunk, lines: &Lines, hunks: &[(&Hunk, &Lines)], threshold: f64) -> Option<f64> {
    let Some(sign) = lines.counted() else {
        // Without a word to go by, only the very same change between the same neighbours is a repeat;
        // an item without lines has neither, and is named by its content.
        return hunks.iter().any(|(hunk, _)| hunk.id == constraint.id).then_some(1.0);
    };
    let counted = lines.side(sign);
    let proposed: Vec<String> =
        hunks.iter().flat_map(|(_, lines)| lines.side(sign).iter().cloned()).collect();
    let matched = common(counted, &proposed);
    let share = matched.len() as f64 / counted.len() as f64;
    let enough = share >= threshold && matched.iter().any(|line| is_word(line));
    let large = counted.len() >= SMALL || 2 * matched.len() >= proposed.len();
    (enough && large).then_some(share)
}

/// The share of `constraint`'s lines that `hunk` alone repeats, where it is a re-proposal of it.
pub fn repeated_share(constraint: &Constraint, hunk: &Hunk, threshold: f64) -> Option<f64> {
    if constraint.path() != &hunk.path {
        return None;
    }
    repeats(&constraint.hunk, &Lines::of(&constraint.hunk), &[(hunk, &Lines::of(hunk))], threshold)
}

/// The hunks of `files` that repeat a constraint compared in `round`. Each hunk is named once.
pub fn reproposals(
    files: &[FileHunks],
    constraints: &[Constraint],
    round: RoundNo,
    threshold: f64,
) -> Vec<Reproposal> {
    let mut found: Vec<Reproposal> = Vec::new();
    for file in files {
        let own: Vec<&Constraint> = constraints
            .iter()
            .filter(|constraint| constraint.path() == &file.path && constraint.compared_in(round))
            .collect();
        if own.is_empty() {
            continue;
        }
        let proposed: Vec<(&Hunk, Lines)> = file.hunks.iter().map(|hunk| (hunk, Lines::of(hunk))).collect();
        let mut taken: BTreeSet<&HunkId> = BTreeSet::new();
        for constraint in own {
            let lines = Lines::of(&constraint.hunk);
            let free = proposed.iter().filter(|(hunk, _)| !taken.contains(&hunk.id));
            let free: Vec<(&Hunk, &Lines)> = free.map(|(hunk, lines)| (*hunk, lines)).collect();
            let mut hits: Vec<(&HunkId, f64)> = free
                .iter()
                .filter_map(|one| Some((&one.0.id, repeats(&constraint.hunk, &lines, &[*one], threshold)?)))
                .collect();
            if hits.is_empty() {
                let parts = split_copy(&lines, &free);
                let share = (parts.len() > 1).then(|| repeats(&constraint.hunk, &lines, &parts, threshold));
                if let Some(share) = share.flatten() {
                    hits = parts.iter().map(|(hunk, _)| (&hunk.id, share)).collect();
                }
            }
            for (hunk, share) in hits {
                taken.insert(hunk);
                let constraint_id = constraint.id.clone();
                found.push(Reproposal {
                    hunk: hunk.clone(),
                    constraint: constraint_id,
                    round: constraint.round,
                    share,
                });
            }
        }
    }
    found
}

/// The hunks of which at least half of the counted lines are the constraint's: a copy in parts.
fn split_copy<'a>(constraint: &Lines, hunks: &[(&'a Hunk, &'a Lines)]) -> Vec<(&'a Hunk, &'a Lines)> {
    let Some(sign) = constraint.counted() else { return Vec::new() };
    let is_part = |lines: &Lines| {
        let own = lines.side(sign);
        !own.is_empty() && 2 * common(own, constraint.side(sign)).len() >= own.len()
    };
    hunks.iter().filter(|(_, lines)| is_part(lines)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        diff::hunks,
        file::{File, FileChange, Mode},
        text::Bytes,
    };

    fn file_hunks(old: &str, new: &str) -> FileHunks {
        let file = |text: &str| File { mode: Mode::Regular, bytes: Bytes(text.into()) };
        hunks(&FileChange {
            path: RepoPath::new("a.rs").unwrap(),
            old: Some(file(old)),
            new: Some(file(new)),
        })
    }

    fn constraint(old: &str, new: &str, comments: &[&str]) -> Constraint {
        Constraint {
            id: ConstraintId("c".into()),
            round: RoundNo(1),
            hunk: file_hunks(old, new).hunks.remove(0),
            comments: comments.iter().map(|c| (*c).to_owned()).collect(),
            standing: Standing::Holds,
            answered: None,
            reproposed: false,
            place: 0,
        }
    }

    const BASE: &str = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np\n";
    const FIVE: &str = "/// Adds.\nfn add(a: u8, b: u8) -> u8 {\n    let sum = a + b;\n    sum\n}\n";

    fn with(at: &str, text: &str) -> String {
        BASE.replace(&format!("{at}\n"), &format!("{at}\n{text}"))
    }

    fn is_refused(constraint: &Constraint, proposed: &str, round: u32) -> bool {
        !reproposals(&[file_hunks(BASE, proposed)], std::slice::from_ref(constraint), RoundNo(round), 0.8)
            .is_empty()
    }

    #[test]
    fn a_moved_and_reindented_copy_is_refused_and_another_change_of_the_lines_is_not() {
        let rejected = constraint(BASE, &with("c", FIVE), &[]);
        let indented: String = FIVE.lines().map(|line| format!("    {line}\n")).collect();
        assert!(is_refused(&rejected, &with("m", &indented), 2));
        assert!(!is_refused(
            &rejected,
            &with("c", "fn multiply() {\n    let product = 2;\n    product\n}\n"),
            2
        ));
    }

    #[test]
    fn four_of_five_lines_are_a_reproposal_but_not_in_the_round_that_answers_a_comment() {
        let four = FIVE.split_once('\n').unwrap().1;
        assert!(is_refused(&constraint(BASE, &with("c", FIVE), &[]), &with("c", four), 2));
        let mut commented = constraint(BASE, &with("c", FIVE), &["No doc comment"]);
        assert!(!is_refused(&commented, &with("c", four), 2));
        commented.answered = Some(RoundNo(2));
        assert!(!is_refused(&commented, &with("c", four), 2));
        assert!(is_refused(&commented, &with("c", four), 3));
    }

    #[test]
    fn a_copy_split_over_two_places_is_refused_whole() {
        let rejected = constraint(BASE, &with("c", FIVE), &[]);
        let (first, rest) = FIVE.split_at(FIVE.find("    let").unwrap());
        let split = with("b", first).replace("n\n", &format!("n\n{rest}"));
        let found = reproposals(&[file_hunks(BASE, &split)], &[rejected], RoundNo(2), 0.8);
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn one_rejected_line_inside_much_else_is_no_reproposal() {
        let rejected = constraint(BASE, &with("c", "use std::fmt;\n"), &[]);
        assert!(is_refused(&rejected, &with("d", "use std::fmt;\n"), 2));
        assert!(!is_refused(
            &rejected,
            &with("d", "use std::fmt;\nuse std::io;\nuse std::fs;\nfn x() {}\n"),
            2
        ));
    }

    #[test]
    fn punctuation_alone_is_refused_only_at_the_same_place() {
        let rejected = constraint(BASE, &with("c", "}\n"), &[]);
        assert!(is_refused(&rejected, &with("c", "}\n"), 2));
        assert!(!is_refused(&rejected, &with("m", "}\n"), 2));
    }

    #[test]
    fn a_lifted_constraint_refuses_nothing() {
        let mut rejected = constraint(BASE, &with("c", FIVE), &[]);
        rejected.standing = Standing::Lifted;
        assert!(!is_refused(&rejected, &with("c", FIVE), 2));
    }
}
