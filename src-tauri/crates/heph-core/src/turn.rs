//! The turn as a state machine: a pure function from a state and an input to a state and effects.
//!
//! ```text
//! phase          input            next
//! -------------  ---------------  -----------------------------------------------------------------
//! Snapshot       Begun            Model (round 1, attempt 1)
//! Model          ModelStopped     Reading
//!                Interrupt        Model, stopping: ModelStopped follows, and the turn is over
//!                Restarted        Held (cut off)
//! Held           Resume Continue  what was held, asked or run again (Model: the next attempt)
//!                Resume Review    Model: Reading.  Gates, Screening, Composing: Review
//!                Resume Discard   AcceptedGates: Red.  Apply: Ended.  else settle: what was accepted
//!                                 earlier is applied
//! Reading        Read             screened: nothing re-proposed -> tested, else Screening
//!                Interrupt        Reading, and the turn is over (Screening too)
//! Screening      Composed         tested
//! (tested)                        no hunk left -> settle;  tree not seen -> Gates;  else Review
//! Gates          GatesRan         red, attempts left, not declining -> Model (next attempt)
//!                                 red, attempts used up, base not seen -> Gates (on the base)
//!                                 else Review
//!                Interrupt        Review, once the gates have stopped
//! Review         Decide Comment Uncomment Ask Lift    Review
//!                Finish           Composing
//! Composing      Composed         tree not seen -> AcceptedGates, else settle
//! AcceptedGates  GatesRan         red, base not seen -> AcceptedGates (on the base), else settle
//!                Interrupt        Red, once the gates have stopped
//! (settle)                        not over and something to answer -> Model (round + 1)
//!                                 red -> Red;  accepted = base -> Ended;  else Apply
//! Red            Choose           Apply, AcceptedGates or Ended
//! Apply          Applied          set aside and not over -> Model (round + 1), else Ended
//! Ended                           nothing
//! ```
//!
//! `Failed` holds every phase that waits for something to be done; `Restarted` asks for that again, but
//! holds the phases in which the model or gates work: they never start by themselves. `Lift` is taken
//! in every phase. Any other input is [`Refused`] and changes nothing.
//!
//! The turn is **over** when no round may follow: it was interrupted, the floor was reached, the
//! round was refused whole, the review was stopped, the model failed and the user ended it, or the
//! rounds are used up.

mod ending;
mod step;

pub use ending::{Ending, EndingKind};
pub use step::step;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    apply::FileReport,
    constraint::Constraint,
    diff::{FileHunks, Hunk},
    id::{CommentId, ConstraintId, HunkId, RoundNo, TreeId},
    message::Outcome,
    path::RepoPath,
    review::{Comment, Review, Verdict},
};

/// What holds for a whole turn: taken from the settings at its start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The gates that may run, in order. Those that the user has not agreed to are not among them.
    pub gates: Vec<String>,
    /// Model stops per round.
    pub attempts: u32,
    /// Rounds per turn.
    pub max_rounds: u32,
    /// The share of a constraint's lines that makes a re-proposal, over 0, to 1.
    pub threshold: f64,
    /// Re-proposals after which the model is not asked again.
    pub floor: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { gates: Vec::new(), attempts: 3, max_rounds: 8, threshold: 0.8, floor: 2 }
    }
}

