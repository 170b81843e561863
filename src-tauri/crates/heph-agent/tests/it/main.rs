//! The agent, its tools and the replay model, through the public interface.
#![allow(clippy::unwrap_used)]

mod agent;
mod demo;
mod play;
mod replay;
mod tools_edit;
mod tools_look;
mod tools_run;
