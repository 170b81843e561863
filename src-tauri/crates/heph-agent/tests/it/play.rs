//! Models that answer as a test wants them to, and a worktree for them.

use std::{collections::VecDeque, path::Path};

use heph_agent::{
    Agent, AgentEvent, Entry, Model, ModelError, Response, Stop, Stopped, ToolCall, ToolDone,
    replay::{ReplayModel, Script},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Gives the responses one after the other, then stops.
pub struct Scripted(pub VecDeque<Result<Response, ModelError>>);

impl Model for Scripted {
    fn respond<'a>(
        &'a mut self,
        _history: &'a [Entry],
        _say: &'a mut (dyn FnMut(&str) + Send),
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Response, ModelError>> + Send + 'a>> {
        Box::pin(async { self.0.pop_front().unwrap_or(Ok(Response::default())) })
    }
}

pub fn calls(calls: &[(&str, Value)]) -> Result<Response, ModelError> {
    let calls = calls.iter().enumerate().map(|(index, (name, arguments))| ToolCall {
        id: format!("call-{index}"),
        name: (*name).to_owned(),
        arguments: arguments.clone(),
    });
    Ok(Response { text: String::new(), calls: calls.collect() })
}

/// What one call does in `worktree`.
pub async fn call(worktree: &Path, name: &str, arguments: Value) -> ToolDone {
    let mut agent = Agent::new(Box::new(Scripted([calls(&[(name, arguments)])].into())), Vec::new());
    let (stopped, mut heard) = work(&mut agent, worktree, "do it").await;
    stopped.unwrap();
    match heard.pop() {
        Some(AgentEvent::Tool(done)) => done,
        other => panic!("no tool was used: {other:?}"),
    }
}

/// What a call is told that must fail. It leaves no note.
pub async fn fault(worktree: &Path, name: &str, arguments: Value) -> String {
    let done = call(worktree, name, arguments).await;
    assert!(done.failed && done.notes.is_empty(), "{done:?}");
    done.detail
}

pub async fn work(
    agent: &mut Agent,
    worktree: &Path,
    message: &str,
) -> (Result<Stopped, Stop>, Vec<AgentEvent>) {
    let mut heard = Vec::new();
    let cancel = CancellationToken::new();
    let stopped = agent.work(message.to_owned(), worktree, &mut |event| heard.push(event), &cancel).await;
    (stopped, heard)
}

pub fn replaying(script: &str, told: &[String]) -> Agent {
    Agent::new(
        Box::new(ReplayModel::new(Script::parse(script, "test.replay.toml").unwrap(), told)),
        Vec::new(),
    )
}

pub fn tools_of<'a>(heard: &'a [AgentEvent]) -> Vec<&'a ToolDone> {
    let tool = |event: &'a AgentEvent| match event {
        AgentEvent::Tool(done) => Some(done),
        AgentEvent::Text(_) => None,
    };
    heard.iter().filter_map(tool).collect()
}

pub fn text_of<'a>(heard: &'a [AgentEvent]) -> String {
    let text = |event: &'a AgentEvent| match event {
        AgentEvent::Text(piece) => Some(piece.as_str()),
        AgentEvent::Tool(_) => None,
    };
    heard.iter().filter_map(text).collect()
}

/// A folder with these files in it.
pub fn worktree(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    folder
}

pub fn bytes(worktree: &tempfile::TempDir, path: &str) -> Vec<u8> {
    std::fs::read(worktree.path().join(path)).unwrap()
}
