//! The user stops the model, or the program stops under it.

use heph_testkit::Repository;
use serde_json::json;

use crate::{Journey, hunks};

const SCRIPT: &str = r#"
[[reply]]
text = "Both are written."
[[reply.step]]
tool = "write"
path = "first.txt"
content = "first\n"
rationale = "First."
[[reply.step]]
tool = "run"
command = "echo started > started.txt; sleep 600; echo late > late.txt"
[[reply]]
when = "You were cut off"
text = "Now both are written."
[[reply.step]]
tool = "write"
path = "second.txt"
content = "second\n"
rationale = "Second."
"#;

/// The commands that run in the session's worktree.
fn commands_in(journey: &Journey) -> Vec<String> {
    let worktree = journey.worktree();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let inside = processes.filter(|process| {
        std::fs::read_link(process.path().join("cwd")).is_ok_and(|folder| folder.starts_with(&worktree))
    });
    inside.map(|process| std::fs::read_to_string(process.path().join("comm")).unwrap_or_default()).collect()
}

/// A turn whose model has written its first file and now waits in a command.
fn waiting() -> Journey {
    let mut journey = Journey::start(Repository::new(&[("a.txt", "a\n")]), SCRIPT);
    journey.prompt("Write both.");
    journey.client.wait("model/tool");
    journey
}

#[test]
fn an_interrupt_stops_the_model_at_once_and_what_is_there_is_reviewed() {
    let mut journey = waiting();
    journey.call("turn/interrupt", json!({}));
    let review = journey.review(1);
    assert_eq!((&review["interrupted"], &review["last"]), (&json!(true), &json!(true)));
    let first = hunks(&review).into_iter().find(|hunk| hunk["rationale"] == "First.").unwrap();
    journey.decide(&first, "accept");
    journey.call("review/finish", json!({ "how": "refuse_rest" }));
    let ended = journey.ended();
    assert_eq!(ended["message"], "Interrupted in round 1. Applied 1 hunk in 1 file");
    assert_eq!(journey.repository.read("first.txt"), "first\n");
    assert!(!journey.repository.root().join("late.txt").exists());
}

#[test]
fn a_killed_model_is_cut_off_and_goes_on_only_when_asked() {
    let journey = waiting();
    let started = journey.worktree().join("started.txt");
    journey.client.until("the command runs", || started.exists());
    let mut journey = journey.kill_and_restart();
    let view = journey.call("session/load", json!({}));
    journey.client.until("what the killed process had started is ended", || commands_in(&journey).is_empty());
    assert_eq!((&view["phase"], &view["held"]["cause"]), (&json!("model"), &json!("cut_off")));
    journey.call("turn/resume", json!({ "how": "continue" }));
    let told = journey.client.wait("model/told");
    assert!(told["message"].as_str().unwrap().starts_with("You were cut off"), "{told}");
    let review = journey.review(1);
    let rationales: Vec<_> = hunks(&review).iter().map(|hunk| hunk["rationale"].clone()).collect();
    assert!(
        rationales.contains(&json!("First.")) && rationales.contains(&json!("Second.")),
        "{rationales:?}"
    );
}

#[test]
fn closing_standard_input_cuts_the_model_off_and_leaves_no_process() {
    let journey = waiting();
    journey.client.until("a shell runs, and what it waits for", || commands_in(&journey).len() == 2);
    let mut journey = journey.close_and_restart();
    assert_eq!(commands_in(&journey), Vec::<String>::new());
    let view = journey.call("session/load", json!({}));
    assert_eq!(view["held"]["cause"], "cut_off");
    journey.call("turn/resume", json!({ "how": "discard" }));
    let ended = journey.ended();
    assert_eq!(ended["message"], "Failed, nothing applied");
    assert!(!journey.repository.root().join("first.txt").exists());
}
