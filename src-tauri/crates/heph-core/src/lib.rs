//! The turn, the review and the messages, as pure functions.
//!
//! This crate decides; others act. It must not know files, processes, clocks, randomness, async or
//! the network: time, ids and results come in as inputs, and what is to be done goes out as
//! effects. So the whole loop can be tested in milliseconds and replayed from its log.
//!
//! Words, as in the glossary of the specification:
//!
//! * a **turn** is one prompt and all that follows ([`turn`]), a **round** one run of the model in it;
//! * a **hunk** is one reviewable change of one file ([`diff`]), made of lines kept as raw bytes;
//! * the **accepted state** is the base plus every accepted hunk ([`compose`]);
//! * a **constraint** is a rejected hunk, a **re-proposal** a hunk that repeats one ([`constraint`]);
//! * messages to the model are rendered here ([`message`]), from plain data;
//! * **apply** is planned here per file ([`apply`]) and carried out elsewhere.

pub mod apply;
pub mod compose;
pub mod constraint;
pub mod diff;
pub mod file;
pub mod id;
pub mod message;
pub mod patch;
pub mod path;

pub mod rationale;
pub mod refusal;
pub mod rename;
pub mod review;
pub mod split;
pub mod text;
pub mod turn;
pub mod wrap;
