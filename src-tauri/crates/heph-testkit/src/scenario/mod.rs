//! Scenarios: small scripts that read like the conversation they test.
//!
//! ```text
//! # One of two is rejected; the model's answer is accepted.
//! file src/a.rs numbered 1..40
//!
//! prompt "Do it."
//! model says "Two lines are clearer."
//!   edit src/a.rs "line 5" -> "five" because "Five is a word."
//!   edit src/a.rs "line 30" -> "thirty"
//! review round 1
//!   reject src/a.rs hunk 1 saying "not this one"
//!   accept rest
//!   finish
//! told contains "hunk 1 (lines 2-8): REJECTED"
//! model says "Then only the other."
//! ended applied "Applied 1 hunk in 1 file"
//! expect file src/a.rs as before with "line 30" -> "thirty"
//! ```
//!
//! A line is a statement of words; a word with spaces stands in quotes. Rows that start with `|`, `-` or
//! `+` belong to the statement above them: a text, or a change of it. A line that starts with `#` is a
//! comment. Each statement is explained where it is matched: what is there at the start in [`setting`],
//! what the model does in [`model`], what happens and what the user does in [`acts`], what is looked at
//! in [`shown`], and texts in [`contents`]. A statement that ends in `fails KIND` must give that error.
//!
//! A `model` block is one reply. The first answers the first message that the model is given, and so on;
//! reaching it waits for that message. What happens is held to the script: where the model is told
//! something, a review opens or a turn ends that the script does not name at this place, the scenario
//! fails. Between the user's own actions nothing of the user's repository may change but what an ending
//! names as applied; that is checked at every review and every ending.

mod acts;
mod contents;
mod model;
mod player;
mod script;
mod setting;
mod shown;

use player::Player;

/// Plays the scenario `source`, called `name`, through the `heph-serve` at `binary`.
///
/// # Panics
/// Where what happens is not what the scenario says, naming its line.
pub fn play(name: &str, source: &str, binary: &str) {
    let lines = script::parse(name, source);
    let start = lines.iter().position(|line| !setting::is_setting(line)).unwrap_or(lines.len());
    let (setting, conversation) = lines.split_at(start);
    let replies = model::replay(conversation);
    Player::start(name, setting::Setting::read(setting), &replies, binary).play(conversation);
}
