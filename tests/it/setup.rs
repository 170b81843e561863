//! What a worktree needs beside the user's tracked files.

use heph_testkit::Repository;
use serde_json::{Value, json};

use crate::Journey;

const SETTINGS: &str = "[worktree]\ncopy = [\".env\"]\nlink = [\"deps\"]\nsetup = \"./setup.sh\"\n";

const SCRIPT: &str = r#"
[[reply]]
text = "Looked."
[[reply.step]]
tool = "run"
command = "cat .env deps/lib built > seen.txt"
"#;

fn repository(setup: &str) -> Repository {
    let repository = Repository::new(&[
        ("heph.toml", SETTINGS),
        (".gitignore", ".env\ndeps\nbuilt\nsetup.sh\n"),
        ("Cargo.lock", "one\n"),
        ("src/a.txt", "a\n"),
    ]);
    repository.write(".env", "KEY=1\n");
    repository.write("deps/lib", "lib\n");
    repository.write("setup.sh", setup);
    repository
}

fn agree(journey: &mut Journey) {
    let opened = journey.agree();
    assert_eq!((&opened["setup"], &opened["copied"]), (&json!("./setup.sh"), &json!([".env", "deps"])));
}

fn held(journey: &mut Journey) -> Value {
    journey.client.wait_for("session/changed", |_| true);
    loop {
        let view = journey.call("session/load", json!({}));
        if !view["held"].is_null() {
            return view["held"].clone();
        }
        journey.client.wait("session/changed");
    }
}

/// `setup.sh` is ignored: it comes in through a copy of its own, so that the test can change it.
fn with_setup(setup: &str, script: &str) -> Journey {
    let repository = repository(setup);
    let settings =
        SETTINGS.replace("./setup.sh", "sh setup.sh").replace("[\".env\"]", "[\".env\", \"setup.sh\"]");
    repository.write("heph.toml", &settings);
    let mut journey = Journey::start(repository, script);
    journey.agree();
    journey
}

#[test]
fn ignored_files_are_there_for_the_model_and_the_users_own_stay_as_they_are() {
    let mut journey = with_setup("echo built > built; echo scribbled >> src/a.txt; echo done", SCRIPT);
    journey.prompt("Look.");
    let said = journey.client.wait("setup")["output"].as_str().unwrap().to_owned();
    assert_eq!(said, "done\n");
    let review = journey.review(1);
    let files: Vec<&str> =
        review["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(files, ["seen.txt"], "what the setup wrote is no change of the model's");
    let rows = review["files"][0]["hunks"][0]["rows"].as_array().unwrap();
    let text: Vec<&str> = rows.iter().map(|row| row["text"].as_str().unwrap()).collect();
    assert_eq!(text, ["KEY=1", "lib", "built"]);
    assert!(!journey.repository.root().join("built").exists());
}

#[test]
fn nothing_is_set_up_before_it_was_agreed_to() {
    let mut journey = Journey::start(repository("exit 1"), SCRIPT);
    journey.prompt("Look.");
    journey.review(1);
    assert!(!journey.worktree().join(".env").exists());
    agree(&mut journey);
}

#[test]
fn a_setup_that_fails_is_said_with_its_output_and_runs_again_when_asked() {
    let mut journey = with_setup("echo no network; exit 3", SCRIPT);
    journey.prompt("Look.");
    let failed = held(&mut journey);
    assert_eq!(failed["cause"], "setup");
    assert_eq!(
        (failed["reason"].as_str(), failed["output"].as_str()),
        (Some("`sh setup.sh` failed (exit 3)."), Some("no network\n"))
    );
    let error = journey.try_call("turn/resume", json!({ "how": "review" })).unwrap_err();
    assert_eq!(error["data"]["kind"], "refused");
    journey.repository.write("setup.sh", "echo built > built");
    journey.call("turn/resume", json!({ "how": "continue" }));
    journey.review(1);
}

#[test]
fn a_turn_can_go_on_without_a_setup_that_fails() {
    let mut journey = with_setup("exit 3", SCRIPT);
    journey.prompt("Look.");
    held(&mut journey);
    journey.call("turn/resume", json!({ "how": "skip" }));
    journey.review(1);
}

#[test]
fn a_setup_runs_again_only_when_the_users_lockfiles_have_changed() {
    let mut journey = with_setup("echo x >> built", "");
    let mut runs_after = |lock: &str| {
        journey.repository.write("Cargo.lock", lock);
        journey.prompt("Look.");
        journey.ended();
        std::fs::read_to_string(journey.worktree().join("built")).unwrap().lines().count()
    };
    assert_eq!(runs_after("one\n"), 1);
    assert_eq!(runs_after("one\n"), 1, "the worktree is as it was set up");
    assert_eq!(runs_after("two\n"), 2);
}

#[test]
fn a_worktree_that_nothing_has_needed_for_long_is_taken_away_and_made_anew() {
    let repository = Repository::new(&[("src/a.txt", "a\n")]);
    let mut journey = Journey::start(repository, "");
    journey.prompt("Look.");
    journey.ended();
    let worktree = journey.worktree();
    let journey = journey.close_and_restart();
    let database = rusqlite::Connection::open(journey.data.path().join("heph.db")).unwrap();
    database.execute("UPDATE session SET changed_at = changed_at - 15 * 24 * 60 * 60", []).unwrap();
    let mut journey = journey.kill_and_restart();
    let root = journey.repository.root();
    journey.client.call("repo/open", json!({ "path": root }));
    journey.client.until("the worktree is gone", || !worktree.exists());
    let view = journey.call("session/load", json!({}));
    assert_eq!(view["messages"].as_array().unwrap().len(), 3, "what was said is kept");
    journey.prompt("Look again.");
    journey.ended();
    assert!(worktree.exists());
}

#[test]
fn a_failed_setup_is_not_taken_for_the_one_before_it() {
    let mut journey = with_setup("grep -q one Cargo.lock && echo x >> built", "");
    journey.prompt("Look.");
    journey.ended();
    journey.repository.write("Cargo.lock", "two\n");
    journey.prompt("Look.");
    held(&mut journey);
    journey.call("turn/resume", json!({ "how": "skip" }));
    journey.ended();
    journey.repository.write("Cargo.lock", "one\n");
    journey.prompt("Look.");
    journey.ended();
    let built = std::fs::read_to_string(journey.worktree().join("built")).unwrap();
    assert_eq!(built.lines().count(), 2, "what the failed one left is set up anew");
}

#[test]
fn a_lockfile_of_the_models_runs_no_setup() {
    let script = r#"
[[reply]]
[[reply.step]]
tool = "write"
path = "Cargo.lock"
content = "the model's\n"
rationale = "Newer."
"#;
    let mut journey = with_setup("echo x >> built", script);
    journey.prompt("Update.");
    journey.review(1);
    journey.call("review/finish", json!({ "how": "refuse_all" }));
    journey.ended();
    journey.prompt("Look.");
    journey.ended();
    assert_eq!(std::fs::read_to_string(journey.worktree().join("built")).unwrap(), "x\n");
}

#[test]
fn what_is_not_copied_is_said_and_why() {
    let repository = Repository::new(&[(".gitignore", ".env\n"), ("src/a.txt", "a\n")]);
    repository.write("heph.toml", "[worktree]\ncopy = [\".env\", \"src/a.txt\"]\n");
    let mut journey = Journey::start(repository, SCRIPT);
    journey.agree();
    journey.prompt("Look.");
    assert_eq!(
        journey.client.wait("setup")["output"],
        ".env is not copied: it is not there.\n\
         src/a.txt is not copied: it is not ignored, and only ignored files are copied.\n"
    );
}
