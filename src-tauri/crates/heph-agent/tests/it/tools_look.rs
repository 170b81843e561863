//! `list`, `find`, `search`, `read`.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::play::{call, fault, worktree};

#[tokio::test]
async fn list_shows_one_folder_without_gits_own() {
    let tree =
        worktree(&[("src/a.rs", b""), ("README.md", b""), (".env", b""), (".git", b"gitdir: elsewhere")]);
    symlink("README.md", tree.path().join("link")).unwrap();
    let done = call(tree.path(), "list", json!({"path": "."})).await;
    assert_eq!(done.detail, ".env\nREADME.md\nlink -> README.md\nsrc/");
    assert_eq!((done.outcome.as_str(), done.target.as_str()), ("4 entries", "."));
    assert_eq!(call(tree.path(), "list", json!({"path": "src"})).await.detail, "a.rs");
}

#[tokio::test]
async fn list_of_a_file_or_of_nothing_says_so() {
    let tree = worktree(&[("a", b"")]);
    assert!(fault(tree.path(), "list", json!({"path": "a"})).await.contains("a is no folder"));
    assert!(fault(tree.path(), "list", json!({"path": "b"})).await.contains("b does not exist"));
}

#[tokio::test]
async fn find_takes_globs_and_respects_the_ignore_rules() {
    let tree = worktree(&[
        ("src/a.rs", b""),
        ("src/deep/b.rs", b""),
        ("target/c.rs", b""),
        (".gitignore", b"/target\n"),
        (".github/ci.yml", b""),
    ]);
    let find = async |pattern| call(tree.path(), "find", json!({ "pattern": pattern })).await.detail;
    assert_eq!(find("*.rs").await, "src/a.rs\nsrc/deep/b.rs");
    assert_eq!(find("src/*.rs").await, "src/a.rs");
    assert_eq!(find("**/*.{rs,yml}").await, ".github/ci.yml\nsrc/a.rs\nsrc/deep/b.rs");
    assert_eq!(find("*.py").await, "no file fits *.py; ignored files are not looked at");
    assert!(
        fault(tree.path(), "find", json!({"pattern": "a[b"})).await.contains("the pattern cannot be used")
    );
}

#[tokio::test]
async fn search_gives_path_line_and_text_of_what_is_not_ignored() {
    let tree = worktree(&[
        ("src/a.rs", b"fn one() {}\nlet key = \"hunter2\";\n"),
        ("src/b.rs", b"// hunter2\r\n"),
        ("build/c.rs", b"hunter2\n"),
        ("logo.png", b"\x89PNG\0hunter2\n"),
        (".gitignore", b"build/\n"),
    ]);
    let done = call(tree.path(), "search", json!({"pattern": "hunter[0-9]"})).await;
    assert_eq!(done.detail, "src/a.rs:2: let key = \"hunter2\";\nsrc/b.rs:1: // hunter2");
    assert_eq!(done.outcome, "2 matches in 2 files");
    let done = call(tree.path(), "search", json!({"pattern": "^// hunter2$", "path": "src/b.rs"})).await;
    assert_eq!(done.outcome, "1 match in 1 file");
    assert_eq!(call(tree.path(), "search", json!({"pattern": "absent"})).await.outcome, "no match");
    assert!(
        fault(tree.path(), "search", json!({"pattern": "("})).await.contains("the pattern cannot be used")
    );
    assert!(
        fault(tree.path(), "search", json!({"pattern": "a", "path": "gone"}))
            .await
            .contains("does not exist")
    );
}

#[tokio::test]
async fn ignore_rules_hold_below_a_named_folder_and_none_from_above_the_worktree_do() {
    let above = worktree(&[
        (".gitignore", b"*\n"),
        ("tree/.gitignore", b"/src/out/\n"),
        ("tree/src/a.rs", b"hunter2\n"),
        ("tree/src/out/b.rs", b"hunter2\n"),
        ("tree/srcs/c.rs", b"hunter2\n"),
    ]);
    let done = call(&above.path().join("tree"), "search", json!({"pattern": "hunter2", "path": "src"})).await;
    assert_eq!(done.detail, "src/a.rs:1: hunter2");
}

