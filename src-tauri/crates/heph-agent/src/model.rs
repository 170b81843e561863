//! What a model is to the agent.

use std::pin::Pin;

use serde::{Deserialize, Serialize};

/// One entry of the conversation, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Entry {
    /// A text given to the model in the user's role: a prompt, the result of a review, a gate's
    /// failure.
    User(String),
    /// What the model answered.
    Model(Response),
    /// What its calls gave, in the order of the calls.
    Results(Vec<ToolResult>),
}

/// One answer of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// Its words.
    pub text: String,
    /// The tools that it wants used, in this order. With none the model has stopped.
    pub calls: Vec<ToolCall>,
}

/// One use of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Pairs it with its result.
    pub id: String,
    /// The tool.
    pub name: String,
    /// As the model wrote them, checked by nobody yet.
    pub arguments: serde_json::Value,
}

/// What the model is told of one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call's.
    pub id: String,
    /// The text.
    pub content: String,
    /// Whether the call did not do what it was made for.
    pub failed: bool,
}

/// Why a model gave no response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ModelError(pub String);

/// The response that a model is working on. Dropping it cancels the work.
pub type Responding<'a> = Pin<Box<dyn Future<Output = Result<Response, ModelError>> + Send + 'a>>;

/// A model, reached in whatever way.
pub trait Model: Send {
    /// Answers `history`, whose last entry is the user's or holds results. Pieces of the
    /// response's text go to `say` as they arrive; together they are the text.
    ///
    /// # Errors
    /// Where the model cannot be had or its answer cannot be used.
    fn respond<'a>(
        &'a mut self,
        history: &'a [Entry],
        say: &'a mut (dyn FnMut(&str) + Send),
    ) -> Responding<'a>;
}
