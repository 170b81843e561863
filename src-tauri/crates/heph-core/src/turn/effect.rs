//! What a turn asks to be done.

use serde::{Deserialize, Serialize};

use super::{Ending, Setup};
use crate::{diff::Hunk, id::TreeId, review::EditedFile};

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
    /// Set the worktree up, as far as that is due: [`Input::SetUp`].
    SetUp(Setup),
    /// Record the user's own tree, and compare it with this revision: [`Input::TreeRead`].
    ReadTree {
        /// As git names it; HEAD where there is none.
        rev: Option<String>,
    },
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
    /// Make the worktree hold `onto` with these hunks of its diff, and with files that the user wrote in
    /// the place of proposed ones: [`Input::Composed`].
    Compose {
        /// The state they change.
        onto: TreeId,
        /// The hunks, in the order of the review.
        hunks: Vec<Hunk>,
        /// The user's own files.
        edited: Vec<EditedFile>,
    },
    /// Compose the user's own tree without what they rejected of it: [`Input::Composed`].
    TakeOut {
        /// What the tree was compared with.
        against: TreeId,
        /// The tree.
        tree: TreeId,
        /// The files from which something is taken out, each with all its hunks: kept, and taken out.
        files: Vec<TakenOut>,
    },
    /// Compare the accepted state with the base: [`Input::Reopened`].
    Reopen {
        /// The base.
        base: TreeId,
        /// The accepted state.
        accepted: TreeId,
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
    /// Stop gates or setup at once.
    StopCommands,
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
        /// What becomes of the user's index.
        index: Index,
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

/// A file of the user's own tree from which something is taken out.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenOut {
    /// Hunks that stay.
    pub kept: Vec<Hunk>,
    /// Hunks that go.
    pub out: Vec<Hunk>,
}

/// What becomes of the user's index in an apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// It is not touched.
    Untouched,
    /// What is staged of the written hunks follows.
    Follows,
}
