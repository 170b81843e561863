//! The statements of a conversation.

use serde_json::{Value, json};

use super::{contents, player::Player, script::Line, shown};
use crate::Client;

impl Player<'_> {
    /// Plays one statement.
    pub(super) fn act(&mut self, words: &[&str], line: &Line) {
        match *words {
            // What happens, in this order.
            ["told", ref words @ ..] => shown::compare("told", &self.message(), words, line),
            ["review", "round", round] => {
                assert_eq!(self.event("review").to_string(), round, "the round");
                if !self.applying {
                    self.check_left(&[]);
                }
            }
            ["red"] => drop(self.event("red")),
            ["held", ref words @ ..] => {
                let reason = shown::text(&self.event("held"));
                shown::compare("held", &reason, words, line);
            }
            // Files that are named after `without` are gone, as after a rename.
            ["ended", kind, message] => self.ended(kind, message, &[]),
            ["ended", kind, message, "without", ref gone @ ..] => self.ended(kind, message, gone),

            // What the user does outside of Heph.
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
            ["finish" | "stop"] | ["accept" | "refuse", "all"] | ["refuse", "rest"] => {
                self.call("review/finish", json!({ "how": words.join("_") }));
            }
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
            // Wherever it can be split.
            ["split", ref hunks @ ..] => {
                for hunk in shown::hunks_named(&self.review(), hunks) {
                    self.call("review/split", json!({ "hunk": hunk["id"], "at": hunk["split_at"] }));
                }
            }
            // Changes the proposed file and saves it.
            ["rewrite", path, ref words @ ..] => {
                let proposed = self.call("review/file", json!({ "path": path }));
                let (old, new) = contents::change(words, line);
                let content = contents::replaced(&shown::text(&proposed["content"]), &old, &new);
                self.call("review/edit", json!({ "path": path, "content": content }));
            }
            ["take", "back", ref hunks @ ..] => {
                let accepted = self.call("review/accepted", json!({}));
                for hunk in shown::hunks_named(&accepted, hunks) {
                    self.call("review/take_back", json!({ "hunk": hunk["id"] }));
                }
            }
            ["ask", "about", path] => {
                let reproposed = shown::of_path(&self.review()["brief"]["reproposed"], path);
                self.call("review/ask", json!({ "reproposed": reproposed["id"] }));
            }
            ["lift", path] => {
                let constraint = shown::of_path(&self.review()["constraints"], path);
                self.call("review/lift", json!({ "constraint": constraint["id"] }));
            }
            ["choose", ref choice @ ..] => {
                self.call("red/choose", json!({ "choice": choice.join("_") }));
            }
            ["resume", how] => drop(self.call("turn/resume", json!({ "how": how }))),
            ["interrupt"] => drop(self.call("turn/interrupt", json!({}))),
            ["review", "own", "tree"] => drop(self.call("review/open", json!({}))),
            ["undo", ref words @ ..] => {
                let turn = self.view()["turn"].clone();
                let undone = self.call("turn/undo", json!({ "turn": turn }));
                if !undone.is_null() {
                    shown::compare("undone", &shown::undone(&undone), words, line);
                }
                self.leave();
            }
            ["heph", "is", "killed"] => self.restart(Client::kill),
            ["heph", "is", "closed"] => self.restart(|client| assert!(client.close(), "it ends well")),

            // The model has done so many steps of its reply; a gate has started.
            ["wait", "for", "step", n] => self.wait_until(|me| me.steps >= number(n)),
            ["wait", "for", "gate", name] => self.wait_until(|me| me.gate.as_deref() == Some(name)),

            ["expect", ref words @ ..] => self.expect(words, line),
            _ => panic!("no such statement"),
        }
    }

    fn ended(&mut self, kind: &str, message: &str, gone: &[&str]) {
        let ended = self.event("ended");
        let seen = (ended["ending"].as_str(), ended["message"].as_str());
        assert_eq!(seen, (Some(kind), Some(message)), "the ending");
        for path in gone {
            assert!(!self.repository.root().join(path).exists(), "{path} is still there");
        }
        let applied = ended["applied"].as_array().expect("files");
        let mut changed: Vec<&str> = applied.iter().filter_map(|file| file["path"].as_str()).collect();
        changed.extend(gone);
        if kind == "reviewed" {
            changed.push(".git/index");
        }
        self.check_left(&changed);
        self.leave();
    }

    fn decide(&mut self, verdict: Value, words: &[&str]) {
        let (hunks, comment) = match *words {
            [ref hunks @ .., "saying", text] => (hunks, Some(text)),
            _ => (words, None),
        };
        if let Some(text) = comment {
            self.comment(hunks, json!({ "text": text }));
        }
        for hunk in shown::hunks_named(&self.review(), hunks) {
            self.call("review/decide", json!({ "hunk": hunk["id"], "verdict": verdict }));
        }
    }

    fn comment(&mut self, hunks: &[&str], mut comment: Value) {
        for hunk in shown::hunks_named(&self.review(), hunks) {
            comment["hunk"] = hunk["id"].clone();
            self.call("review/comment", comment.clone());
        }
    }
}

fn number(word: &str) -> usize {
    word.parse().unwrap_or_else(|_| panic!("{word} is no number"))
}
