//! Which edit's reason belongs to which hunk.
//!
//! The model gives a reason with each edit; the user reviews hunks. Each line of a file is followed
//! through the edits of a round, so that a hunk carries the reasons of the edits whose lines it
//! holds, in the order of the edits, each once. Where no edit accounts for a line (a command wrote
//! it), there is no reason: none is invented.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    diff::{Edit, FileHunks, Item, edits},
    path::RepoPath,
    text::{Bytes, lines},
};

/// One edit that a model made with a tool, and why. `None` for a side that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditNote {
    /// The file.
    pub path: RepoPath,
    /// Its bytes before the edit.
    pub before: Option<Bytes>,
    /// Its bytes after the edit.
    pub after: Option<Bytes>,
    /// The model's own sentence.
    pub rationale: String,
}

/// Where a line of a file came from. The number names an edit, by its place in the round.
#[derive(Clone, Copy)]
enum Origin {
    /// Line of the accepted state.
    Accepted(usize),
    /// Written by an edit.
    Edit(usize),
    /// Written by something else.
    Unknown,
}

/// One file's lines, followed through the edits of a round.
struct Trace {
    text: Vec<u8>,
    origins: Vec<Origin>,
    /// For each line of the accepted state, the edit that removed it.
    removed_by: Vec<Option<usize>>,
}

impl Trace {
    fn new(accepted: &[u8]) -> Trace {
        let count = lines(accepted).len();
        Trace {
            text: accepted.to_vec(),
            origins: (0..count).map(Origin::Accepted).collect(),
            removed_by: vec![None; count],
        }
    }

    fn follow(&mut self, text: &[u8], by: Option<usize>) {
        for edit in edits(&self.text, text).iter().rev() {
            let come = by.map_or(Origin::Unknown, Origin::Edit);
            let gone = self.origins.splice(edit.old_range(), edit.new.iter().map(|_| come));
            for origin in gone {
                if let Origin::Accepted(line) = origin {
                    self.removed_by[line] = by;
                }
            }
        }
        self.text = text.to_vec();
    }
}

/// Gives each hunk of `file` its rationale. `accepted` and `proposed` are the file's bytes on the two
/// sides of the review (empty where it does not exist); `notes` are all edits of the round, in order.
pub fn attribute(file: &mut FileHunks, accepted: &[u8], proposed: &[u8], notes: &[EditNote]) {
    let old_path = file.hunks.first().and_then(|hunk| hunk.old_path.clone());
    let is_own = |note: &EditNote| note.path == file.path || Some(&note.path) == old_path.as_ref();
    let own: Vec<(usize, &EditNote)> = notes.iter().enumerate().filter(|(_, note)| is_own(note)).collect();
    // A move takes a file away in one place and puts it down in another: none of its lines is new.
    let is_move = |note: &EditNote| old_path.is_some() && (note.before.is_none() || note.after.is_none());
    let (moved, own): (Vec<_>, Vec<_>) = own.into_iter().partition(|(_, note)| is_move(note));
    let moves: BTreeSet<usize> = moved.iter().map(|(number, _)| *number).collect();
    if own.is_empty() && moves.is_empty() {
        return;
    }
    let mut trace = Trace::new(accepted);
    for (number, note) in &own {
        trace.follow(note.before.as_ref().map_or(&[], |bytes| &bytes.0), None);
        trace.follow(note.after.as_ref().map_or(&[], |bytes| &bytes.0), Some(*number));
    }
    trace.follow(proposed, None);
    let reasons_of = |numbers: &BTreeSet<usize>| -> BTreeMap<usize, String> {
        numbers.iter().map(|&number| (number, notes[number].rationale.clone())).collect()
    };
    for hunk in &mut file.hunks {
        hunk.reasons = match &hunk.item {
            Item::Lines { edits, .. } => {
                let of_edit = |edit: &Edit| {
                    let removed = trace.removed_by[edit.old_range()].iter().flatten().copied();
                    let added = trace.origins[edit.new_range()].iter().filter_map(|origin| match origin {
                        Origin::Edit(number) => Some(*number),
                        Origin::Accepted(_) | Origin::Unknown => None,
                    });
                    reasons_of(&removed.chain(added).collect())
                };
                edits.iter().map(of_edit).collect()
            }
            Item::Mode { .. } => Vec::new(),
            Item::Rename => vec![reasons_of(&moves)],
            Item::LineEndings { .. } | Item::Create(_) | Item::Delete(_) | Item::Replace { .. } => {
                vec![reasons_of(&own.iter().map(|(number, _)| *number).collect())]
            }
        };
        hunk.rationale = joined(&hunk.reasons);
    }
}

/// The reasons in the order of the edits, each once; `None` where there is none.
pub(crate) fn joined(reasons: &[BTreeMap<usize, String>]) -> Option<String> {
    let in_order: BTreeMap<&usize, &String> = reasons.iter().flatten().collect();
    let mut sentences: Vec<&str> = Vec::new();
    for sentence in in_order.into_values() {
        if !sentences.contains(&sentence.as_str()) {
            sentences.push(sentence);
        }
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        diff::hunks,
        file::{File, FileChange, Mode},
    };

    fn note(before: &str, after: &str, rationale: &str) -> EditNote {
        EditNote {
            path: RepoPath::new("a").unwrap(),
            before: Some(Bytes(before.into())),
            after: Some(Bytes(after.into())),
            rationale: rationale.into(),
        }
    }

    fn rationales(old: &str, new: &str, notes: &[EditNote]) -> Vec<Option<String>> {
        let file = |text: &str| File { mode: Mode::Regular, bytes: Bytes(text.into()) };
        let change = FileChange {
            path: RepoPath::new("a").unwrap(),
            old_path: None,
            old: Some(file(old)),
            new: Some(file(new)),
        };
        let mut found = hunks(&change);
        attribute(&mut found, old.as_bytes(), new.as_bytes(), notes);
        found.hunks.into_iter().map(|hunk| hunk.rationale).collect()
    }

    #[test]
    fn each_hunk_carries_the_reasons_of_its_own_edits_in_their_order() {
        let old: String = (1..=40).map(|n| format!("{n}\n")).collect();
        let one = old.replace("\n20\n", "\ntwenty\n");
        let two = one.replace("2\n3\n4\n", "2\n4\n");
        let three = two.replace("twenty\n21\n", "twenty\ntwenty-one\n");
        let notes = [
            note(&old, &one, "Say it in words."),
            note(&one, &two, "Three is too many."),
            note(&two, &three, "Also here."),
        ];
        assert_eq!(
            rationales(&old, &three, &notes),
            [Some("Three is too many.".to_owned()), Some("Say it in words. Also here.".to_owned())]
        );
    }

    #[test]
    fn lines_that_no_edit_accounts_for_have_no_reason() {
        let old: String = (1..=40).map(|n| format!("{n}\n")).collect();
        let one = old.replace("\n20\n", "\ntwenty\n");
        let formatted = one.replace("\n35\n", "\n  35\n");
        let notes = [note(&old, &one, "Say it in words.")];
        assert_eq!(rationales(&old, &formatted, &notes), [Some("Say it in words.".to_owned()), None]);
    }
}