/// What comes into a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// The user's tree is recorded and the worktree holds it.
    Begun {
        /// The base.
        base: TreeId,
    },
    /// The model stopped, by itself or because it was stopped.
    ModelStopped {
        /// Its closing words.
        words: String,
    },
    /// What the phase waits for could not be done.
    Failed {
        /// In words for the user.
        reason: String,
    },
    /// The worktree was read, and compared with the accepted state.
    Read {
        /// What it holds.
        tree: TreeId,
        /// The difference, with rationales.
        files: Vec<FileHunks>,
        /// Files written under an ignored path.
        ignored: Vec<RepoPath>,
    },
    /// The worktree holds the composed state.
    Composed {
        /// It.
        tree: TreeId,
    },
    /// Gates have run.
    GatesRan {
        /// On which tree.
        tree: TreeId,
        /// One for each gate asked for.
        runs: Vec<GateRun>,
    },
    /// The user gives or clears a verdict.
    Decide {
        /// The hunk.
        hunk: HunkId,
        /// The verdict.
        verdict: Option<Verdict>,
    },
    /// The user comments.
    Comment(Comment),
    /// The user takes a comment back.
    Uncomment(CommentId),
    /// The user wants to be asked about a refused re-proposal.
    Ask(HunkId),
    /// The user lifts a constraint.
    Lift(ConstraintId),
    /// The user finishes the review.
    Finish(Finish),
    /// The user chooses what becomes of a red state.
    Choose(RedChoice),
    /// Accepted hunks were written.
    Applied {
        /// File by file.
        files: Vec<FileReport>,
        /// The user's tree afterwards, which the worktree now holds: the new base.
        base: TreeId,
    },
    /// The user stops model or gates.
    Interrupt,
    /// The user goes on with a held turn.
    Resume(Resume),
    /// The program was started anew, and knows only what was logged.
    Restarted,
}

/// How a review is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Finish {
    /// Every hunk has a verdict.
    Decided,
    /// What has none is accepted, but for what runs on the user's machine.
    AcceptAll,
    /// `q` on the brief: the round is refused whole.
    RefuseAll,
    /// `q` in the middle: what has none is rejected.
    RefuseRest,
    /// Esc: the review stops partway.
    Stop,
}

/// How a held turn goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resume {
    /// What was held is tried again.
    Continue,
    /// What is there is reviewed.
    Review,
    /// The turn ends; what was accepted before is gated and applied.
    Discard,
}

/// What becomes of a red accepted state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RedChoice {
    /// It is written all the same.
    ApplyAnyway,
    /// Its gates run again.
    RunAgain,
    /// Nothing is written.
    Discard,
}

/// One gate's run on one tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateRun {
    /// The gate.
    pub name: String,
    /// What came of it.
    pub result: GateResult,
    /// How long it took.
    pub seconds: f64,
    /// What it printed.
    pub output: String,
}

/// What came of a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GateResult {
    /// Exit 0.
    Green,
    /// Another exit.
    Red {
        /// It.
        exit: i32,
    },
    /// It could not be started, was not found, or ran out of time: never the model's fault.
    CouldNotRun {
        /// In words for the user.
        reason: String,
    },
    /// The user stopped it.
    Stopped,
}

/// The state that gates run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GateTarget {
    /// What the model proposes, screened.
    Proposed,
    /// What was accepted.
    Accepted,
    /// The base.
    Base,
}

/// What is to be done. An effect that names an input is answered by it, or by [`Input::Failed`].
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Record the user's tree, and make the worktree hold it: [`Input::Begun`].
    Begin,
    /// Give the model this message: [`Input::ModelStopped`].
    AskModel {
        /// Whole and exact.
        message: String,
    },
    /// Stop the model at once.
    StopModel,
    /// Read the worktree, and compare it with the accepted state: [`Input::Read`].
    ReadWorktree {
        /// The accepted state.
        accepted: TreeId,
    },
    /// Make the worktree hold `onto` with these hunks of its diff: [`Input::Composed`].
    Compose {
        /// The state they change.
        onto: TreeId,
        /// The hunks, in the order of the review.
        hunks: Vec<Hunk>,
    },
    /// Run these gates on this tree: [`Input::GatesRan`].
    RunGates {
        /// What the tree is.
        on: GateTarget,
        /// It.
        tree: TreeId,
        /// The gates.
        names: Vec<String>,
    },
    /// Stop the gates at once.
    StopGates,
    /// Tell the user that a review is ready.
    OpenReview {
        /// Hunks to decide.
        hunks: usize,
    },
    /// Write the difference into the user's tree: [`Input::Applied`].
    Apply {
        /// The base.
        base: TreeId,
        /// The accepted state.
        accepted: TreeId,
    },
    /// Keep this for the model to read before the next prompt.
    TellNext {
        /// Whole and exact.
        message: String,
    },
    /// A review was finished.
    Reviewed(Tally),
    /// The turn has ended.
    End(Ending),
}

