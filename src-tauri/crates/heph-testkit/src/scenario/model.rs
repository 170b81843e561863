//! What the model does, as a replay file.

use serde_json::{Value, json};

use super::{contents, script::Line};

/// The replay file of all `model` blocks, in order.
pub fn replay(lines: &[Line]) -> String {
    let replies: Vec<Value> =
        lines.iter().enumerate().filter_map(|(at, line)| reply(line, &lines[at + 1..])).collect();
    let file = if replies.is_empty() { json!({}) } else { json!({ "reply": replies }) };
    toml::to_string(&file).expect("replies are tables of texts")
}

/// The steps that follow a `model` line.
pub fn steps<'a>(line: &Line, rest: &'a [Line]) -> &'a [Line] {
    let end = rest.iter().position(|step| step.indent <= line.indent).unwrap_or(rest.len());
    &rest[..end]
}

fn reply(line: &Line, rest: &[Line]) -> Option<Value> {
    let (text, failure) = match line.words()[..] {
        // Does the steps below, and closes with these words.
        ["model", "says", text] => (text, None),
        // Does the steps below; then it cannot be reached any more.
        ["model", "fails", reason] => ("", Some(reason)),
        ["model", ..] => line.refuse("no such statement"),
        _ => return None,
    };
    let steps: Vec<Value> = steps(line, rest).iter().map(|line| step(line, text)).collect();
    let mut reply = json!({ "text": text });
    if let Some(failure) = failure {
        reply["fail"] = json!(failure);
    }
    if !steps.is_empty() {
        reply["step"] = json!(steps);
    }
    Some(reply)
}

/// One tool call. Without a `because` its reason are the words that the reply closes with.
fn step(line: &Line, closing: &str) -> Value {
    let words = line.words();
    let (words, rationale) = match &words[..] {
        [words @ .., "because", rationale] => (words, *rationale),
        words => (words, if closing.is_empty() { "It is asked for." } else { closing }),
    };
    match *words {
        ["edit", path, ref words @ ..] => {
            let (old, new) = contents::change(words, line);
            json!({ "tool": "edit", "path": path, "old": old, "new": new, "rationale": rationale })
        }
        ["write", path, ref words @ ..] => {
            let content = contents::text(words, line, None);
            json!({ "tool": "write", "path": path, "content": content, "rationale": rationale })
        }
        ["delete", path] => json!({ "tool": "delete", "path": path, "rationale": rationale }),
        ["move", path, "->", to] => json!({ "tool": "move", "path": path, "to": to, "rationale": rationale }),
        ["run", command] => json!({ "tool": "run", "command": command }),
        _ => line.refuse("the model cannot do that"),
    }
}
