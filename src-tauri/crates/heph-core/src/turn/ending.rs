use serde::{Deserialize, Serialize};

use super::{Over, Turn, Unapplied, Written};
use crate::path::RepoPath;

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// The kind.
    pub kind: EndingKind,
    /// Files written, with the number of hunks that landed or were there already.
    pub applied: Vec<(RepoPath, u32)>,
    /// Files with hunks set aside, and how many.
    pub set_aside: Vec<(RepoPath, u32)>,
    /// Re-proposals counted.
    pub reproposals: u32,
    /// Rounds.
    pub rounds: u32,
    /// What each apply wrote, in order: an undo takes it back.
    #[serde(default)]
    pub written: Vec<Written>,
    /// The gates that are red on what was applied anyway.
    #[serde(default)]
    pub anyway: Vec<String>,
}

/// The kinds of ending. Where several fit, the first of them in this order holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndingKind {
    /// Model, network or disk failed, and the user ended the turn.
    Failed,
    /// Nothing was applied, since a gate is red.
    Red {
        /// Why, as `gate NAME failed`.
        why: String,
    },
    /// The user interrupted.
    Interrupted,
    /// Too many re-proposals.
    Floor,
    /// The user refused the round whole.
    Refused,
    /// The review was stopped partway.
    Stopped {
        /// Hunks not reached.
        undecided: usize,
    },
    /// Something was to be answered, and no round was left.
    OutOfRounds,
    /// Accepted hunks are in the user's tree.
    Applied,
    /// Something was proposed, and nothing of it reached the user's tree.
    NothingApplied,
    /// Nothing was proposed.
    Answered,
    /// The user reviewed their own tree.
    Reviewed,
}

impl Turn {
    /// The ending, where nothing more is to be done.
    pub(super) fn ending(&self, unapplied: Option<Unapplied>) -> Ending {
        let mut applied: Vec<(RepoPath, u32)> = Vec::new();
        let mut set_aside: Vec<(RepoPath, u32)> = Vec::new();
        for file in &self.applied {
            let count = file.landed + file.already_there;
            match applied.iter_mut().find(|(path, _)| *path == file.path) {
                Some((_, sum)) => *sum += count,
                None if count > 0 => applied.push((file.path.clone(), count)),
                None => {}
            }
            set_aside.retain(|(path, _)| *path != file.path);
            if let Some(aside) = &file.set_aside {
                set_aside.push((file.path.clone(), aside.hunks));
            }
        }
        // `Over` is declared in the order of precedence; a red state comes right after a failure.
        let red = match unapplied {
            Some(why @ (Unapplied::GateFailed(_) | Unapplied::GateStopped(_))) => Some(why.to_string()),
            Some(Unapplied::Discarded | Unapplied::NotWritten) | None => None,
        };
        // A state that was reviewed once more may have been stopped twice.
        let stopped = self.over.iter().map(|over| match over {
            Over::Stopped { undecided } => *undecided,
            _ => 0,
        });
        let undecided = stopped.max().unwrap_or_default();
        let kind = match (self.over.first(), red) {
            (Some(Over::Failed), _) => EndingKind::Failed,
            (_, Some(why)) => EndingKind::Red { why },
            (Some(Over::Interrupted), _) => EndingKind::Interrupted,
            (Some(Over::Floor), _) => EndingKind::Floor,
            (Some(Over::Refused), _) => EndingKind::Refused,
            (Some(Over::Stopped { .. }), _) if undecided > 0 => EndingKind::Stopped { undecided },
            (Some(Over::OutOfRounds), _) => EndingKind::OutOfRounds,
            (Some(Over::OwnTree), _) => EndingKind::Reviewed,
            _ if !applied.is_empty() => EndingKind::Applied,
            _ if !set_aside.is_empty() || !self.constraints.is_empty() => EndingKind::NothingApplied,
            _ => EndingKind::Answered,
        };
        Ending {
            kind,
            applied,
            set_aside,
            reproposals: self.reproposals,
            rounds: self.round.0,
            written: self.written.clone(),
            anyway: self.anyway.clone(),
        }
    }
}

impl Ending {
    /// The one line of the status bar.
    pub fn line(&self) -> String {
        let hunks: u32 = self.applied.iter().map(|(_, hunks)| hunks).sum();
        let files = self.applied.len() as u32;
        let applied = format!("Applied {} in {}", count(hunks, "hunk"), count(files, "file"));
        let sentence = |what: &str| match hunks {
            0 => format!("{what}, nothing applied"),
            _ => format!("{what}. {applied}"),
        };
        let mut line = match &self.kind {
            EndingKind::Failed => sentence("Failed"),
            EndingKind::Red { why } if hunks == 0 => format!("Red, not applied: {why}"),
            EndingKind::Red { why } => format!("Red, not applied: {why}. {applied} before"),
            EndingKind::Interrupted => sentence(&format!("Interrupted in round {}", self.rounds)),
            EndingKind::Floor => sentence(&format!("Floor: {}", count(self.reproposals, "re-proposal"))),
            EndingKind::Refused => sentence("Refused"),
            EndingKind::Stopped { undecided } => sentence(&format!("Stopped partway, {undecided} undecided")),
            EndingKind::OutOfRounds => sentence(&format!("Out of rounds ({})", self.rounds)),
            EndingKind::Applied => applied,
            EndingKind::NothingApplied => "Nothing applied".into(),
            EndingKind::Answered => "Answered, nothing was changed".into(),
            EndingKind::Reviewed if hunks == 0 => "Reviewed, nothing taken out".into(),
            EndingKind::Reviewed => {
                let files = count(self.applied.len() as u32, "file");
                format!("Reviewed. Took {} out of {files}", count(hunks, "hunk"))
            }
        };
        if !self.anyway.is_empty() && hunks > 0 {
            let (gates, noun) =
                (self.anyway.join(", "), if self.anyway.len() == 1 { "gate" } else { "gates" });
            line.push_str(&format!(", although {noun} {gates} failed"));
        }
        if !self.set_aside.is_empty() {
            let hunks: u32 = self.set_aside.iter().map(|(_, hunks)| hunks).sum();
            let files: Vec<String> = self.set_aside.iter().map(|(path, _)| path.display()).collect();
            line.push_str(&format!(", {hunks} set aside in {}", files.join(", ")));
        }
        line
    }
}

fn count(number: u32, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
