//! The turn as a state machine: a pure function from a state and an input to a state and effects.
//!
//! ```text
//! phase          input            next
//! -------------  ---------------  -----------------------------------------------------------------
//! Snapshot       Begun            Setup, where there is one; else Model (round 1, attempt 1)
//!                TreeRead         Review of the user's own tree
//!                Interrupt        Snapshot, and the turn is over
//! Setup          SetUp            done: Model;  failed: Held (setup);  stopped: settle
//!                Interrupt        Setup, stopping: SetUp follows, and the turn is over
//! Model          ModelStopped     Reading
//!                Interrupt        Model, stopping: ModelStopped follows, and the turn is over
//!                Restarted        Held (cut off)
//! Held           Resume Continue  what was held, asked or run again (Model: the next attempt)
//!                Resume Review    Model: Reading.  Gates, Screening, Composing: Review
//!                Resume Skip      Setup: Model
//!                Resume Discard   AcceptedGates: Red.  Apply: Ended.  else settle: what was accepted
//!                                 earlier is applied
//! Reading        Read             screened: nothing re-proposed -> tested, else Screening
//!                Interrupt        Reading, and the turn is over (Screening too)
//! Screening      Composed         tested
//! (tested)                        no hunk left -> settle;  tree not seen -> Gates;  else Review
//! Gates          Comment Uncomment    Gates
//!                GatesRan         red, attempts left, not declining -> Model (next attempt)
//!                                 red, attempts used up, base not seen -> Gates (on the base)
//!                                 else Review
//!                Interrupt        Review, once the gates have stopped
//! Review         Decide Split Edit Comment Uncomment Ask TakenBack    Review
//!                Finish           Composing; a review of the user's own tree that takes nothing out: Ended
//! Composing      Composed         tree not seen -> AcceptedGates, else settle
//! AcceptedGates  GatesRan         red, base not seen -> AcceptedGates (on the base), else settle
//!                Interrupt        Red, once the gates have stopped
//! (settle)                        not over and something to answer -> Model (round + 1)
//!                                 red -> Red;  accepted = base -> Ended;  else Apply
//! Red            Choose           Apply, Reopening, AcceptedGates or Ended
//! Reopening      Reopened         Review of all that was accepted
//! Apply          ApplyStopped     Held, and only tried again: a part of it is written
//!                Applied          set aside and not over -> Model (round + 1), else Ended
//! Ended                           nothing
//! ```
//!
//! `Failed` holds every phase that waits for something to be done; `Restarted` asks for that again, but
//! holds the phases in which the model or gates work: they never start by themselves. `Lift` is taken
//! in every phase. Any other input is [`Refused`] and changes nothing.
//!
//! The turn is **over** when no round may follow: it was interrupted, the floor was reached, the
//! round was refused whole, the review was stopped, the model failed and the user ended it, a red state
//! is to be applied anyway, the rounds are used up, or no model takes part: the turn is a review of the
//! user's own tree.

mod effect;
mod ending;
mod input;
mod reviewing;
mod settle;
mod step;

pub use effect::{Effect, GateTarget, Index, TakenOut, Tally};
pub use ending::{Ending, EndingKind};
pub use input::{Finish, GateResult, GateRun, Input, RedChoice, Refused, Resume, SetupResult, Written};
pub use step::step;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use serde::{Deserialize, Serialize};

use crate::{
    apply::FileReport,
    constraint::{Constraint, Reproposal, copied_from, matched_lines},
    diff::Hunk,
    id::{ConstraintId, RoundNo, TreeId},
    message::Outcome,
    path::RepoPath,
    review::Review,
};

/// What holds for a whole turn: taken from the settings at its start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The gates that may run, in order. Those that the user has not agreed to are not among them.
    pub gates: Vec<String>,
    /// How the worktree is set up before the model works.
    #[serde(default)]
    pub setup: Setup,
    /// Model stops per round.
    pub attempts: u32,
    /// Rounds per turn.
    pub max_rounds: u32,
    /// The share of a constraint's lines that makes a re-proposal, over 0, to 1.
    pub threshold: f64,
    /// Re-proposals after which the model is not asked again.
    pub floor: u32,
}

/// How a worktree is set up, as far as the user has agreed to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// Ignored files and folders that are copied into it from the user's tree.
    pub copied: Vec<RepoPath>,
    /// What the platform's shell then runs in it, where it is new or the user's lockfiles changed.
    pub command: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            gates: Vec::new(),
            setup: Setup::default(),
            attempts: 3,
            max_rounds: 8,
            threshold: 0.8,
            floor: 2,
        }
    }
}

/// What opens a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Opening {
    /// The model is given this message.
    Prompt(String),
    /// The user reviews their own tree, against this revision or else HEAD. No model takes part.
    Tree {
        /// As git names it.
        rev: Option<String>,
    },
}