#[tokio::test]
async fn search_is_bounded_and_says_so() {
    let tree = worktree(&[("a", "match\n".repeat(5000).as_bytes())]);
    let done = call(tree.path(), "search", json!({"pattern": "match"})).await;
    assert_eq!(done.outcome, "more than 200 matches");
    assert_eq!(done.detail.lines().count(), 201);
}

#[tokio::test]
async fn search_follows_no_link_out_of_the_worktree() {
    let outside = worktree(&[("secret", b"hunter2\n")]);
    let tree = worktree(&[("a", b"nothing\n")]);
    symlink(outside.path(), tree.path().join("out")).unwrap();
    assert_eq!(call(tree.path(), "search", json!({"pattern": "hunter2"})).await.outcome, "no match");
    let error = fault(tree.path(), "search", json!({"pattern": "hunter2", "path": "out/secret"})).await;
    assert!(error.contains("out of the worktree"), "{error}");
}

#[tokio::test]
async fn read_numbers_the_lines_and_takes_a_range() {
    let tree = worktree(&[("a", b"one\ntwo\r\nthree")]);
    let done = call(tree.path(), "read", json!({"path": "a"})).await;
    assert_eq!(done.detail, "    1  one\n    2  two\n    3  three\n");
    assert_eq!(done.outcome, "3 lines");
    let done = call(tree.path(), "read", json!({"path": "a", "first": 2, "last": 9})).await;
    assert_eq!(done.detail, "    2  two\n    3  three\n");
    assert_eq!(done.outcome, "lines 2-3 of 3");
    let error = fault(tree.path(), "read", json!({"path": "a", "first": 4})).await;
    assert_eq!(error, "a ends at line 3; nothing is at line 4");
    assert!(fault(tree.path(), "read", json!({"path": "a", "first": 0})).await.contains("counted from 1"));
    assert!(fault(tree.path(), "read", json!({"path": "a", "first": -1})).await.contains("invalid value"));
}

#[tokio::test]
async fn read_cuts_a_large_file_and_says_how_to_go_on() {
    let text: String = (1..=5000).map(|n| format!("line {n}\n")).collect();
    let tree = worktree(&[("a", text.as_bytes()), ("b", "x".repeat(200_000).as_bytes())]);
    let done = call(tree.path(), "read", json!({"path": "a"})).await;
    assert!(
        done.detail.ends_with("line 2000\n[... lines 2001-5000 are left out; ask with `first` = 2001 ...]\n")
    );
    assert_eq!(done.outcome, "lines 1-2000 of 5000");
    let done = call(tree.path(), "read", json!({"path": "b"})).await;
    assert!(done.detail.len() < 70_000 && done.detail.ends_with("[... the line goes on ...]\n"));
}

#[tokio::test]
async fn read_says_what_is_binary_empty_or_not_utf_8() {
    let tree = worktree(&[("bin", b"\x7fELF\0"), ("empty", b""), ("latin", b"caf\xe9\n")]);
    assert_eq!(call(tree.path(), "read", json!({"path": "bin"})).await.outcome, "binary, 5 bytes");
    assert_eq!(call(tree.path(), "read", json!({"path": "empty"})).await.detail, "empty is empty");
    let latin = call(tree.path(), "read", json!({"path": "latin"})).await.detail;
    assert!(latin.starts_with("    1  caf\u{fffd}\n[the file is not UTF-8"), "{latin}");
}

#[tokio::test]
async fn read_of_a_folder_a_pipe_or_nothing_says_so() {
    let tree = worktree(&[("src/a", b"")]);
    let pipe = tree.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(fault(tree.path(), "read", json!({"path": "src"})).await.contains("src is a folder"));
    assert!(
        fault(tree.path(), "read", json!({"path": "pipe"})).await.contains("neither a file nor a folder")
    );
    assert!(fault(tree.path(), "read", json!({"path": "nope"})).await.contains("nope does not exist"));
    assert!(fault(tree.path(), "read", json!({"path": "src/a/b"})).await.contains("src/a/b"));
}

#[tokio::test]
async fn links_inside_the_worktree_are_followed() {
    let tree = worktree(&[("real/a", b"text\n")]);
    symlink("real", tree.path().join("link")).unwrap();
    assert_eq!(call(tree.path(), "read", json!({"path": "link/a"})).await.outcome, "1 line");
    assert_eq!(call(tree.path(), "list", json!({"path": "link"})).await.detail, "a");
}
