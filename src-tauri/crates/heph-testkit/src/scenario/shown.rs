//! What the user is shown, as text to be compared.

use std::path::Path;

use serde_json::Value;

use super::{contents, player::Player, script::Line};

impl Player<'_> {
    /// `expect SUBJECT ...`: compares what there is now with what follows.
    pub(super) fn expect(&mut self, words: &[&str], line: &Line) {
        let (what, seen, words): (&str, String, &[&str]) = match *words {
            // Files, of the user's tree and of the worktree.
            ["no", "file", path] => {
                return assert!(!self.repository.root().join(path).exists(), "{path} is there");
            }
            ["no", "worktree", "file", path] => {
                return assert!(!self.worktree().join(path).exists(), "{path} is there");
            }
            ["file", path, ref words @ ..] => {
                return self.expect_file(&self.repository.root().join(path), path, words, line);
            }
            ["worktree", "file", path, ref words @ ..] => {
                return self.expect_file(&self.worktree().join(path), path, words, line);
            }
            // What a command prints in the user's repository.
            ["output", command, ref words @ ..] => {
                (command, self.repository.sh(command).trim_end().to_owned(), words)
            }
            // The session.
            ["phase", ref words @ ..] => ("the phase", text(&self.view()["phase"]), words),
            ["gates", ref words @ ..] => {
                let gate = |gate: &Value| format!("{}: {}", text(&gate["name"]), text(&gate["result"]));
                ("the gates", listed(&self.view()["gates"], gate), words)
            }
            // One hunk of the review.
            ["rows", "of", path, "hunk", n, ref words @ ..] => {
                ("the rows", rows(&self.hunk(path, n)["rows"]), words)
            }
            ["rationale", "of", path, "hunk", n, ref words @ ..] => {
                ("the rationale", text(&self.hunk(path, n)["rationale"]), words)
            }
            ["answered", "by", path, "hunk", n, ref words @ ..] => {
                ("what is answered", answered(&self.hunk(path, n)["answers"]), words)
            }
            // The review as a whole.
            [subject, ref words @ ..] => (subject, of_review(&self.review(), subject), words),
            [] => panic!("what is expected?"),
        };
        compare(what, &seen, words, line);
    }

    fn expect_file(&self, file: &Path, path: &str, words: &[&str], line: &Line) {
        let seen = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{path}: {error}"));
        let before = self.before.get(path).map(String::as_str);
        assert_same(path, &seen, &contents::text(words, line, before));
    }

    fn hunk(&mut self, path: &str, number: &str) -> Value {
        hunks_named(&self.review(), &[path, "hunk", number]).remove(0)
    }
}

/// One subject of a review: mostly a line for each entry, which begins with its path.
fn of_review(review: &Value, subject: &str) -> String {
    let brief = &review["brief"];
    let by_path = |list: &Value, rest: &dyn Fn(&Value) -> String| {
        listed(list, |entry| format!("{}{}", text(&entry["path"]), rest(entry)))
    };
    let hunks = |of: &dyn Fn(&Value) -> String| {
        by_path(&review["files"], &|file| {
            let hunks: Vec<String> = each(&file["hunks"]).map(of).collect();
            format!(": {}", hunks.join(", "))
        })
    };
    match subject {
        "hunks" => hunks(&|hunk| text(&hunk["what"])),
        "verdicts" => hunks(&|hunk| hunk["verdict"].as_str().unwrap_or("none").to_owned()),
        "changes" => by_path(&review["files"], &|file| {
            let from = file["old_path"].as_str().map(|old| format!(" from {old}"));
            format!(": {}{}", text(&file["change"]), from.unwrap_or_default())
        }),
        "marked" => by_path(&review["files"], &|file| format!(": {}", text(&file["marked"]))),
        "accepted" => by_path(&review["accepted_so_far"], &|file| format!(": {}", file["hunks"])),
        "constraints" => by_path(&review["constraints"], &|constraint| {
            let lifted = if constraint["lifted"] == true { ", lifted" } else { "" };
            format!(", round {}{lifted}", constraint["round"])
        }),
        "reproposed" => by_path(&brief["reproposed"], &|hunk| {
            format!(": {} (round {})", text(&hunk["what"]), hunk["round"])
        }),
        "aside" => by_path(&brief["set_aside"], &|file| format!(": {}", text(&file["reason"]))),
        "put-back" => listed(&brief["gates"], |gate| {
            let paths: Vec<String> = each(&gate["put_back"]).map(text).collect();
            format!("{}: {}", text(&gate["name"]), paths.join(", "))
        }),
        "ignored" => listed(&brief["ignored"], text),
        "attempts" => brief["attempts"].to_string(),
        "last" | "interrupted" => review[subject].to_string(),
        _ => panic!("nothing is called {subject}"),
    }
}

