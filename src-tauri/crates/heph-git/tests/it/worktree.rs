use std::fs;

use heph_core::compose::FileOutcome;
use heph_git::{GitError, Worktree};

use crate::support::{Repo, SESSION, content, file, link, name, path, set_mode, write};

/// A worktree that holds a snapshot of the user's tree.
fn start(repo: &Repo) -> (heph_core::id::TreeId, Worktree) {
    let private = repo.private();
    private.mirror_refs().unwrap();
    let base = private.snapshot(SESSION).unwrap();
    private.commit(SESSION, &base, "base").unwrap();
    let worktree = private.worktree(SESSION).unwrap();
    worktree.move_to(&base, &base).unwrap();
    (base, worktree)
}

#[test]
fn the_worktree_holds_the_users_bytes_modes_and_links() {
    let repo = Repo::new();
    repo.git(&["config", "core.autocrlf", "true"]);
    repo.write(".gitattributes", "* text=auto\n*.txt text eol=crlf ident\n");
    repo.write("crlf.txt", "one\r\ntwo\r\n");
    repo.write("lf.txt", "one\ntwo\n");
    repo.write("id.txt", "$Id$\n");
    repo.write(name(b"caf\xe9.txt"), b"\xff\xfe");
    repo.write("run.sh", "#!/bin/sh\n");
    set_mode(&repo.root.join("run.sh"), 0o755);
    link("run.sh", &repo.root.join("sub/link"));
    repo.write("empty", "");
    let (base, worktree) = start(&repo);
    let mut there = content(worktree.path());
    there.remove(&name(b".git"));
    assert_eq!(there, repo.files());
    let state = worktree.snapshot(&base).unwrap();
    assert_eq!((state.tree, state.ignored), (base, vec![]));
}

#[test]
fn git_in_the_worktree_sees_a_clean_tree_and_the_users_history() {
    let repo = Repo::with(&[("a.txt", "one\r\n"), (".gitattributes", "* text\n")]);
    repo.git(&["tag", "-a", "v1", "-m", "v1"]);
    repo.git(&["branch", "feature/x"]);
    repo.git(&["config", "user.name", "Somebody"]);
    repo.write("a.txt", "dirty\r\n");
    let (_, worktree) = start(&repo);
    let git = |args: &[&str]| repo.git_in(worktree.path(), args);
    assert_eq!(git(&["status", "--porcelain"]), "");
    assert_eq!(git(&["log", "--format=%s"]), "base\nfirst\n");
    assert_eq!(git(&["log", "-1", "--format=%s", "feature/x"]), "first\n");
    assert!(git(&["describe"]).starts_with("v1-1-"));
    assert_eq!(git(&["diff", "--stat", "main", "--", "a.txt"]).lines().count(), 2);
    assert_ne!(git(&["config", "user.name"]), "Somebody\n");
    write(&worktree.path().join("a.txt"), "changed\r\n");
    assert_eq!(git(&["status", "--porcelain"]), " M a.txt\n");
    git(&["commit", "-qam", "the model's"]);
    assert_eq!(git(&["show", "HEAD:a.txt"]), "changed\r\n");
}

