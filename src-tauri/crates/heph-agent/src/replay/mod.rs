//! A model that is played from a script: for the demo, and for tests.
//!
//! The script is a TOML file of `[[reply]]` tables. A reply is one stop of the model: its steps are
//! tool calls, one in each response, so that each result is known before the next call; its text are
//! the closing words. With `fail` the model fails after its steps, for that reason. A new message in
//! the user's role takes the first unused reply whose `when` it holds. Where none fits, the model says
//! "Done." and changes nothing.

mod script;

use crate::model::{Entry, Model, ModelError, Responding, Response, ToolCall};
pub use script::{Script, ScriptError};

/// What is said where no reply fits.
const NOTHING_LEFT: &str = "Done.";

/// In how many pieces a text is streamed, at most.
const PIECES: usize = 6;

/// A [`Script`] at play.
pub struct ReplayModel {
    script: Script,
    /// For each reply, whether it was taken.
    used: Vec<bool>,
    /// The reply that is played and its next step; `None` where none fitted.
    playing: Option<(usize, usize)>,
}

impl ReplayModel {
    /// Plays `script` on from where it stood after `told`, the messages that were given to the model
    /// in the user's role until now, oldest first.
    pub fn new(script: Script, told: &[String]) -> ReplayModel {
        let used = vec![false; script.replies.len()];
        let mut model = ReplayModel { script, used, playing: None };
        told.iter().for_each(|message| model.take_reply(message));
        model
    }

    fn take_reply(&mut self, message: &str) {
        let fits = |when: &Option<String>| when.as_ref().is_none_or(|when| message.contains(when));
        let found =
            (self.script.replies.iter().zip(&self.used)).position(|(reply, used)| !used && fits(&reply.when));
        if let Some(index) = found {
            self.used[index] = true;
        }
        self.playing = found.map(|index| (index, 0));
    }

    async fn play(
        &mut self,
        history: &[Entry],
        say: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Response, ModelError> {
        if let Some(Entry::User(message)) = history.last() {
            self.take_reply(message);
        }
        let Some((index, next)) = self.playing else {
            say(NOTHING_LEFT);
            return Ok(Response { text: NOTHING_LEFT.to_owned(), calls: Vec::new() });
        };
        let reply = &self.script.replies[index];
        if let Some(step) = reply.steps.get(next) {
            tokio::time::sleep(reply.delay).await;
            self.playing = Some((index, next + 1));
            let id = format!("reply-{}-step-{}", index + 1, next + 1);
            let call = ToolCall { id, name: step.tool.clone(), arguments: step.arguments.clone() };
            return Ok(Response { text: String::new(), calls: vec![call] });
        }
        if let Some(reason) = &reply.fail {
            return Err(ModelError(reason.clone()));
        }
        for piece in pieces(&reply.text) {
            say(piece);
            tokio::task::yield_now().await;
        }
        Ok(Response { text: reply.text.clone(), calls: Vec::new() })
    }
}

impl Model for ReplayModel {
    fn respond<'a>(
        &'a mut self,
        history: &'a [Entry],
        say: &'a mut (dyn FnMut(&str) + Send),
    ) -> Responding<'a> {
        Box::pin(self.play(history, say))
    }
}

/// `text` in a few pieces, cut after spaces.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let most = text.len().div_ceil(PIECES).max(1);
    let mut rest = text;
    std::iter::from_fn(move || {
        let cut =
            rest.match_indices(' ').map(|(at, _)| at + 1).find(|&end| end >= most).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(cut);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}
