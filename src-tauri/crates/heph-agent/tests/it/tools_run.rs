//! `run`.

use serde_json::json;

use crate::play::{call, worktree};

#[tokio::test]
async fn run_gives_the_exit_code_and_the_output() {
    let tree = worktree(&[("a", b"text\n")]);
    let done = call(tree.path(), "run", json!({"command": "cat a; echo oops >&2"})).await;
    assert_eq!(
        (done.outcome.as_str(), done.detail.as_str(), done.failed),
        ("exit 0", "exit 0\ntext\noops\n", false)
    );
    assert_eq!(done.target, "cat a; echo oops >&2");
    let done = call(tree.path(), "run", json!({"command": "exit 3"})).await;
    assert_eq!((done.outcome.as_str(), done.detail.as_str(), done.failed), ("exit 3", "exit 3", true));
}

#[tokio::test]
async fn run_has_a_temporary_folder_of_its_own_that_goes_with_it() {
    let tree = worktree(&[]);
    let done = call(tree.path(), "run", json!({"command": "touch \"$TMPDIR/x\" && echo \"$TMPDIR\""})).await;
    let temp = done.detail.lines().nth(1).unwrap();
    assert!(temp.contains("heph-run-") && !std::path::Path::new(temp).exists(), "{temp}");
}

#[tokio::test]
async fn git_finds_no_repository_above_the_worktree() {
    let above = worktree(&[("work/a", b"")]);
    let git = |arguments: &[&str]| {
        std::process::Command::new("git").args(arguments).current_dir(above.path()).output()
    };
    assert!(git(&["init", "--quiet"]).unwrap().status.success());
    let done = call(&above.path().join("work"), "run", json!({"command": "git rev-parse --git-dir"})).await;
    assert_eq!(done.outcome, "exit 128", "{}", done.detail);
}

#[tokio::test]
async fn a_long_output_is_cut_in_the_middle() {
    let tree = worktree(&[]);
    let done = call(tree.path(), "run", json!({"command": "seq 1 100000"})).await;
    assert!(done.detail.starts_with("exit 0\n1\n2\n") && done.detail.ends_with("\n99999\n100000\n"));
    assert!(done.detail.contains(" bytes left out ...]\n") && done.detail.len() < 40_000);
}