#[test]
fn stale_branches_and_the_models_own_are_dropped_when_refs_are_mirrored() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    repo.git(&["branch", "old"]);
    let (base, worktree) = start(&repo);
    repo.git_in(worktree.path(), &["checkout", "-q", "-b", "models"]);
    repo.git_in(worktree.path(), &["pack-refs", "--all"]);
    repo.git(&["branch", "-D", "old", "-q"]);
    repo.git(&["branch", "old/nested"]);
    repo.private().mirror_refs().unwrap();
    worktree.move_to(&base, &base).unwrap();
    let refs = repo.git_in(worktree.path(), &["for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs, "refs/heads/main\nrefs/heads/old/nested\nrefs/heph/chain/s1\n");
    assert_eq!(repo.git_in(worktree.path(), &["status", "--porcelain"]), "");
}

#[test]
fn what_the_model_does_with_git_changes_nothing_in_what_a_snapshot_says() {
    let repo = Repo::with(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    repo.git(&["branch", "spare"]);
    let before = repo.git_state();
    let (base, worktree) = start(&repo);
    let at = worktree.path();
    write(&at.join("a.txt"), "changed\n");
    write(&at.join("new.txt"), "new\n");
    let plain = worktree.snapshot(&base).unwrap();
    let git = |args: &[&str]| repo.try_git_in(at, args);
    assert!(git(&["add", "-N", "new.txt"]));
    assert!(git(&["add", "-A"]));
    assert_eq!(worktree.snapshot(&base).unwrap(), plain);
    assert!(git(&["checkout", "-q", "-b", "mine"]));
    assert!(git(&["commit", "-qm", "mine"]));
    assert!(git(&["branch", "-D", "spare"]));
    git(&["update-ref", "-d", "refs/heph/chain/s1"]);
    git(&["config", "core.autocrlf", "true"]);
    git(&["config", "core.bare", "nonsense"]);
    git(&["gc", "-q", "--prune=now"]);
    git(&["prune", "--expire=now"]);
    assert_eq!(worktree.snapshot(&base).unwrap(), plain);
    assert!(git(&["rm", "-q", "--cached", "a.txt"]));
    assert_eq!(worktree.snapshot(&base).unwrap(), plain);
    // A stash takes the changes away; that much is a change of files.
    assert!(git(&["reset", "-q", "--mixed", "main"]) && git(&["stash", "-q", "-u"]));
    assert_eq!(worktree.snapshot(&base).unwrap().tree, base);
    let state = repo.git_state();
    assert_eq!(state, before);
    worktree.move_to(&base, &plain.tree).unwrap();
    assert_eq!(worktree.snapshot(&base).unwrap().tree, plain.tree);
}

#[test]
fn states_that_no_ref_names_survive_gc_in_the_worktree() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    let (base, worktree) = start(&repo);
    let outcome = FileOutcome { path: path("a.txt"), file: file("accepted\n") };
    let accepted = repo.private().compose(&base, &[outcome]).unwrap();
    for args in [&["gc", "--prune=now", "-q"][..], &["prune", "--expire=now"], &["repack", "-adfq"]] {
        repo.try_git_in(worktree.path(), args);
    }
    assert_eq!(repo.text(&accepted, "a.txt").unwrap(), "accepted\n");
}

#[test]
fn nothing_can_be_hidden_by_an_ignore_rule_or_a_repository_of_its_own() {
    let repo = Repo::with(&[(".gitignore", "*.log\ncache/\n"), ("a.txt", "a\n"), ("kept.log", "")]);
    repo.git(&["add", "-f", "kept.log"]);
    repo.git(&["commit", "-qm", "kept"]);
    repo.write("cache/warm", "from before\n");
    let (base, worktree) = start(&repo);
    let at = worktree.path();
    write(&at.join(".gitignore"), "*\n");
    write(&at.join("sub/.gitignore"), "*\n");
    write(&at.join("sub/hidden.txt"), "seen\n");
    write(&at.join("inner/file.txt"), "seen\n");
    repo.git_in(&at.join("inner"), &["init", "-q"]);
    write(&at.join("kept.log"), "tracked, so seen\n");
    write(&at.join("new.log"), "ignored\n");
    write(&at.join("cache/deep/x"), "ignored\n");
    let state = worktree.snapshot(&base).unwrap();
    let paths = repo.paths(&state.tree);
    assert_eq!(
        paths,
        [".gitignore", "a.txt", "inner/file.txt", "kept.log", "sub/.gitignore", "sub/hidden.txt"]
    );
    assert_eq!(repo.text(&state.tree, "kept.log").unwrap(), "tracked, so seen\n");
    assert_eq!(state.ignored, [path("cache/deep/x"), path("new.log")]);
}

#[test]
fn moving_takes_refused_files_out_and_leaves_build_caches() {
    let repo = Repo::with(&[(".gitignore", "target/\n"), ("a.txt", "a\n"), ("dir/b.txt", "b\n")]);
    let (base, worktree) = start(&repo);
    let at = worktree.path();
    write(&at.join("target/debug/cache"), "warm\n");
    write(&at.join("a.txt"), "changed\n");
    write(&at.join("deep/er/new.txt"), "new\n");
    fs::remove_dir_all(at.join("dir")).unwrap();
    set_mode(&at.join("a.txt"), 0o755);
    worktree.snapshot(&base).unwrap();
    worktree.move_to(&base, &base).unwrap();
    assert_eq!(fs::read_to_string(at.join("target/debug/cache")).unwrap(), "warm\n");
    assert!(!at.join("deep").exists());
    let state = worktree.snapshot(&base).unwrap();
    assert_eq!((state.tree, state.ignored), (base, vec![path("target/debug/cache")]));
}

#[test]
fn what_did_not_change_is_not_written_again() {
    let repo = Repo::with(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let (base, worktree) = start(&repo);
    let stamp = |path: &str| fs::metadata(worktree.path().join(path)).unwrap().modified().unwrap();
    let before = stamp("b.txt");
    let outcome = FileOutcome { path: path("a.txt"), file: file("new\n") };
    let next = repo.private().compose(&base, &[outcome]).unwrap();
    worktree.move_to(&base, &next).unwrap();
    assert_eq!(fs::read_to_string(worktree.path().join("a.txt")).unwrap(), "new\n");
    assert_eq!(stamp("b.txt"), before);
}

#[test]
fn moving_swaps_files_folders_and_links() {
    let repo = Repo::with(&[("thing", "file\n"), ("folder/in", "in\n"), ("linked/x", "x\n")]);
    let (base, worktree) = start(&repo);
    let outside = repo.beside("outside");
    write(&outside.join("x"), "not the model's\n");
    let at = worktree.path();
    fs::remove_file(at.join("thing")).unwrap();
    write(&at.join("thing/in"), "now a folder\n");
    fs::remove_dir_all(at.join("folder")).unwrap();
    write(&at.join("folder"), "now a file\n");
    fs::remove_dir_all(at.join("linked")).unwrap();
    link(outside.to_str().unwrap(), &at.join("linked"));
    let changed = worktree.snapshot(&base).unwrap().tree;
    assert_eq!(repo.paths(&changed), ["folder", "linked", "thing/in"]);
    worktree.move_to(&base, &base).unwrap();
    assert_eq!(worktree.snapshot(&base).unwrap().tree, base);
    worktree.move_to(&base, &changed).unwrap();
    assert_eq!(worktree.snapshot(&base).unwrap().tree, changed);
    assert_eq!(fs::read_to_string(outside.join("x")).unwrap(), "not the model's\n");
}

#[test]
fn a_worktree_that_vanished_is_made_anew_and_git_in_it_finds_no_repository_of_the_users() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    // As with a home folder that is kept in git: the data folder lies inside a repository.
    repo.git_in(repo.root.parent().unwrap(), &["init", "-q"]);
    let (base, worktree) = start(&repo);
    let at = worktree.path();
    fs::remove_file(at.join(".git")).unwrap();
    assert!(!repo.try_git_in(at, &["status"]));
    fs::remove_dir_all(at).unwrap();
    assert!(matches!(worktree.snapshot(&base), Err(GitError::WorktreeGone(_))));
    worktree.move_to(&base, &base).unwrap();
    assert_eq!(worktree.snapshot(&base).unwrap().tree, base);
    assert_eq!(repo.git_in(at, &["status", "--porcelain"]), "");
    fs::remove_dir_all(at).unwrap();
    link(repo.root.to_str().unwrap(), at);
    worktree.move_to(&base, &base).unwrap();
    assert!(fs::symlink_metadata(at).unwrap().is_dir());
    assert_eq!(repo.read("a.txt"), "a\n");
}

#[test]
fn a_merge_that_the_model_left_half_done_is_gone_after_a_move() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    let (base, worktree) = start(&repo);
    let at = worktree.path();
    for (branch, text) in [("one", "one\n"), ("two", "two\n")] {
        repo.git_in(at, &["checkout", "-q", "-b", branch, "main"]);
        write(&at.join("a.txt"), text);
        repo.git_in(at, &["commit", "-qam", branch]);
    }
    assert!(!repo.try_git_in(at, &["merge", "one"]));
    write(&repo.private_git().join("worktrees/s1/index.lock"), "");
    worktree.move_to(&base, &base).unwrap();
    assert_eq!(repo.git_in(at, &["status", "--porcelain"]), "");
    repo.git_in(at, &["commit", "-q", "--allow-empty", "-m", "works again"]);
}

