//! Names and numbers that must not be mixed up.

use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($($(#[$doc:meta])+ $name:ident;)+) => {$(
        $(#[$doc])+
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}

text_id! {
    /// A git tree, as 40 hex digits.
    TreeId;
    /// A hunk, named by its content: see [`crate::diff`].
    HunkId;
    /// A comment of the user's, named by whoever took it in.
    CommentId;
    /// A constraint: the rejected hunk's id and its round.
    ConstraintId;
}

/// The number of a round in its turn, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RoundNo(pub u32);

impl RoundNo {
    /// The first round of a turn.
    pub const FIRST: RoundNo = RoundNo(1);

    /// The round after this one.
    pub fn next(self) -> RoundNo {
        RoundNo(self.0 + 1)
    }
}

impl std::fmt::Display for RoundNo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
