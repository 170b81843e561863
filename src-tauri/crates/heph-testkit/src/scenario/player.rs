//! Plays a scenario: does what its user does, and holds what happens to what it says.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    contents, model,
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
    client: Client,
    session: String,
    /// The files at the start.
    pub(super) before: BTreeMap<String, String>,
    /// The user's repository as the user left it.
    left: Fingerprint,
    /// Whether something was applied that no ending has named yet.
    applying: bool,
    /// The message that the model answers next.
    told: Option<String>,
    /// What a restart found, which no notification tells.
    found: Option<Event>,
    phase: Value,
    /// Tool calls since the model was told something.
    steps: usize,
    /// The gate that runs.
    gate: Option<String>,
    /// The kind of error that the present statement must give.
    must_fail: Option<String>,
    /// The statement at play.
    line: String,
    /// What happened, for the report of a failure.
    seen: Vec<String>,
}

/// What the script must name before it goes on.
#[derive(Debug)]
enum Event {
    /// The model was told this.
    Told(String),
    /// A review of this round opened.
    Review(u64),
    /// The user is to choose about a red state.
    Red,
    /// The turn is held, for this reason.
    Held(String),
    /// The turn has ended.
    Ended(Value),
}

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

    fn act(&mut self, words: &[&str], line: &Line) {
        match *words {
            // What happens, in this order.
            ["told", ref words @ ..] => shown::compare("the model was told", &self.message(), words, line),
            ["review", "round", round] => match self.event("a review") {
                Event::Review(seen) if seen.to_string() == round => self.check_left(&[]),
                other => panic!("not this review, but {other:?}"),
            },
            ["red"] => match self.event("the red choice") {
                Event::Red => {}
                other => panic!("not the red choice, but {other:?}"),
            },
            ["held", ref words @ ..] => match self.event("a held turn") {
                Event::Held(reason) => shown::compare("the turn is held", &reason, words, line),
                other => panic!("not held, but {other:?}"),
            },
            ["ended", kind, message] => self.ended(kind, message),

            // What the user does in the repository, outside of Heph.
            ["user", "edits", path, ref words @ ..] => {
                let (old, new) = contents::change(words, line);
                self.repository.write(path, contents::replaced(&self.repository.read(path), &old, &new));
                self.leave();
            }
            ["user", "writes", path, ref words @ ..] => {
                self.repository.write(path, contents::text(words, line, None));
                self.leave();
            }
            ["user", "runs", command] => {
                self.repository.sh(command);
                self.leave();
            }

            // What the user does in Heph.
            ["prompt", text] => drop(self.call("turn/start", json!({ "prompt": text }))),
            ["accept", "all"] => self.finish("accept_all"),
            ["finish"] => self.finish("finish"),
            ["refuse", "all"] => self.finish("refuse_all"),
            ["refuse", "rest"] => self.finish("refuse_rest"),
            ["stop"] => self.finish("stop"),
            ["accept", ref hunks @ ..] => self.decide(json!("accept"), hunks),
            ["reject", ref hunks @ ..] => self.decide(json!("reject"), hunks),
            ["clear", ref hunks @ ..] => self.decide(Value::Null, hunks),
            ["comment", ref hunks @ .., "old", "line", n, "saying", text] => {
                self.comment(hunks, json!({ "side": "old", "line": number(n), "text": text }));
            }
            ["comment", ref hunks @ .., "line", n, "saying", text] => {
                self.comment(hunks, json!({ "line": number(n), "text": text }));
            }
            ["comment", ref hunks @ .., "saying", text] => self.comment(hunks, json!({ "text": text })),
            ["split", ref hunks @ ..] => {
                for hunk in self.hunks(hunks) {
                    self.call("review/split", json!({ "hunk": hunk["id"], "at": hunk["split_at"] }));
                }
            }
            ["rewrite", path, ref words @ ..] => {
                let proposed = self.call("review/file", json!({ "path": path }))["content"].clone();
                let (old, new) = contents::change(words, line);
                let content = contents::replaced(proposed.as_str().expect("a text"), &old, &new);
                self.call("review/edit", json!({ "path": path, "content": content }));
            }
            ["take", "back", ref hunks @ ..] => {
                let accepted = self.call("review/accepted", json!({}));
                for hunk in shown::hunks_named(&accepted, hunks) {
                    self.call("review/take_back", json!({ "hunk": hunk["id"] }));
                }
            }
            ["ask", "about", path] => {
                let review = self.review();
                let id = &shown::of_path(&review["brief"]["reproposed"], path)["id"];
                self.call("review/ask", json!({ "reproposed": id }));
            }
            ["lift", path] => {
                let review = self.review();
                let id = &shown::of_path(&review["constraints"], path)["id"];
                self.call("review/lift", json!({ "constraint": id }));
            }
            ["choose", ref choice @ ..] => {
                self.call("red/choose", json!({ "choice": choice.join("_") }));
            }
            ["resume", how] => drop(self.call("turn/resume", json!({ "how": how }))),
            ["interrupt"] => drop(self.call("turn/interrupt", json!({}))),
            ["review", "own", "tree"] => drop(self.call("review/open", json!({}))),
            ["review", "own", "tree", "against", rev] => {
                self.call("review/open", json!({ "rev": rev }));
            }
            ["undo", ref words @ ..] => {
                let turn = self.view()["turn"].clone();
                let undone = self.call("turn/undo", json!({ "turn": turn }));
                shown::compare("undone", &shown::undone(&undone), words, line);
                self.leave();
            }
            ["wait", "for", "step", n] => self.wait_until("a step", |me| me.steps >= number(n)),
            ["wait", "for", "gate", name] => {
                self.wait_until("a gate", |me| me.gate.as_deref() == Some(name));
            }
            ["heph", "is", "killed"] => self.restart(Client::kill),
            ["heph", "is", "closed"] => self.restart(|client| assert!(client.close(), "it ends well")),

            ["expect", ref words @ ..] => self.expect(words, line),
            _ => panic!("no such statement"),
        }
    }

    fn call(&mut self, method: &str, mut params: Value) -> Value {
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
        let view = json!({ "session": self.session, "rows": false });
        self.client.call("session/load", view)
    }

    /// The open review.
    pub(super) fn review(&mut self) -> Value {
        self.client.call("review/get", json!({ "session": self.session }))
    }

    /// The hunks that `words` name, as they are now.
    fn hunks(&mut self, words: &[&str]) -> Vec<Value> {
        shown::hunks_named(&self.review(), words)
    }

    fn decide(&mut self, verdict: Value, words: &[&str]) {
        let (words, comment) = match *words {
            [ref words @ .., "saying", text] => (words, Some(text)),
            _ => (words, None),
        };
        for hunk in self.hunks(words) {
            if let Some(text) = comment {
                self.call("review/comment", json!({ "hunk": hunk["id"], "text": text }));
            }
            self.call("review/decide", json!({ "hunk": hunk["id"], "verdict": verdict }));
        }
    }

    fn comment(&mut self, words: &[&str], mut comment: Value) {
        for hunk in self.hunks(words) {
            comment["hunk"] = hunk["id"].clone();
            self.call("review/comment", comment.clone());
        }
    }

    fn finish(&mut self, how: &str) {
        self.call("review/finish", json!({ "how": how }));
    }

    /// The message that the model answers next.
    fn message(&mut self) -> String {
        if self.told.is_none() {
            match self.event("a message to the model") {
                Event::Told(message) => self.told = Some(message),
                other => panic!("the model was told nothing, but {other:?}"),
            }
        }
        self.told.clone().expect("just set")
    }

    fn ended(&mut self, kind: &str, message: &str) {
        let ended = match self.event("an ending") {
            Event::Ended(ended) => ended,
            other => panic!("not ended, but {other:?}"),
        };
        let seen = (ended["ending"].as_str(), ended["message"].as_str());
        assert_eq!(seen, (Some(kind), Some(message)), "the ending");
        let applied = ended["applied"].as_array().expect("files");
        let applied: Vec<&str> = applied.iter().filter_map(|file| file["path"].as_str()).collect();
        self.applying = false;
        self.check_left(&applied);
        self.leave();
    }

    /// The next thing that the script must name.
    fn event(&mut self, awaited: &str) -> Event {
        assert!(self.told.is_none(), "{awaited} comes before the model has answered");
        if let Some(found) = self.found.take() {
            return found;
        }
        loop {
            let notification = self.client.notification();
            if let Some(event) = self.heed(&notification) {
                return event;
            }
        }
    }

    fn wait_until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        while !holds(self) {
            let notification = self.client.notification();
            if let Some(event) = self.heed(&notification) {
                panic!("before {what} there came {event:?}");
            }
        }
    }

    /// Takes one notification in.
    fn heed(&mut self, notification: &Value) -> Option<Event> {
        let params = &notification["params"];
        let method = notification["method"].as_str().unwrap_or_default();
        self.seen.extend(shown::seen(method, params));
        match method {
            "model/told" => {
                self.steps = 0;
                Some(Event::Told(params["message"].as_str()?.to_owned()))
            }
            "model/tool" => {
                self.steps += 1;
                let call = &params["call"];
                let done = call["failed"] == false || call["outcome"] == "stopped by the user";
                assert!(done, "the model's step failed: {}", call["detail"]);
                None
            }
            "gate" => {
                match params["event"].as_str() {
                    Some("start") => self.gate = params["name"].as_str().map(str::to_owned),
                    Some("end") => self.gate = None,
                    _ => {}
                }
                None
            }
            "review/ready" => Some(Event::Review(params["round"].as_u64()?)),
            "turn/ended" => Some(Event::Ended(params.clone())),
            "phase" => {
                let before = std::mem::replace(&mut self.phase, params.clone());
                self.applying |= params["phase"] == "apply";
                // A turn that is held stays in its phase, which is told again.
                if before == *params {
                    return self.view()["held"]["reason"]
                        .as_str()
                        .map(|reason| Event::Held(reason.to_owned()));
                }
                (params["phase"] == "red").then_some(Event::Red)
            }
            _ => None,
        }
    }

    /// Ends the process and starts another on the same data.
    fn restart(&mut self, end: impl FnOnce(&mut Client)) {
        end(&mut self.client);
        self.client = Client::start(self.binary, self.data.path());
        self.told = None;
        let view = self.view();
        self.found = match (&view["held"]["reason"], view["phase"].as_str()) {
            (Value::String(reason), _) => Some(Event::Held(reason.clone())),
            (_, Some("review")) => view["round"].as_u64().map(Event::Review),
            (_, Some("red")) => Some(Event::Red),
            _ => None,
        };
    }

    /// The session's worktree.
    pub(super) fn worktree(&self) -> PathBuf {
        let repos = std::fs::read_dir(self.data.path().join("repos")).expect("private repositories");
        let mut worktrees = repos.flatten().map(|repo| repo.path().join("worktrees").join(&self.session));
        worktrees.next().expect("one repository")
    }

    /// Notes how the user leaves the repository.
    fn leave(&mut self) {
        self.left = self.repository.fingerprint(&[]);
    }

    /// Nothing of the user's has changed, but what was `applied`.
    fn check_left(&self, applied: &[&str]) {
        if self.applying {
            return;
        }
        let now = self.repository.fingerprint(applied);
        let mut left = self.left.clone();
        left.files.retain(|path, _| !applied.iter().any(|applied| path.as_os_str() == *applied));
        assert_eq!(now, left, "what the user left as it was");
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

fn number(word: &str) -> usize {
    word.parse().unwrap_or_else(|_| panic!("{word} is no number"))
}
