//! `edit`, `write`, `move`, `delete`, and the paths that none of the tools takes.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};

use heph_agent::ToolDone;
use serde_json::{Value, json};

use crate::play::{bytes, call, fault, worktree};

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "old": old, "new": new, "rationale": "Because."})
}

/// The path and the bytes before and after.
type Note = (String, Option<Vec<u8>>, Option<Vec<u8>>);

fn notes(done: &ToolDone) -> Vec<Note> {
    let side = |side: &Option<heph_core::text::Bytes>| side.clone().map(|bytes| bytes.0);
    done.notes.iter().map(|note| (note.path.display(), side(&note.before), side(&note.after))).collect()
}

#[tokio::test]
async fn edit_replaces_the_one_place_and_notes_why() {
    let tree = worktree(&[("src/a.rs", b"let a = 1;\nlet b = 2;\n")]);
    let done = call(tree.path(), "edit", edit("src/a.rs", "let b = 2;", "let b = 3;\nlet c = 4;")).await;
    assert!(!done.failed, "{done:?}");
    assert_eq!(bytes(&tree, "src/a.rs"), b"let a = 1;\nlet b = 3;\nlet c = 4;\n");
    assert_eq!((done.added, done.removed, done.rationale.as_deref()), (2, 1, Some("Because.")));
    let after = bytes(&tree, "src/a.rs");
    assert_eq!(notes(&done), [("src/a.rs".into(), Some(b"let a = 1;\nlet b = 2;\n".to_vec()), Some(after))]);
    assert_eq!(done.notes[0].rationale, "Because.");
}

