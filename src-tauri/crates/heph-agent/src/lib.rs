//! The models, and the built-in agent that lets one of them work in a worktree.
//!
//! A [`Model`] answers a history with words and tool calls. The [`Agent`] carries the calls out, in
//! the worktree and nowhere else, and asks again until the model stops. The replay model plays a
//! written script through this very loop.
//!
//! This crate must not know turns, rounds, reviews or git. What it says of a change, an
//! [`EditNote`](heph_core::rationale::EditNote), serves to find the rationale of a hunk; *what*
//! changed is read from the trees by others.
//!
//! Words: a *response* is one answer of the model; a *call* is one use of a tool that it asks for; a
//! *stop* is a response without calls, whose text are the *closing words*.

mod agent;
mod model;
pub mod replay;
mod tools;

pub use agent::{Agent, AgentEvent, Stop, Stopped};
pub use model::{Entry, Model, ModelError, Response, ToolCall, ToolResult};
pub use tools::ToolDone;