/// Where a turn is.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// The user's tree is being recorded.
    Snapshot,
    /// The worktree is being set up.
    Setup,
    /// The model works.
    Model,
    /// The turn waits for the user's word on a failure.
    Held(Held),
    /// The worktree is being read.
    Reading,
    /// Re-proposals are being taken out of the worktree.
    Screening(Review),
    /// Gates run on the proposed tree, or on the base.
    Gates {
        /// The review that opens after them.
        review: Review,
        /// The proposed tree.
        tree: TreeId,
        /// On which state they run.
        on: GateTarget,
    },
    /// The user reviews.
    Review(Review),
    /// The accepted state is being composed.
    Composing {
        /// The review that decided it.
        review: Review,
        /// How that was finished.
        how: Finish,
    },
    /// Gates run on the accepted state, or, where they were red on it, on the base.
    AcceptedGates(GateTarget),
    /// The accepted state is red, and the user chooses.
    Red,
    /// All that was accepted is being compared with the base, to be reviewed once more.
    Reopening,
    /// Accepted hunks are being written.
    Apply,
    /// The turn has ended.
    Ended(Ending),
}

/// Why a turn is held.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// In words for the user.
    pub reason: String,
    /// How it came to it.
    pub cause: Cause,
    /// What was going on.
    pub from: Box<Phase>,
}

/// How a turn came to be held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Something failed.
    Failed,
    /// The program was stopped.
    CutOff,
    /// An apply failed, and a part of it is in the user's files.
    PartWritten,
    /// The worktree could not be set up.
    Setup {
        /// What the command printed.
        output: String,
    },
}

/// Why no round may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Over {
    /// The model or an apply failed, and the user ended the turn.
    Failed,
    /// The user interrupted.
    Interrupted,
    /// Too many re-proposals.
    Floor,
    /// `q` on the brief.
    Refused,
    /// Esc in the review, so many hunks undecided.
    Stopped {
        /// How many.
        undecided: usize,
    },
    /// Something is to be answered, and there is no round left.
    OutOfRounds,
    /// What is accepted is applied, although a gate is red.
    Anyway,
    /// No model takes part: it is a review of the user's own tree.
    OwnTree,
}

/// Why what was accepted is not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unapplied {
    /// This gate failed on it.
    GateFailed(String),
    /// The user stopped this gate, or it never ran.
    GateStopped(String),
    /// The user discarded it.
    Discarded,
    /// It could not be written.
    NotWritten,
}

impl std::fmt::Display for Unapplied {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unapplied::GateFailed(gate) => write!(f, "gate {gate} failed"),
            Unapplied::GateStopped(gate) => write!(f, "gate {gate} was stopped"),
            Unapplied::Discarded => f.write_str("the user discarded it"),
            Unapplied::NotWritten => f.write_str("it could not be written"),
        }
    }
}

/// One turn. Its fields are read by views; [`step`] alone changes them.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    settings: Settings,
    opening: Opening,
    /// What the model was last told, or is told first, without the constraints.
    asked: String,
    phase: Phase,
    /// The snapshot that the accepted state is compared with at apply. Empty before `Begun`.
    base: TreeId,
    /// Base plus every hunk accepted so far.
    accepted: TreeId,
    round: RoundNo,
    attempt: u32,
    /// What the worktree held when the model was last asked.
    asked_on: TreeId,
    /// Whether the model was last asked because a gate is red.
    asked_for_gate: bool,
    /// Whether the model answered a red gate with no change.
    declined: bool,
    words: String,
    ignored: Vec<RepoPath>,
    constraints: Vec<Constraint>,
    /// Re-proposals counted in the turn.
    reproposals: u32,
    /// Constraints already counted in this round.
    counted: BTreeSet<ConstraintId>,
    /// What was refused in earlier attempts of this round.
    refused_earlier: Vec<(Reproposal, Hunk)>,
    /// What reviews accepted since the base was taken: hunks by file.
    accepted_so_far: BTreeMap<RepoPath, u32>,
    /// Lines of the accepted state that the user wrote, from 0; where they only took some away, the empty
    /// range there.
    own_lines: BTreeMap<RepoPath, Vec<Range<usize>>>,
    over: BTreeSet<Over>,
    /// Results by tree.
    results: BTreeMap<TreeId, Vec<GateRun>>,
    /// Gates that are red on the base too.
    red_before: BTreeSet<String>,
    /// Gates that were run on the base.
    run_on_base: BTreeSet<String>,
    /// Of the gates that are red on the base too, those that the model has not been told of.
    untold_red_before: BTreeSet<String>,
    /// The latest gate results, for the status bar.
    latest: Vec<GateRun>,
    /// The result of the latest review that the model has not been told.
    untold: Option<Untold>,
    applied: Vec<FileReport>,
    /// What each apply wrote, in order.
    written: Vec<Written>,
    /// Whether an apply has stopped with a part of it written, and is not yet completed.
    part_written: bool,
    /// The gates that are red on what the user wanted applied anyway.
    anyway: Vec<String>,
}

/// The result of a review that the model has not been told.
#[derive(Clone, Debug, PartialEq)]
struct Untold {
    outcome: Outcome,
    /// Whether something in it asks the model for an answer.
    wants_answer: bool,
}