#[tokio::test]
async fn edit_leaves_every_other_byte_and_the_mode_alone() {
    let tree = worktree(&[("run.sh", b"caf\xe9 one\r\ntwo\nlast")]);
    let path = tree.path().join("run.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(!call(tree.path(), "edit", edit("run.sh", "two", "2")).await.failed);
    assert_eq!(bytes(&tree, "run.sh"), b"caf\xe9 one\r\n2\nlast");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
}

#[tokio::test]
async fn edit_keeps_a_file_of_crlf_lines_one() {
    let tree = worktree(&[("a", b"one\r\ntwo\r\nthree\r\n")]);
    assert!(!call(tree.path(), "edit", edit("a", "one\ntwo", "1\n1.5\n2")).await.failed);
    assert_eq!(bytes(&tree, "a"), b"1\r\n1.5\r\n2\r\nthree\r\n");
}

#[tokio::test]
async fn edit_tells_what_is_wrong_with_an_old_that_is_not_there() {
    let tree = worktree(&[("a", b"fn f() {\n    one();\n    two();\n}\n")]);
    let told = fault(tree.path(), "edit", edit("a", "one();\n  two();", "x")).await;
    assert!(
        told.contains("does not occur in a") && told.contains("Lines 2-3 differ from it in white space"),
        "{told}"
    );
    let told = fault(tree.path(), "edit", edit("a", "fn f() {\n    three();", "x")).await;
    assert!(told.contains("line 1 of the file"), "{told}");
    let told = fault(tree.path(), "edit", edit("a", "absent", "x")).await;
    assert!(told.contains("`read` the file"), "{told}");
    assert!(fault(tree.path(), "edit", edit("a", "", "x")).await.contains("`old` is empty"));
    assert!(fault(tree.path(), "edit", edit("a", "one", "one")).await.contains("the same"));
    assert_eq!(bytes(&tree, "a"), b"fn f() {\n    one();\n    two();\n}\n");
}

#[tokio::test]
async fn edit_tells_how_often_and_where_an_old_occurs() {
    let tree = worktree(&[("a", b"aa\nb\naa\naaa\n")]);
    let told = fault(tree.path(), "edit", edit("a", "aa", "x")).await;
    assert!(told.contains("occurs 4 times in a, at lines 1, 3, 4, 4"), "{told}");
    assert_eq!(bytes(&tree, "a"), b"aa\nb\naa\naaa\n");
}

#[tokio::test]
async fn every_editing_tool_demands_a_rationale() {
    let tree = worktree(&[("a", b"one\n")]);
    let without = [
        ("edit", json!({"path": "a", "old": "one", "new": "two"})),
        ("write", json!({"path": "a", "content": "two"})),
        ("move", json!({"path": "a", "to": "b"})),
        ("delete", json!({"path": "a"})),
    ];
    for (name, mut arguments) in without {
        let told = fault(tree.path(), name, arguments.clone()).await;
        assert!(told.contains("missing field `rationale`"), "{told}");
        arguments["rationale"] = "  ".into();
        let told = fault(tree.path(), name, arguments).await;
        assert!(told.contains("say in one sentence why"), "{told}");
    }
    assert_eq!(bytes(&tree, "a"), b"one\n");
}

#[tokio::test]
async fn write_makes_a_file_with_its_folders_or_replaces_one() {
    let tree = worktree(&[("old", b"1\n2\n")]);
    let write = |path, content| json!({"path": path, "content": content, "rationale": "R."});
    let done = call(tree.path(), "write", write("new/deep/file", "one\ntwo\n")).await;
    assert_eq!((done.outcome.as_str(), done.added, done.removed), ("new file", 2, 0));
    assert_eq!(notes(&done), [("new/deep/file".into(), None, Some(b"one\ntwo\n".to_vec()))]);
    let done = call(tree.path(), "write", write("old", "1\n3\n")).await;
    assert_eq!((done.outcome.as_str(), done.added, done.removed), ("replaced", 1, 1));
    assert_eq!(bytes(&tree, "old"), b"1\n3\n");
    assert!(fault(tree.path(), "write", write("new", "x")).await.contains("new is a folder"));
    assert!(fault(tree.path(), "write", write("old/x", "x")).await.contains("old"));
}

#[tokio::test]
async fn a_file_written_through_a_link_is_noted_under_its_own_path() {
    let tree = worktree(&[("real/a", b"one\n")]);
    symlink("real", tree.path().join("link")).unwrap();
    let done = call(tree.path(), "edit", edit("link/a", "one", "two")).await;
    assert_eq!(notes(&done), [("real/a".into(), Some(b"one\n".to_vec()), Some(b"two\n".to_vec()))]);
}

#[tokio::test]
async fn move_makes_folders_keeps_the_mode_and_refuses_what_exists() {
    let tree = worktree(&[("a", b"one\n"), ("b", b"two\n")]);
    fs::set_permissions(tree.path().join("a"), fs::Permissions::from_mode(0o755)).unwrap();
    let moved = |to| json!({"path": "a", "to": to, "rationale": "R."});
    assert!(fault(tree.path(), "move", moved("b")).await.contains("b exists already"));
    assert_eq!((bytes(&tree, "a"), bytes(&tree, "b")), (b"one\n".to_vec(), b"two\n".to_vec()));
    let done = call(tree.path(), "move", moved("new/c")).await;
    let one = Some(b"one\n".to_vec());
    assert_eq!(notes(&done), [("a".into(), one.clone(), None), ("new/c".into(), None, one)]);
    assert!(!tree.path().join("a").exists());
    assert_eq!(fs::metadata(tree.path().join("new/c")).unwrap().permissions().mode() & 0o777, 0o755);
    assert!(
        fault(tree.path(), "move", json!({"path": "new", "to": "x", "rationale": "R."}))
            .await
            .contains("a folder")
    );
}

#[tokio::test]
async fn delete_takes_one_file_or_the_link_itself() {
    let tree = worktree(&[("src/a", b"one\n"), ("b", b"two\n")]);
    symlink("b", tree.path().join("link")).unwrap();
    let delete = |path| json!({"path": path, "rationale": "R."});
    assert!(fault(tree.path(), "delete", delete("src")).await.contains("src is a folder"));
    assert!(fault(tree.path(), "delete", delete("gone")).await.contains("does not exist"));
    let done = call(tree.path(), "delete", delete("src/a")).await;
    assert_eq!(notes(&done), [("src/a".into(), Some(b"one\n".to_vec()), None)]);
    assert_eq!((done.outcome.as_str(), done.removed), ("deleted", 1));
    assert!(!call(tree.path(), "delete", delete("link")).await.failed);
    assert_eq!(bytes(&tree, "b"), b"two\n");
}

#[tokio::test]
async fn no_tool_leaves_the_worktree_or_touches_git() {
    let outside = worktree(&[("secret", b"one\n")]);
    let tree = worktree(&[(".git/config", b"one\n"), ("a", b"one\n")]);
    let link = |target: &str, name: &str| symlink(target, tree.path().join(name)).unwrap();
    link(outside.path().to_str().unwrap(), "out");
    link(outside.path().join("secret").to_str().unwrap(), "file");
    link("../../../../../../../../etc", "up");
    link(".git", "git");
    link(".git/hooks", "hooks");
    let absolute = outside.path().join("secret").display().to_string();
    let paths = [
        "../secret",
        "a/../../x",
        &absolute,
        "out/secret",
        "out/new",
        "file",
        "up/passwd",
        ".git/config",
        ".GIT/config",
        "git/config",
        "git/new",
        "hooks/post-commit",
        "hooks",
    ];
    for path in paths {
        let tries = [
            ("read", json!({"path": path})),
            ("list", json!({"path": path})),
            ("search", json!({"pattern": "one", "path": path})),
            ("edit", edit(path, "one", "two")),
            ("write", json!({"path": path, "content": "two", "rationale": "R."})),
            ("move", json!({"path": "a", "to": format!("{path}/x"), "rationale": "R."})),
            ("delete", json!({"path": format!("{path}/x"), "rationale": "R."})),
        ];
        for (name, arguments) in tries {
            let told = fault(tree.path(), name, arguments).await;
            assert!(!told.contains("one\n"), "{name} {path}: {told}");
        }
    }
    assert_eq!(
        (bytes(&outside, "secret"), bytes(&tree, ".git/config")),
        (b"one\n".to_vec(), b"one\n".to_vec())
    );
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    assert_eq!(fs::read_dir(tree.path().join(".git")).unwrap().count(), 1);
    assert!(fault(tree.path(), "read", json!({"path": "../secret"})).await.contains("leaves the worktree"));
    assert!(fault(tree.path(), "read", json!({"path": "out/secret"})).await.contains("out of the worktree"));
}
