use heph_core::compose::FileOutcome;

use crate::support::{Repo, SESSION, file, link, path, set_mode, write};

/// A repository in the middle of somebody's work.
fn dirty() -> Repo {
    let repo = Repo::with(&[
        ("a.txt", "one\ntwo\nthree\n"),
        ("src/lib.rs", "pub fn f() {}\n"),
        ("gone.txt", "gone\n"),
        (".gitignore", "*.log\n"),
        (".gitattributes", "* text=auto\n"),
    ]);
    repo.git(&["config", "core.autocrlf", "input"]);
    repo.git(&["config", "core.logAllRefUpdates", "always"]);
    repo.git(&["config", "core.fsmonitor", "false-and-never-run"]);
    for hook in ["post-checkout", "post-index-change", "reference-transaction", "pre-commit"] {
        repo.write(format!(".git/hooks/{hook}"), "#!/bin/sh\ntouch \"$GIT_DIR/hook-ran\"\n");
    }
    repo.git(&["tag", "-a", "v1", "-m", "v1"]);
    repo.git(&["branch", "side"]);
    repo.write("a.txt", "stashed\n");
    repo.git(&["-c", "core.fsmonitor=", "stash", "-q"]);
    repo.write("src/lib.rs", "pub fn staged() {}\n");
    repo.write("staged.txt", "staged\n");
    repo.git(&["-c", "core.fsmonitor=", "add", "-A"]);
    repo.write("src/lib.rs", "pub fn unstaged() {}\n");
    repo.write("new.txt", "untracked\r\n");
    repo.write("x.log", "ignored\n");
    repo.remove("gone.txt");
    link("a.txt", &repo.root.join("link"));
    for hook in ["post-checkout", "post-index-change", "reference-transaction", "pre-commit"] {
        set_mode(&repo.root.join(format!(".git/hooks/{hook}")), 0o755);
    }
    repo
}

#[test]
fn a_whole_turn_leaves_the_users_git_state_and_every_other_file_as_they_were() {
    let repo = dirty();
    let (git, mut files) = (repo.git_state(), repo.files());
    let private = repo.private();
    private.mirror_refs().unwrap();
    let base = private.snapshot(SESSION).unwrap();
    private.commit(SESSION, &base, "base").unwrap();
    let worktree = private.worktree(SESSION).unwrap();
    worktree.move_to(&base, &base).unwrap();
    write(&worktree.path().join("a.txt"), "one\ntwo changed\nthree\n");
    write(&worktree.path().join("added.txt"), "added\n");
    let proposed = worktree.snapshot(&base).unwrap().tree;
    assert_eq!((repo.git_state(), repo.files()), (git.clone(), files.clone()));
    let outcome = |at: &str, text: &str| FileOutcome { path: path(at), file: file(text) };
    let accepted = private.compose(&base, &[outcome("a.txt", "one\ntwo changed\nthree\n")]).unwrap();
    worktree.move_to(&base, &accepted).unwrap();
    private.commit(SESSION, &accepted, "accepted").unwrap();
    assert_ne!(accepted, proposed);
    private.apply(&base, &accepted).unwrap();
    let after = private.snapshot(SESSION).unwrap();
    assert_eq!(after, accepted);
    assert_eq!(repo.git_state(), git);
    files.get_mut(std::path::Path::new("a.txt")).unwrap().1 = b"one\ntwo changed\nthree\n".to_vec();
    assert_eq!(repo.files(), files);
    let refs = repo.git(&["for-each-ref", "--format=%(refname)", "refs/heph"]);
    assert_eq!(refs, "refs/heph/base/s1\n");
}

#[test]
fn what_the_model_does_with_git_never_reaches_the_user() {
    let repo = dirty();
    let (git, files) = (repo.git_state(), repo.files());
    let private = repo.private();
    private.mirror_refs().unwrap();
    let base = private.snapshot(SESSION).unwrap();
    let worktree = private.worktree(SESSION).unwrap();
    worktree.move_to(&base, &base).unwrap();
    let at = worktree.path();
    write(&at.join("a.txt"), "changed\n");
    for args in [
        &["stash"][..],
        &["stash", "drop"],
        &["checkout", "-b", "mine"],
        &["commit", "--allow-empty", "-am", "mine"],
        &["branch", "-D", "side", "main"],
        &["tag", "-d", "v1"],
        &["config", "user.name", "Model"],
        &["gc", "--prune=now"],
        &["worktree", "prune"],
        &["update-ref", "refs/heads/main", "HEAD"],
        &["reset", "--hard", "mine"],
        &["clean", "-fdx"],
    ] {
        repo.try_git_in(at, args);
    }
    assert_eq!((repo.git_state(), repo.files()), (git, files));
}
