//! Why a call was not carried out, in words that help the model to make a better one.

use heph_core::path::PathError;

/// A refused or failed call; nothing was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolError {
    #[error("there is no tool `{0}`; the tools are list, find, search, read, edit, write, move, delete, run")]
    UnknownTool(String),
    #[error("the call was not understood: {0}")]
    Arguments(String),
    #[error("refused: {0}")]
    Path(#[from] PathError),
    #[error("refused: {0} leads out of the worktree")]
    Leaves(String),
    #[error("{0} does not exist; `list` and `find` show what does")]
    Missing(String),
    #[error("{0} is a folder; `list` shows its files")]
    Folder(String),
    #[error("{0} is no folder")]
    NoFolder(String),
    #[error("{0} is neither a file nor a folder")]
    Special(String),
    #[error("{path} has {size} bytes, too many for this tool; `search` or `run` can look at parts of it")]
    TooLarge { path: String, size: u64 },
    #[error("{0} exists already; nothing was moved")]
    Exists(String),
    #[error("{path} ends at line {lines}; nothing is at line {first}")]
    PastTheEnd { path: String, first: usize, lines: usize },
    #[error("`first` is {first} and `last` is {last}; lines are counted from 1")]
    Range { first: usize, last: usize },
    #[error("`old` is empty; give the text to replace, or use `write` for a whole file")]
    OldEmpty,
    #[error("`old` and `new` are the same; nothing would change")]
    OldIsNew,
    #[error("`old` does not occur in {path}; nothing was changed. {hint}")]
    OldAbsent { path: String, hint: String },
    #[error(
        "`old` occurs {count} times in {path}, at lines {lines}; nothing was changed. Add lines around it until it occurs once."
    )]
    OldRepeats { path: String, count: usize, lines: String },
    #[error("the pattern cannot be used: {0}")]
    Pattern(String),
    #[error("{path}: {source}")]
    Io { path: String, source: std::io::Error },
    #[error("the tool broke down: {0}")]
    Broken(String),
    #[error("stopped by the user")]
    Cancelled,
}