/// What came of a review, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Hunks accepted.
    pub accepted: usize,
    /// Hunks rejected by the user.
    pub rejected: usize,
    /// Hunks not reached.
    pub undecided: usize,
    /// Comments.
    pub comments: usize,
    /// Re-proposals refused before it.
    pub reproposed: usize,
}

/// Why an input changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The hunk, comment or constraint is not of the present review.
    #[error("that is no longer part of the review; it has changed since")]
    Stale,
    /// Hunks have no verdict.
    #[error("{count} hunks have no verdict yet")]
    Undecided {
        /// How many.
        count: usize,
    },
    /// The hunk cannot be part of an accepted state.
    #[error("it cannot be accepted: {reason}")]
    Unacceptable {
        /// Why, in words for the user.
        reason: &'static str,
    },
    /// A comment names a line that its hunk does not have.
    #[error("the hunk has no line {line}")]
    NoSuchLine {
        /// The line.
        line: u32,
    },
    /// The input does not fit the phase.
    #[error("that cannot be done now")]
    NotNow,
}

/// Where a turn is.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// The user's tree is being recorded.
    Snapshot,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Something failed.
    Failed,
    /// The program was stopped.
    CutOff,
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
    /// What the model was last told, or is told first.
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
    /// What reviews accepted since the base was taken: hunks by file.
    accepted_so_far: BTreeMap<RepoPath, u32>,
    over: BTreeSet<Over>,
    /// Results by tree.
    results: BTreeMap<TreeId, Vec<GateRun>>,
    /// Gates that are red on the base too.
    red_before: BTreeSet<String>,
    /// Gates that were run on the base.
    run_on_base: BTreeSet<String>,
    /// The latest gate results, for the status bar.
    latest: Vec<GateRun>,
    /// The result of the latest review that the model has not been told.
    untold: Option<Outcome>,
    applied: Vec<FileReport>,
}

impl Turn {
    /// A turn that opens with `opening`, and the effect that starts it.
    pub fn start(settings: Settings, opening: String) -> (Turn, Vec<Effect>) {
        let turn = Turn {
            settings,
            asked: opening,
            phase: Phase::Snapshot,
            base: TreeId(String::new()),
            accepted: TreeId(String::new()),
            round: RoundNo::FIRST,
            attempt: 1,
            asked_on: TreeId(String::new()),
            asked_for_gate: false,
            declined: false,
            words: String::new(),
            ignored: Vec::new(),
            constraints: Vec::new(),
            reproposals: 0,
            counted: BTreeSet::new(),
            accepted_so_far: BTreeMap::new(),
            over: BTreeSet::new(),
            results: BTreeMap::new(),
            red_before: BTreeSet::new(),
            run_on_base: BTreeSet::new(),
            latest: Vec::new(),
            untold: None,
            applied: Vec::new(),
        };
        (turn, vec![Effect::Begin])
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

    /// The open review.
    pub fn review(&self) -> Option<&Review> {
        match &self.phase {
            Phase::Review(review) => Some(review),
            _ => None,
        }
    }

    /// Whether the user interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.over.contains(&Over::Interrupted)
    }

    /// Whether no round can follow the present one.
    pub fn is_last_round(&self) -> bool {
        !self.over.is_empty() || self.round.0 >= self.settings.max_rounds
    }

    /// The constraint that `hunk` answers in the present round.
    pub fn answered_by(&self, hunk: &Hunk) -> Option<&Constraint> {
        self.constraints.iter().find(|constraint| constraint.is_answered_by(hunk, self.round))
    }
}

#[cfg(test)]
mod tests;
