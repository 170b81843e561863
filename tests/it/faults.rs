//! Bad input of every kind: a clear error, and nothing lost.

use heph_testkit::Repository;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Journey, hunks, new_session, open, serve};

fn repository() -> Repository {
    Repository::new(&[("a.txt", "one\ntwo\ntwo\n")])
}

#[test]
fn a_folder_that_is_no_repository_and_a_missing_path_are_named() {
    let data = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut client = serve(&data);
    let error = client.try_call("repo/open", json!({ "path": folder.path() })).unwrap_err();
    assert_eq!(error["data"]["kind"], "not_a_repository");
    assert!(error["message"].as_str().unwrap().contains("git init"), "{error}");
    let missing = folder.path().join("gone");
    let error = client.try_call("repo/open", json!({ "path": missing })).unwrap_err();
    assert_eq!(error["data"]["kind"], "no_such_path");
    assert!(error["message"].as_str().unwrap().contains(missing.to_str().unwrap()), "{error}");
}

#[test]
fn malformed_lines_and_unknown_methods_are_answered_and_do_not_end_it() {
    let data = tempfile::tempdir().unwrap();
    let mut client = serve(&data);
    for (line, code, id) in [
        ("{", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        (r#"{"id":1,"method":"repo/recent"}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":"a","method":7}"#, -32600, json!("a")),
        (r#"{"jsonrpc":"2.0","id":1,"method":"repo/frob"}"#, -32601, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"repo/open","params":{"pat":1}}"#, -32602, json!(1)),
    ] {
        let reply = client.raw(line);
        assert_eq!((&reply["error"]["code"], &reply["id"]), (&json!(code), &id), "{line}: {reply}");
    }
    assert_eq!(client.call("repo/recent", Value::Null), json!({ "repos": [] }));
}

#[test]
fn a_fault_in_a_replay_file_is_named_by_line_and_field() {
    let data = tempfile::tempdir().unwrap();
    let repository = repository();
    let mut client = serve(&data);
    let repo = open(&mut client, &repository);
    let script = "[[reply]]\ntext = \"x\"\n[[reply.step]]\ntool = \"edit\"\npath = \"a.txt\"\nold = \"one\"\nrationale = \"r\"\n";
    let error = new_session(&mut client, &repository, &repo, script).unwrap_err();
    let message = error["message"].as_str().unwrap();
    assert_eq!(error["data"]["kind"], "settings");
    assert!(message.contains("model.replay.toml:3") && message.contains("`new`"), "{message}");
    assert_eq!(client.call("session/list", json!({ "repo": repo })), json!({ "sessions": [] }));
}

/// What is said to a prompt that no model can be given, once the prompt is seen to be kept.
fn refused_but_kept(data: &TempDir) -> String {
    let repository = repository();
    let mut client = serve(data);
    let repo = open(&mut client, &repository);
    let session = client.call("session/new", json!({ "repo": repo }))["session"].clone();
    let prompt = json!({ "session": session, "prompt": "Do it." });
    let error = client.try_call("turn/start", prompt).unwrap_err();
    assert_eq!(error["data"]["kind"], "settings");
    assert_eq!(client.call("session/load", json!({ "session": session }))["draft"], "Do it.");
    error["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_prompt_without_a_model_is_kept() {
    refused_but_kept(&tempfile::tempdir().unwrap());
}

const EDITS: &str = r#"
[[reply]]
text = "Done."
[[reply.step]]
tool = "edit"
path = "a.txt"
old = "three"
new = "3"
rationale = "Absent."
[[reply.step]]
tool = "edit"
path = "a.txt"
old = "two"
new = "2"
rationale = "Twice."
[[reply.step]]
tool = "write"
path = "../outside.txt"
content = "out"
rationale = "Leaves."
[[reply.step]]
tool = "write"
path = ".git/hooks/post-checkout"
content = "out"
rationale = "Git's."
[[reply.step]]
tool = "edit"
path = "a.txt"
old = "one\n"
new = "1\n"
rationale = "Once."
"#;

#[test]
fn an_edit_that_does_not_fit_is_told_to_the_model_which_may_try_again() {
    let repository = repository();
    let before = repository.fingerprint(&["a.txt"]);
    let mut journey = Journey::start(repository, EDITS);
    journey.prompt("Numbers.");
    let mut outcomes = Vec::new();
    for _ in 0..5 {
        let tool = journey.client.wait("model/tool");
        outcomes.push((
            tool["call"]["failed"].as_bool().unwrap(),
            tool["call"]["detail"].as_str().unwrap().to_owned(),
        ));
    }
    let failed: Vec<bool> = outcomes.iter().map(|(failed, _)| *failed).collect();
    assert_eq!(failed, [true, true, true, true, false], "{outcomes:?}");
    assert!(outcomes[1].1.contains('2'), "it says how often: {}", outcomes[1].1);
    assert!(outcomes[2].1.contains("leaves the worktree"), "{}", outcomes[2].1);
    let proposed = hunks(&journey.review(1));
    assert_eq!(proposed.len(), 1);
    assert_eq!(proposed[0]["rationale"], "Once.");
    journey.call("review/finish", json!({ "how": "accept_all" }));
    journey.ended();
    assert_eq!(journey.repository.read("a.txt"), "1\ntwo\ntwo\n");
    assert_eq!(journey.repository.fingerprint(&["a.txt"]), before);
    assert!(!journey.repository.beside("outside.txt").exists());
}

#[test]
fn a_prompt_while_a_turn_is_open_is_kept_as_the_draft_and_stale_names_are_said() {
    let mut journey = Journey::start(repository(), EDITS);
    journey.prompt("Numbers.");
    journey.review(1);
    let error = journey.try_call("turn/start", json!({ "prompt": "And more." })).unwrap_err();
    assert_eq!(error["data"]["kind"], "turn_open");
    assert_eq!(journey.call("session/load", json!({}))["draft"], "And more.");
    let error =
        journey.try_call("review/decide", json!({ "hunk": "0000", "verdict": "accept" })).unwrap_err();
    assert_eq!(error["data"]["kind"], "stale");
    let error = journey.try_call("turn/resume", json!({ "how": "continue" })).unwrap_err();
    assert_eq!(error["data"]["kind"], "refused");
    let error = journey.try_call("review/finish", json!({ "how": "finish" })).unwrap_err();
    assert_eq!(error["message"], "1 hunk has no verdict yet. Decide it first.");
}

#[test]
fn without_good_settings_no_turn_starts_and_the_prompt_is_kept() {
    let repository = repository();
    repository.write("heph.toml", "[review]\nmax_rounds = 0\n");
    let mut journey = Journey::start(repository, EDITS);
    let root = journey.repository.root();
    let opened = journey.client.call("repo/open", json!({ "path": root }));
    let problem = opened["problems"][0].as_str().unwrap();
    assert!(problem.contains("heph.toml:2: max_rounds: 0 is out of range"), "{problem}");
    assert_eq!((&opened["trusted"], &opened["gates"]), (&json!(false), &json!([])));
    let agreed = json!({ "repo": opened["repo"], "digest": opened["digest"] });
    assert_eq!(journey.client.try_call("repo/trust", agreed).unwrap_err()["data"]["kind"], "settings");
    let error = journey.try_call("turn/start", json!({ "prompt": "Numbers." })).unwrap_err();
    assert_eq!(error["data"]["kind"], "settings", "{error}");
    assert_eq!(journey.call("session/load", json!({}))["draft"], "Numbers.");
    journey.repository.write("heph.toml", "[review]\nmax_rounds = 1\n");
    journey.prompt("Numbers.");
    journey.review(1);
}

#[test]
fn the_last_good_settings_hold_also_where_the_repository_is_opened_again() {
    let repository = repository();
    repository.write("heph.toml", "[[gate]]\nname = \"t\"\nrun = \"true\"\n");
    let mut journey = Journey::start(repository, EDITS);
    journey.repository.write("heph.toml", "[[gate]]\nname = \"t\"\n");
    let root = journey.repository.root();
    let opened = journey.client.call("repo/open", json!({ "path": root }));
    let problem = opened["problems"][0].as_str().unwrap();
    assert!(problem.contains("run") && problem.ends_with("The last good settings hold."), "{problem}");
    assert_eq!(opened["gates"], json!([{ "name": "t", "run": "true" }]));
    assert_eq!(opened["trusted"], false);
}

#[test]
fn two_gates_of_one_name_are_refused() {
    let gate = "[[gate]]\nname = \"t\"\nrun = \"true\"\n";
    let repository = repository();
    repository.write("heph.toml", gate);
    let mut journey = Journey::start(repository, EDITS);
    std::fs::write(journey.data.path().join("config.toml"), gate).unwrap();
    let opened = journey.agree();
    assert!(opened["problems"][0].as_str().unwrap().contains("\"t\""), "{opened}");
    let error = journey.try_call("turn/start", json!({ "prompt": "Numbers." })).unwrap_err();
    assert_eq!(error["data"]["kind"], "settings");
    assert!(error["message"].as_str().unwrap().contains("\"t\""), "{error}");
    assert_eq!(journey.call("session/load", json!({}))["draft"], "Numbers.");
}

#[test]
fn a_provider_that_is_not_there_yet_is_said_and_the_prompt_is_kept() {
    let data = tempfile::tempdir().unwrap();
    std::fs::write(data.path().join("config.toml"), "[model]\nprovider = \"anthropic\"\n").unwrap();
    let message = refused_but_kept(&data);
    assert!(message.contains("anthropic") && message.contains("not available yet"), "{message}");
}

#[test]
fn a_second_heph_on_the_same_data_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let mut client = serve(&data);
    client.call("repo/recent", Value::Null);
    let second = std::process::Command::new(env!("CARGO_BIN_EXE_heph-serve"))
        .args(["--data".as_ref(), data.path()])
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert!(!second.status.success());
    assert!(String::from_utf8_lossy(&second.stderr).contains("Another Heph"), "{second:?}");
}