impl Turn {
    /// A turn that opens with `opening`, and the effect that starts it.
    pub fn start(settings: Settings, opening: Opening) -> (Turn, Vec<Effect>) {
        let nothing = TreeId(String::new());
        let (asked, over) = match &opening {
            Opening::Prompt(message) => (message.clone(), BTreeSet::new()),
            Opening::Tree { .. } => (String::new(), BTreeSet::from([Over::OwnTree])),
        };
        let turn = Turn {
            settings,
            opening,
            asked,
            phase: Phase::Snapshot,
            base: nothing.clone(),
            accepted: nothing.clone(),
            round: RoundNo::FIRST,
            attempt: 1,
            asked_on: nothing,
            asked_for_gate: false,
            declined: false,
            words: String::new(),
            ignored: Vec::new(),
            constraints: Vec::new(),
            reproposals: 0,
            counted: BTreeSet::new(),
            refused_earlier: Vec::new(),
            accepted_so_far: BTreeMap::new(),
            own_lines: BTreeMap::new(),
            over,
            results: BTreeMap::new(),
            red_before: BTreeSet::new(),
            run_on_base: BTreeSet::new(),
            untold_red_before: BTreeSet::new(),
            latest: Vec::new(),
            untold: None,
            applied: Vec::new(),
            written: Vec::new(),
            part_written: false,
            anyway: Vec::new(),
        };
        let effects = turn.effects_awaited();
        (turn, effects)
    }

    /// What holds for the turn.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Where it is.
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    /// The snapshot that the accepted state is compared with.
    pub fn base(&self) -> &TreeId {
        &self.base
    }

    /// Base plus every hunk accepted so far.
    pub fn accepted(&self) -> &TreeId {
        &self.accepted
    }

    /// The round, from 1.
    pub fn round(&self) -> RoundNo {
        self.round
    }

    /// The model stop inside the round, from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The model's latest closing words.
    pub fn words(&self) -> &str {
        &self.words
    }

    /// Files that the model wrote under an ignored path.
    pub fn ignored(&self) -> &[RepoPath] {
        &self.ignored
    }

    /// What was rejected in the turn.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// Re-proposals counted in the turn.
    pub fn reproposals(&self) -> u32 {
        self.reproposals
    }

    /// How many hunks of each file reviews have accepted and no apply has written.
    pub fn accepted_so_far(&self) -> &BTreeMap<RepoPath, u32> {
        &self.accepted_so_far
    }

    /// Gate results, the latest of each gate.
    pub fn gates(&self) -> &[GateRun] {
        &self.latest
    }

    /// Whether a gate is red on the base too.
    pub fn is_red_before(&self, gate: &str) -> bool {
        self.red_before.contains(gate)
    }

    /// What applies of the turn did.
    pub fn applied(&self) -> &[FileReport] {
        &self.applied
    }

    /// The review that can be read: the open one, or the one that opens after the gates.
    pub fn review(&self) -> Option<&Review> {
        match &self.phase {
            Phase::Review(review) | Phase::Gates { review, .. } => Some(review),
            _ => None,
        }
    }

    /// Re-proposals that were refused in earlier attempts of the round, and are no part of the review.
    pub fn refused_earlier(&self) -> &[(Reproposal, Hunk)] {
        &self.refused_earlier
    }

    /// Whether `hunk`, of the open review, changes lines that the user wrote in an earlier round.
    pub fn changes_own_lines(&self, hunk: &Hunk) -> bool {
        let own = self.own_lines.get(hunk.source()).map(Vec::as_slice).unwrap_or_default();
        hunk.edits().iter().any(|edit| {
            let lines = edit.old_range();
            own.iter().any(|own| match own.is_empty() || lines.is_empty() {
                true => lines.start <= own.end && own.start <= lines.end,
                false => lines.start < own.end && own.start < lines.end,
            })
        })
    }

    /// Whether the user interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.over.contains(&Over::Interrupted)
    }

    /// Whether no round can follow the present one.
    pub fn is_last_round(&self) -> bool {
        !self.over.is_empty() || self.round.0 >= self.settings.max_rounds
    }

    /// The constraint on another file of which `hunk` is a copy.
    pub fn copied_from(&self, hunk: &Hunk) -> Option<&Constraint> {
        copied_from(hunk, &self.constraints, self.settings.threshold)
    }

    /// Which of a refused hunk's changed lines, from 0, repeat those that were rejected.
    pub fn matched_lines(&self, refused: &Reproposal, hunk: &Hunk) -> Vec<usize> {
        let constraint = self.constraints.iter().find(|constraint| constraint.id == refused.constraint);
        constraint.map(|constraint| matched_lines(hunk, constraint)).unwrap_or_default()
    }

    /// The constraint that `hunk` answers in the present round.
    pub fn answered_by(&self, hunk: &Hunk) -> Option<&Constraint> {
        self.constraints.iter().find(|constraint| constraint.is_answered_by(hunk, self.round))
    }
}

#[cfg(test)]
mod tests;
