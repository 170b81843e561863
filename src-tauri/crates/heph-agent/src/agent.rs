//! The built-in agent: asks the model, uses the tools, until the model stops.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use tokio_util::sync::CancellationToken;

use crate::{
    model::{Entry, Model, ModelError, Response, ToolCall, ToolResult},
    tools::{self, ToolDone, Worktree},
};

/// A model at work, and all that was said between it and the user.
pub struct Agent {
    model: Box<dyn Model>,
    history: Vec<Entry>,
}

/// What happens while the model works.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentEvent {
    /// A piece of the model's text.
    Text(String),
    /// A tool has done its work, or failed at it.
    Tool(ToolDone),
}

/// The model has stopped by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Its closing words, whole; may be empty.
    pub text: String,
}

/// Why the work ended before the model stopped. What the tools did until then stays done.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The user cancelled.
    #[error("the model was stopped")]
    Cancelled,
    /// The model gave no response.
    #[error(transparent)]
    Failed(#[from] ModelError),
    /// There is no worktree to work in.
    #[error("the worktree {} cannot be opened: {source}", path.display())]
    Worktree {
        /// Where it should be.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
}

impl Agent {
    /// An agent that goes on after `told`, the history so far.
    pub fn new(model: Box<dyn Model>, told: Vec<Entry>) -> Agent {
        Agent { model, history: told }
    }

    /// All that was said, for a later [`Agent::new`].
    pub fn history(&self) -> &[Entry] {
        &self.history
    }

    /// Gives `message` to the model in the user's role and lets it work in `worktree` until it
    /// stops. `events` hears what happens meanwhile.
    ///
    /// # Errors
    /// [`Stop::Cancelled`] at once when `cancel` is cancelled: no further tool is used, and a running
    /// command dies. Where the model failed before it had answered anything, `message` is taken
    /// back, so that it can be given again.
    pub async fn work(
        &mut self,
        message: String,
        worktree: &Path,
        events: &mut (dyn FnMut(AgentEvent) + Send),
        cancel: &CancellationToken,
    ) -> Result<Stopped, Stop> {
        let worktree = Worktree::open(worktree)
            .map_err(|source| Stop::Worktree { path: worktree.to_path_buf(), source })?;
        let worktree = Arc::new(worktree);
        self.history.push(Entry::User(message));
        loop {
            let response = match self.respond(events, cancel).await {
                Err(Stop::Failed(error)) => {
                    if matches!(self.history.last(), Some(Entry::User(_))) {
                        self.history.pop();
                    }
                    return Err(Stop::Failed(error));
                }
                other => other?,
            };
            if response.calls.is_empty() {
                let text = response.text.clone();
                self.history.push(Entry::Model(response));
                return Ok(Stopped { text });
            }
            let results = carry_out(&response.calls, &worktree, events, cancel).await;
            self.history.push(Entry::Model(response));
            self.history.push(Entry::Results(results));
        }
    }

    /// One response. Of one that was cancelled, the words that the user has seen are kept.
    async fn respond(
        &mut self,
        events: &mut (dyn FnMut(AgentEvent) + Send),
        cancel: &CancellationToken,
    ) -> Result<Response, Stop> {
        let mut said = String::new();
        let mut say = |piece: &str| {
            said.push_str(piece);
            events(AgentEvent::Text(piece.to_owned()));
        };
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            answer = self.model.respond(&self.history, &mut say) => Some(answer),
        };
        match answer {
            Some(answer) => Ok(answer?),
            None => {
                if !said.is_empty() {
                    self.history.push(Entry::Model(Response { text: said, calls: Vec::new() }));
                }
                Err(Stop::Cancelled)
            }
        }
    }
}

/// The results of `calls`, one for each, as every provider demands. After a cancellation the rest
/// are not carried out; the next question to the model finds the token cancelled and stops.
async fn carry_out(
    calls: &[ToolCall],
    worktree: &Arc<Worktree>,
    events: &mut (dyn FnMut(AgentEvent) + Send),
    cancel: &CancellationToken,
) -> Vec<ToolResult> {
    let mut results = Vec::new();
    for call in calls {
        let (content, failed) = if cancel.is_cancelled() {
            ("The user stopped the work before this call was carried out.".to_owned(), true)
        } else {
            let started = Instant::now();
            let mut done = tools::carry_out(call, worktree, cancel).await;
            done.elapsed = started.elapsed();
            let told = (done.detail.clone(), done.failed);
            events(AgentEvent::Tool(done));
            told
        };
        results.push(ToolResult { id: call.id.clone(), content, failed });
    }
    results
}
