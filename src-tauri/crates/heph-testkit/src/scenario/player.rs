//! Plays a scenario, and holds what happens to what it says.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    model,
    script::Line,
    setting::{Setting, Trust},
    shown,
};
use crate::{Client, Fingerprint, Repository};

/// A scenario at play.
pub struct Player<'a> {
    name: &'a str,
    binary: &'a str,
    pub(super) repository: Repository,
    data: TempDir,
    pub(super) client: Client,
    session: String,
    /// The files at the start.
    pub(super) before: BTreeMap<String, String>,
    /// The user's repository as the user left it.
    left: Fingerprint,
    /// Whether something was applied that no ending has named yet.
    pub(super) applying: bool,
    /// The message that the model answers next.
    told: Option<String>,
    /// What a restart found, which no notification tells.
    found: Option<Event>,
    /// The latest `phase`.
    phase: Value,
    /// Tool calls since the model was told something.
    pub(super) steps: usize,
    /// The gate that runs.
    pub(super) gate: Option<String>,
    /// The kind of error that the present statement must give.
    must_fail: Option<String>,
    /// The statement at play.
    line: String,
    /// What happened, for the report of a failure.
    seen: Vec<String>,
}

/// What the script must name before it goes on: `told`, `review`, `red`, `held` or `ended`, and what
/// there is to say of it.
type Event = (&'static str, Value);

impl<'a> Player<'a> {
    /// Makes the repository, starts `heph-serve`, and opens a session whose model plays `replies`.
    pub fn start(name: &'a str, setting: Setting, replies: &str, binary: &'a str) -> Player<'a> {
        let files: Vec<(&str, &str)> =
            setting.files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let repository = Repository::new(&files);
        let data = tempfile::tempdir().expect("a data folder");
        std::fs::write(data.path().join("config.toml"), &setting.settings).expect("the user's settings");
        let replay = repository.beside("model.replay.toml");
        std::fs::write(&replay, replies).expect("the replay file");

        let mut client = Client::start(binary, data.path());
        let opened = client.call("repo/open", json!({ "path": repository.root() }));
        if setting.trust == Trust::Given {
            client.call("repo/trust", json!({ "repo": opened["repo"], "digest": opened["digest"] }));
        }
        let model = json!({ "provider": "replay", "file": replay });
        let session = client.call("session/new", json!({ "repo": opened["repo"], "model": model }));
        Player {
            name,
            binary,
            left: repository.fingerprint(&[]),
            repository,
            data,
            client,
            session: session["session"].as_str().expect("a name").to_owned(),
            before: setting.files,
            applying: false,
            told: None,
            found: None,
            phase: Value::Null,
            steps: 0,
            gate: None,
            must_fail: None,
            line: String::new(),
            seen: Vec::new(),
        }
    }

    /// Plays all that follows the setting.
    pub fn play(mut self, lines: &[Line]) {
        let mut rest = lines;
        while let Some((line, after)) = rest.split_first() {
            self.line = format!("{}: {}", line.number, line.source.trim());
            let words = line.words();
            rest = after;
            match &words[..] {
                ["model", ..] => {
                    self.message();
                    self.told = None;
                    rest = &after[model::steps(line, after).len()..];
                }
                [words @ .., "fails", kind] => {
                    self.must_fail = Some((*kind).to_owned());
                    self.act(words, line);
                    assert!(self.must_fail.is_none(), "it did not fail");
                }
                words => self.act(words, line),
            }
        }
    }

    /// Calls a method of the session, which fails where the statement says so.
    pub(super) fn call(&mut self, method: &str, mut params: Value) -> Value {
        params["session"] = json!(self.session);
        match (self.client.try_call(method, params), self.must_fail.take()) {
            (Ok(result), None) => result,
            (Err(error), Some(kind)) if error["data"]["kind"] == *kind => Value::Null,
            (Ok(result), Some(_)) => panic!("{method} did not fail: {result}"),
            (Err(error), _) => panic!("{method}: {error}"),
        }
    }

    /// The session's view, without the rows of a review.
    pub(super) fn view(&mut self) -> Value {
        self.client.call("session/load", json!({ "session": self.session, "rows": false }))
    }

    /// The open review.
    pub(super) fn review(&mut self) -> Value {
        self.client.call("review/get", json!({ "session": self.session }))
    }

    /// The message that the model answers next.
    pub(super) fn message(&mut self) -> String {
        if self.told.is_none() {
            self.told = Some(shown::text(&self.event("told")));
        }
        self.told.clone().expect("just set")
    }

    /// What there is to say of the next thing that happens, which is this one.
    pub(super) fn event(&mut self, awaited: &str) -> Value {
        assert!(self.told.is_none(), "{awaited} comes before the model has answered");
        let mut event = self.found.take();
        while event.is_none() {
            event = self.heed();
        }
        let (kind, what) = event.expect("just seen");
        assert!(kind == awaited, "not {awaited}, but {kind}: {what}");
        what
    }

    /// Waits until something holds, before which nothing must happen that the script would name.
    pub(super) fn wait_until(&mut self, holds: impl Fn(&Self) -> bool) {
        while !holds(self) {
            if let Some((kind, what)) = self.heed() {
                panic!("before that there came {kind}: {what}");
            }
        }
    }

    /// Takes the next notification in.
    fn heed(&mut self) -> Option<Event> {
        let notification = self.client.notification();
        let params = &notification["params"];
        let method = notification["method"].as_str().unwrap_or_default();
        self.seen.extend(shown::seen(method, params));
        match method {
            "model/told" => {
                self.steps = 0;
                return Some(("told", params["message"].clone()));
            }
            "review/ready" => return Some(("review", params["round"].clone())),
            "turn/ended" => return Some(("ended", params.clone())),
            "phase" => {
                let before = std::mem::replace(&mut self.phase, params.clone());
                self.applying |= params["phase"] == "apply";
                // A turn that is held stays in its phase, which is told again.
                if before == *params {
                    let reason = self.view()["held"]["reason"].clone();
                    return reason.is_string().then_some(("held", reason));
                }
                return (params["phase"] == "red").then_some(("red", Value::Null));
            }
            "model/tool" => {
                self.steps += 1;
                let call = &params["call"];
                let done = call["failed"] == false || call["outcome"] == "stopped by the user";
                assert!(done, "the model's step failed: {}", call["detail"]);
            }
            "gate" if params["event"] == "start" => self.gate = Some(shown::text(&params["name"])),
            "gate" if params["event"] == "end" => self.gate = None,
            _ => {}
        }
        None
    }

    /// Ends the process and starts another on the same data.
    pub(super) fn restart(&mut self, end: impl FnOnce(&mut Client)) {
        end(&mut self.client);
        self.client = Client::start(self.binary, self.data.path());
        self.told = None;
        let view = self.view();
        let held = &view["held"]["reason"];
        self.found = match view["phase"].as_str() {
            _ if held.is_string() => Some(("held", held.clone())),
            Some("review") => Some(("review", view["round"].clone())),
            Some("red") => Some(("red", Value::Null)),
            _ => None,
        };
    }

    /// The session's worktree.
    pub(super) fn worktree(&self) -> PathBuf {
        let repos = std::fs::read_dir(self.data.path().join("repos")).expect("private repositories");
        let mut worktrees = repos.flatten().map(|repo| repo.path().join("worktrees").join(&self.session));
        worktrees.next().expect("one repository")
    }

    /// Notes how the user, or an ending, leaves the repository.
    pub(super) fn leave(&mut self) {
        self.applying = false;
        self.left = self.repository.fingerprint(&[]);
    }

    /// Nothing of the user's has changed, but what an ending accounts for.
    pub(super) fn check_left(&self, accounted: &[&str]) {
        let now = self.repository.fingerprint(&[]);
        let mut changed = now.differs_from(&self.left);
        changed.retain(|path| !accounted.iter().any(|accounted| path.as_os_str() == *accounted));
        assert!(changed.is_empty(), "what the user left as it was has changed: {changed:?}");
    }
}

impl Drop for Player<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Player { name, line, seen, .. } = self;
            eprintln!("\nin the scenario {name}, line {line}\nwhat happened until then:");
            seen.iter().for_each(|event| eprintln!("  {event}"));
        }
    }
}
