use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Why a method was not carried out. Nothing of the user's has changed when one is returned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CallError {
    /// What happened, what was kept and what to do, in words for the user.
    pub message: String,
    /// What a program can tell apart; it travels as `data` of the JSON-RPC error.
    #[serde(flatten)]
    pub kind: ErrorKind,
}

/// The kinds of [`CallError`], as `data.kind` on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ErrorKind {
    /// The line was no JSON.
    Malformed,
    /// The line was JSON, and no JSON-RPC request.
    InvalidRequest,
    /// There is no such method.
    UnknownMethod,
    /// The parameters do not fit the method.
    InvalidParams,
    /// The path does not exist or cannot be read.
    NoSuchPath,
    /// The folder is in no git repository.
    NotARepository,
    /// There is no such repository, session, turn or hunk.
    NotFound,
    /// A turn is open in this session; the prompt is kept as its draft.
    TurnOpen,
    /// The hunk, digest or revision is no longer the present one.
    Stale,
    /// The review cannot be finished while hunks have no verdict.
    Undecided {
        /// How many hunks have none.
        count: u32,
    },
    /// What was asked for does not fit the state of the turn.
    Refused,
    /// Settings or a replay file hold a fault.
    Settings,
    /// The disk, the database or git failed.
    Internal,
}

impl CallError {
    /// An error of `kind`, with words for the user.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        CallError { message: message.into(), kind }
    }

    /// The code of the JSON-RPC error object: the reserved ones where they fit, else -32000.
    pub fn code(&self) -> i32 {
        match self.kind {
            ErrorKind::Malformed => -32700,
            ErrorKind::InvalidRequest => -32600,
            ErrorKind::UnknownMethod => -32601,
            ErrorKind::InvalidParams => -32602,
            ErrorKind::Internal => -32603,
            _ => -32000,
        }
    }
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CallError {}