/// Compares a text: it is what follows, or the rows below; it `contains` or `lacks` it; or it is
/// `nothing`.
pub fn compare(what: &str, seen: &str, words: &[&str], line: &Line) {
    let rows = line.text();
    match *words {
        ["nothing"] => assert_same(what, seen, ""),
        [] if line.rows.is_empty() => panic!("{what}: nothing to compare with; seen:\n{seen}"),
        [] => assert_same(what, seen, &rows),
        ["contains", part] => assert!(seen.contains(part), "{what}: {part:?} is not in:\n{seen}"),
        ["contains"] => assert!(seen.contains(&rows), "{what}: the rows are not in:\n{seen}"),
        ["lacks", part] => assert!(!seen.contains(part), "{what}: {part:?} is in:\n{seen}"),
        [expected] => assert_same(what, seen, expected),
        _ => panic!("what is compared with {what}?"),
    }
}

fn assert_same(what: &str, seen: &str, expected: &str) {
    assert!(seen == expected, "{what} is\n{seen}\nand not\n{expected}");
}

/// The hunks that `words` name: `rest` (without a verdict), `PATH`, or `PATH hunk N`.
pub fn hunks_named(review: &Value, words: &[&str]) -> Vec<Value> {
    let hunks =
        each(&review["files"]).flat_map(|file| each(&file["hunks"]).map(move |hunk| (&file["path"], hunk)));
    let hunks: Vec<Value> = hunks
        .filter(|(path, hunk)| match *words {
            ["rest"] => hunk["verdict"].is_null(),
            [of] => **path == of,
            [of, "hunk", number] => **path == of && hunk["number"].as_u64() == number.parse().ok(),
            _ => panic!("no hunk is called {}", words.join(" ")),
        })
        .map(|(_, hunk)| hunk.clone())
        .collect();
    assert!(!hunks.is_empty(), "there is no hunk {} in:\n{}", words.join(" "), of_review(review, "hunks"));
    hunks
}

/// The entry of a list that is about `path`.
pub fn of_path(list: &Value, path: &str) -> Value {
    let found = each(list).find(|entry| entry["path"] == path);
    found.unwrap_or_else(|| panic!("nothing about {path} in {list}")).clone()
}

/// What an undo did.
pub fn undone(undone: &Value) -> String {
    let restored = each(&undone["restored"]).map(|path| format!("restored {}", text(path)));
    let left =
        each(&undone["left"]).map(|file| format!("left {}: {}", text(&file["path"]), text(&file["reason"])));
    restored.chain(left).collect::<Vec<_>>().join("\n")
}

/// A notification in a few words, for the report of a failure.
pub fn seen(method: &str, params: &Value) -> Option<String> {
    Some(match method {
        "phase" => {
            format!("round {}, attempt {}: {}", params["round"], params["attempt"], text(&params["phase"]))
        }
        "model/told" => {
            format!("the model is told:\n    {}", text(&params["message"]).replace('\n', "\n    "))
        }
        "model/tool" => format!("the model: {}", text(&params["summary"])),
        "gate" if params["event"] != "output" => {
            let end = params["result"].as_str().unwrap_or("starts");
            format!("gate {} on what is {}: {end}", text(&params["name"]), text(&params["on"]))
        }
        "turn/ended" => format!("ended {} {}", text(&params["ending"]), params["message"]),
        "error" => format!("error: {}", text(&params["message"])),
        _ => return None,
    })
}

fn answered(answered: &Value) -> String {
    if answered.is_null() {
        return String::new();
    }
    let comments: Vec<String> = each(&answered["comments"]).map(text).collect();
    let unchanged = if answered["unchanged"] == true { " (unchanged)" } else { "" };
    format!("round {}: {}{unchanged}", answered["round"], comments.join(", "))
}

/// Rows as they are written below a statement.
fn rows(rows: &Value) -> String {
    listed(rows, |row| {
        let mark = text(&row["kind"]).replace(' ', "|");
        format!("{mark} {}", text(&row["text"])).trim_end().to_owned()
    })
}

fn listed(list: &Value, line: impl Fn(&Value) -> String) -> String {
    each(list).map(line).collect::<Vec<_>>().join("\n")
}

fn each(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// A text of the protocol; empty where there is none.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
