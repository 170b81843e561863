//! What comes into a turn, and why it may be refused.

use serde::{Deserialize, Serialize};

use crate::{
    apply::FileReport,
    diff::{FileHunks, Hunk},
    id::{CommentId, ConstraintId, HunkId, TreeId},
    path::RepoPath,
    review::{Comment, Edited, Verdict},
};

/// What comes into a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// The user's tree is recorded and the worktree holds it.
    Begun {
        /// The base.
        base: TreeId,
    },
    /// The worktree was set up, or could not be.
    SetUp(SetupResult),
    /// The user's own tree was recorded and compared with what it is reviewed against.
    TreeRead {
        /// What it is reviewed against.
        against: TreeId,
        /// It.
        tree: TreeId,
        /// The difference.
        files: Vec<FileHunks>,
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
    /// The user splits a hunk at these unchanged rows of it, from 0.
    Split {
        /// The hunk.
        hunk: HunkId,
        /// The rows.
        at: Vec<usize>,
    },
    /// The user puts text of their own in a file's place, or withdraws it.
    Edit {
        /// The file.
        path: RepoPath,
        /// What they made of it.
        edited: Option<Edited>,
    },
    /// The user takes back what an earlier round accepted: it is part of the review again.
    TakenBack {
        /// The hunk, as a change of the base.
        hunk: Hunk,
        /// The accepted state without it.
        accepted: TreeId,
        /// What is proposed, compared with that.
        files: Vec<FileHunks>,
    },
    /// All that was accepted was compared with the base, to be reviewed once more.
    Reopened {
        /// The difference.
        files: Vec<FileHunks>,
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
        /// What was written, for an undo.
        #[serde(default)]
        written: Option<Written>,
    },
    /// Accepted hunks were written, but not to the end.
    ApplyStopped {
        /// In words for the user.
        reason: String,
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
    /// As `AcceptAll`, and what is accepted is applied although a gate is red: no round follows.
    ApplyAnyway,
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
    /// The model works without the setup that failed.
    Skip,
    /// The turn ends; what was accepted before is gated and applied.
    Discard,
}

/// What becomes of a red accepted state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RedChoice {
    /// It is written all the same.
    ApplyAnyway,
    /// All that was accepted is reviewed once more.
    Edit,
    /// Its gates run again.
    RunAgain,
    /// Nothing is written.
    Discard,
}

/// What came of setting the worktree up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SetupResult {
    /// It is set up, now or since an earlier turn.
    Done,
    /// The command failed, or could not be run.
    Failed {
        /// In words for the user.
        reason: String,
        /// What it printed.
        output: String,
    },
    /// The user stopped it.
    Stopped,
}

/// The files that an apply wrote, as trees of nothing but them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// As they were.
    pub before: TreeId,
    /// As they are.
    pub after: TreeId,
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
    /// Files that it wrote, were put back, and are not ignored.
    #[serde(default)]
    pub put_back: Vec<RepoPath>,
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
    /// The user's own text has decided all hunks of the file.
    #[error("your own text decides this file; withdraw it first")]
    EditedByUser,
    /// The hunk has no unchanged line between two changes there.
    #[error("the hunk cannot be split there")]
    CannotSplit,
    /// A comment names a line that its hunk does not have.
    #[error("the hunk has no line {line}")]
    NoSuchLine {
        /// The line.
        line: u32,
    },
    /// An apply of which a part is written is completed.
    #[error("a part of it is in your files already; try again to complete it")]
    PartWritten,
    /// The input does not fit the phase.
    #[error("that cannot be done now")]
    NotNow,
}
