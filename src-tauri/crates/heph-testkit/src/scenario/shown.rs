//! What the user is shown, as text to be compared.

use serde_json::Value;

use super::{contents, player::Player, script::Line};

impl Player<'_> {
    /// `expect SUBJECT ...`: compares what there is now with what follows.
    pub(super) fn expect(&mut self, words: &[&str], line: &Line) {
        match *words {
            // Files, of the user's tree and of the worktree.
            ["file", path, ref words @ ..] => {
                self.expect_file(self.repository.root().join(path), path, words, line)
            }
            ["worktree", "file", path, ref words @ ..] => {
                self.expect_file(self.worktree().join(path), path, words, line);
            }
            ["no", "file", path] => assert!(!self.repository.root().join(path).exists(), "{path} is there"),
            ["no", "worktree", "file", path] => {
                assert!(!self.worktree().join(path).exists(), "{path} is there")
            }
            // What a command prints in the user's repository.
            ["output", command, ref words @ ..] => {
                compare(command, self.repository.sh(command).trim_end(), words, line);
            }
            // The session.
            ["phase", ref words @ ..] => {
                let phase = text(&self.view()["phase"]);
                compare("the phase", &phase, words, line);
            }
            ["gates", ref words @ ..] => {
                let view = self.view();
                compare(
                    "the gates",
                    &listed(&view["gates"], |gate| {
                        format!("{}: {}", text(&gate["name"]), text(&gate["result"]))
                    }),
                    words,
                    line,
                );
            }
            // One hunk of the review.
            ["rows", "of", path, "hunk", n, ref words @ ..] => {
                let hunk = self.hunk(path, n);
                compare("the rows", &rows(&hunk["rows"]), words, line);
            }
            ["rationale", "of", path, "hunk", n, ref words @ ..] => {
                let hunk = self.hunk(path, n);
                compare("the rationale", &text(&hunk["rationale"]), words, line);
            }
            ["answered", "by", path, "hunk", n, ref words @ ..] => {
                let hunk = self.hunk(path, n);
                compare("what is answered", &answered(&hunk["answers"]), words, line);
            }
            // The review as a whole.
            [subject, ref words @ ..] => {
                let review = self.review();
                let brief = &review["brief"];
                let seen = match subject {
                    "hunks" => listed(&review["files"], |file| {
                        let whats = each(&file["hunks"]).map(|hunk| text(&hunk["what"]));
                        format!("{}: {}", text(&file["path"]), whats.collect::<Vec<_>>().join(", "))
                    }),
                    "verdicts" => listed(&review["files"], |file| {
                        let verdicts =
                            each(&file["hunks"]).map(|hunk| hunk["verdict"].as_str().unwrap_or("none"));
                        format!("{}: {}", text(&file["path"]), verdicts.collect::<Vec<_>>().join(", "))
                    }),
                    "changes" => listed(&review["files"], |file| match file["old_path"].as_str() {
                        Some(old) => format!("{}: {} from {old}", text(&file["path"]), text(&file["change"])),
                        None => format!("{}: {}", text(&file["path"]), text(&file["change"])),
                    }),
                    "marked" => listed(&review["files"], |file| match file["marked"].as_str() {
                        Some(why) => format!("{}: {why}", text(&file["path"])),
                        None => String::new(),
                    }),
                    "accepted" => listed(&review["accepted_so_far"], |file| {
                        format!("{}: {}", text(&file["path"]), file["hunks"])
                    }),
                    "constraints" => listed(&review["constraints"], |constraint| {
                        let lifted = if constraint["lifted"] == true { ", lifted" } else { "" };
                        format!("{}, round {}{lifted}", text(&constraint["path"]), constraint["round"])
                    }),
                    "reproposed" => listed(&brief["reproposed"], |hunk| {
                        format!("{}: {} (round {})", text(&hunk["path"]), text(&hunk["what"]), hunk["round"])
                    }),
                    "aside" => listed(&brief["set_aside"], |file| {
                        format!("{}: {}", text(&file["path"]), text(&file["reason"]))
                    }),
                    "put-back" => listed(&brief["gates"], |gate| {
                        let paths: Vec<String> = each(&gate["put_back"]).map(text).collect();
                        format!("{}: {}", text(&gate["name"]), paths.join(", "))
                    }),
                    "ignored" => listed(&brief["ignored"], text),
                    "summary" => text(&brief["summary"]),
                    "attempts" => brief["attempts"].to_string(),
                    "last" | "interrupted" => review[subject].to_string(),
                    _ => panic!("nothing is called {subject}"),
                };
                compare(subject, &seen, words, line);
            }
            [] => panic!("what is expected?"),
        }
    }

    fn expect_file(&self, file: std::path::PathBuf, path: &str, words: &[&str], line: &Line) {
        let seen = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{path}: {error}"));
        match *words {
            ["contains", _] | ["lacks", _] => compare(path, &seen, words, line),
            _ => {
                let before = self.before.get(path).map(String::as_str);
                assert_same(path, &seen, &contents::text(words, line, before));
            }
        }
    }

    fn hunk(&mut self, path: &str, number: &str) -> Value {
        hunks_named(&self.review(), &[path, "hunk", number]).remove(0)
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

/// The hunks of `files` that `words` name: `rest` (without a verdict), `PATH`, or `PATH hunk N`.
pub fn hunks_named(review: &Value, words: &[&str]) -> Vec<Value> {
    let files = || each(&review["files"]);
    let of = |path: &str| {
        files().filter(|file| file["path"] == path).flat_map(|file| each(&file["hunks"])).collect()
    };
    let hunks: Vec<&Value> = match *words {
        ["rest"] => {
            files().flat_map(|file| each(&file["hunks"])).filter(|hunk| hunk["verdict"].is_null()).collect()
        }
        [path] => of(path),
        [path, "hunk", number] => {
            let number: u64 = number.parse().expect("a hunk's number");
            let hunks: Vec<&Value> = of(path);
            hunks.into_iter().filter(|hunk| hunk["number"] == number).collect()
        }
        _ => panic!("no hunk is called {}", words.join(" ")),
    };
    assert!(
        !hunks.is_empty(),
        "there is no hunk {} in {}",
        words.join(" "),
        listed(&review["files"], |file| text(&file["path"]))
    );
    hunks.into_iter().cloned().collect()
}

/// The entry of a list that is about `path`.
pub fn of_path<'a>(list: &'a Value, path: &str) -> &'a Value {
    each(list).find(|entry| entry["path"] == path).unwrap_or_else(|| panic!("nothing about {path} in {list}"))
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

/// What an undo did.
pub fn undone(undone: &Value) -> String {
    let restored = each(&undone["restored"]).map(|path| format!("restored {}", text(path)));
    let left =
        each(&undone["left"]).map(|file| format!("left {}: {}", text(&file["path"]), text(&file["reason"])));
    restored.chain(left).collect::<Vec<_>>().join("\n")
}

fn answered(answered: &Value) -> String {
    if answered.is_null() {
        return String::new();
    }
    let mut out = format!("round {}", answered["round"]);
    for comment in each(&answered["comments"]) {
        out.push_str(&format!(": {}", text(comment)));
    }
    if answered["unchanged"] == true {
        out.push_str(" (unchanged)");
    }
    out
}

/// Rows as they are written below a statement.
fn rows(rows: &Value) -> String {
    listed(rows, |row| {
        let mark = if row["kind"] == " " { "|" } else { row["kind"].as_str().unwrap_or_default() };
        format!("{mark} {}", text(&row["text"])).trim_end().to_owned()
    })
}

fn listed(list: &Value, line: impl Fn(&Value) -> String) -> String {
    each(list).map(line).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

fn each(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