#[test]
fn two_sessions_have_worktrees_of_their_own() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    let private = repo.private();
    let base = private.snapshot(SESSION).unwrap();
    private.snapshot("s2").unwrap();
    let (one, two) = (private.worktree(SESSION).unwrap(), private.worktree("s2").unwrap());
    one.move_to(&base, &base).unwrap();
    two.move_to(&base, &base).unwrap();
    write(&one.path().join("a.txt"), "one's\n");
    assert_eq!(two.snapshot(&base).unwrap().tree, base);
    assert_ne!(one.snapshot(&base).unwrap().tree, base);
}

#[test]
fn nobody_else_can_look_into_the_data_folder() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    let (_, worktree) = start(&repo);
    for folder in [repo.data(), repo.private_git(), worktree.path().to_owned()] {
        assert_eq!(crate::support::mode(&folder), 0o700, "{}", folder.display());
    }
}

#[test]
fn links_that_the_model_lays_in_the_private_repository_lead_nowhere() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    let before = repo.git_state();
    let (base, worktree) = start(&repo);
    let git = repo.private_git();
    for folder in ["info", "refs/heads", "refs/heph", "worktrees"] {
        let (ours, theirs) = (git.join(folder), repo.root.join(".git").join(folder));
        fs::remove_dir_all(&ours).unwrap();
        link(theirs.to_str().unwrap(), &ours);
    }
    fs::write(git.join("packed-refs"), "nonsense").unwrap();
    start(&repo);
    assert_eq!(worktree.snapshot(&base).unwrap().tree, base);
    assert_eq!(repo.git_in(worktree.path(), &["log", "--format=%s", "main"]), "first\n");
    assert_eq!(repo.git_state(), before);
    assert_eq!(content(&repo.root.join(".git/refs/heph")).len(), 2);
}
