//! Snapshots, the chain, the worktree and apply.
//!
//! This crate turns files into trees and trees into files, and keeps the two apart: what a model
//! works on belongs to a private repository in the app's data folder, which borrows the objects of
//! the user's. It must not know turns, reviews, settings or front ends, and never starts a process:
//! no git binary, and so no hook, filter, pager or file system monitor of anybody's, is ever run.
//!
//! Words, as in the glossary of the specification:
//!
//! * a **snapshot** is a tree of the user's files as they are now, byte for byte ([`PrivateRepo::snapshot`]);
//! * the **worktree** is where the model works, one per session ([`Worktree`]);
//! * the **chain** is the commits that record its states, on no branch ([`PrivateRepo::commit`]);
//! * **apply** writes accepted hunks into the user's files ([`PrivateRepo::apply`]), **undo** takes back what
//!   one wrote ([`PrivateRepo::undo`]);
//! * a session **retires** when its worktree and chain are taken away ([`PrivateRepo::retire`]).
//!
//! What holds:
//!
//! * In the user's repository one thing is ever written besides what apply writes to files: the ref
//!   `refs/heph/base/SESSION`, on the commit whose objects are borrowed. Its reflog, HEAD, branches, tags,
//!   stash and config are only read, and its index too, but for an apply that is told to have it follow.
//! * What that commit does not reach is copied, so that nothing the user does to their repository
//!   (amend, reset, `git gc --prune=now`) takes anything away from the chain.
//! * Bytes are never converted. No attribute, filter or `core.autocrlf` has a say.
//! * No symbolic link is followed, in the user's tree or in the worktree.
//!
//! All types hold paths only; a repository is opened for each operation, so they can be shared
//! between threads. Every function blocks.

mod apply;
mod cache;
mod committed;
mod copy;
mod create;
mod error;
mod folder;
mod index;
mod objects;
mod private;
mod record;
mod retire;
mod rules;
mod tracked;
mod user;
mod walk;
mod worktree;

pub use apply::{ApplyError, ApplyReport, Obstacle, STAGED};
pub use copy::{Copying, NotCopied};
pub use create::create_repository;
pub use error::{GitError, OpenError, Refusal};
pub use private::PrivateRepo;
pub use user::UserRepo;
pub use worktree::{Worktree, WorktreeState};
