//! What users rely on: their repository stays theirs, and no byte is lost or converted on the way.
#![allow(clippy::unwrap_used)]

mod apply;
mod chain;
mod copy;
mod follow;
mod git_apply;
mod merge_file;
mod open;
mod retire;
mod snapshot;
mod support;
mod undo;
mod untouched;
mod worktree;
