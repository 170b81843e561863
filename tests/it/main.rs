//! Journeys through `heph-serve`: what a script, or the window, can rely on.
#![allow(clippy::unwrap_used)]

mod chapter;
mod faults;
mod found_gates;
mod gates;
mod interruptions;
mod outside;
mod own_repository;
mod scenarios;
mod setup;

use std::path::PathBuf;

use heph_testkit::{Client, Repository};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A repository, a data folder, and a running `heph-serve` with one session in it.
struct Journey {
    repository: Repository,
    data: TempDir,
    client: Client,
    session: String,
}

impl Journey {
    /// A session whose model plays `script`.
    fn start(repository: Repository, script: &str) -> Journey {
        let data = tempfile::tempdir().expect("a data folder");
        let mut client = serve(&data);
        let repo = open(&mut client, &repository);
        let session = new_session(&mut client, &repository, &repo, script).expect("a session");
        Journey { repository, data, client, session }
    }

    fn call(&mut self, method: &str, mut params: Value) -> Value {
        params["session"] = json!(self.session);
        self.client.call(method, params)
    }

    fn try_call(&mut self, method: &str, mut params: Value) -> heph_testkit::Answer {
        params["session"] = json!(self.session);
        self.client.try_call(method, params)
    }

    /// Opens the repository and agrees to what it runs, as it was shown, which is returned.
    fn agree(&mut self) -> Value {
        let opened = self.client.call("repo/open", json!({ "path": self.repository.root() }));
        self.client.call("repo/trust", json!({ "repo": opened["repo"], "digest": opened["digest"] }));
        opened
    }

    fn prompt(&mut self, prompt: &str) {
        self.call("turn/start", json!({ "prompt": prompt }));
    }

    /// Waits for the review of `round`, and returns it.
    fn review(&mut self, round: u32) -> Value {
        self.client.wait_for("review/ready", |ready| ready["round"] == round);
        self.call("review/get", json!({}))
    }

    fn decide(&mut self, hunk: &Value, verdict: &str) {
        self.call("review/decide", json!({ "hunk": hunk["id"], "verdict": verdict }));
    }

    fn finish(&mut self) {
        self.call("review/finish", json!({ "how": "finish" }));
    }

    fn ended(&mut self) -> Value {
        self.client.wait("turn/ended")
    }

    /// Where the session's model works.
    fn worktree(&self) -> PathBuf {
        let repos = std::fs::read_dir(self.data.path().join("repos")).expect("private repositories");
        let mut worktrees =
            repos.map(|repo| repo.expect("an entry").path().join("worktrees").join(&self.session));
        worktrees.next().expect("one repository").canonicalize().expect("the worktree")
    }

    /// Ends the process by closing its standard input, and starts another on the same data.
    fn close_and_restart(self) -> Journey {
        let Journey { repository, data, mut client, session } = self;
        assert!(client.close());
        let client = serve(&data);
        Journey { repository, data, client, session }
    }

    /// Kills the process and starts another on the same data.
    fn kill_and_restart(self) -> Journey {
        let Journey { repository, data, mut client, session } = self;
        client.kill();
        let client = serve(&data);
        Journey { repository, data, client, session }
    }
}

fn serve(data: &TempDir) -> Client {
    Client::start(env!("CARGO_BIN_EXE_heph-serve"), data.path())
}

fn open(client: &mut Client, repository: &Repository) -> Value {
    let opened = client.call("repo/open", json!({ "path": repository.root() }));
    opened["repo"].clone()
}

fn new_session(
    client: &mut Client,
    repository: &Repository,
    repo: &Value,
    script: &str,
) -> Result<String, Value> {
    let file = repository.beside("model.replay.toml");
    std::fs::write(&file, script).expect("the script");
    let model = json!({ "provider": "replay", "file": file });
    let session = client.try_call("session/new", json!({ "repo": repo, "model": model }))?;
    Ok(session["session"].as_str().expect("a name").to_owned())
}

/// The hunks of a review, file by file.
fn hunks(review: &Value) -> Vec<Value> {
    let files = review["files"].as_array().expect("files");
    files.iter().flat_map(|file| file["hunks"].as_array().expect("hunks").clone()).collect()
}
