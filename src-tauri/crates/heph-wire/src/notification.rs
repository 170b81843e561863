use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{GateResult, PhaseName, ToolCall, TurnEnded};

/// What the engine sends by itself. On the wire `method` is its name and `params` its fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "method", content = "params")]
pub enum Notification {
    /// The turn came to another phase, round or attempt.
    #[serde(rename = "phase")]
    Phase {
        /// Session.
        session: String,
        /// Turn.
        turn: u32,
        /// Round.
        round: u32,
        /// Attempt.
        attempt: u32,
        /// The phase.
        phase: PhaseName,
    },
    /// Words of the model, as they come.
    #[serde(rename = "model/text")]
    ModelText {
        /// Session.
        session: String,
        /// The next piece.
        text: String,
    },
    /// A tool has done its work.
    #[serde(rename = "model/tool")]
    ModelTool {
        /// Session.
        session: String,
        /// The tool.
        name: String,
        /// One line about it.
        summary: String,
        /// The whole of it.
        call: ToolCall,
    },
    /// A text given to the model in the user's role, whole and exact.
    #[serde(rename = "model/told")]
    ModelTold {
        /// Session.
        session: String,
        /// The text.
        message: String,
    },
    /// The setup of the worktree printed something.
    #[serde(rename = "setup")]
    Setup {
        /// Session.
        session: String,
        /// What.
        output: String,
    },
    /// A gate started, printed something or ended.
    #[serde(rename = "gate")]
    Gate {
        /// Session.
        session: String,
        /// The gate.
        name: String,
        /// The state it runs on.
        on: GateTarget,
        /// What happened.
        event: GateEvent,
        /// What it printed, for `output`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        output: Option<String>,
        /// The result, for `end`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        result: Option<GateResult>,
        /// How long it took, for `end`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        seconds: Option<f64>,
    },
    /// A review waits for the user.
    #[serde(rename = "review/ready")]
    ReviewReady {
        /// Session.
        session: String,
        /// Round.
        round: u32,
        /// Hunks to decide.
        hunks: u32,
    },
    /// The turn has ended.
    #[serde(rename = "turn/ended")]
    TurnEnded {
        /// Session.
        session: String,
        /// How.
        #[serde(flatten)]
        ended: TurnEnded,
    },
    /// The session's view has a new revision; `session/load` gives it.
    #[serde(rename = "session/changed")]
    SessionChanged {
        /// Session.
        session: String,
        /// Its revision.
        revision: u64,
    },
    /// Something went wrong outside any call.
    #[serde(rename = "error")]
    Error {
        /// The session it concerns, where it concerns one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        session: Option<String>,
        /// What happened, what was kept and what to do.
        message: String,
    },
}

/// The state a gate runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum GateTarget {
    /// What the model proposes.
    Proposed,
    /// What the user accepted.
    Accepted,
    /// The user's tree at the start of the turn.
    Base,
}

/// What a gate does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum GateEvent {
    /// It started.
    Start,
    /// It printed something.
    Output,
    /// It ended.
    End,
}
