use std::{collections::BTreeSet, fs};

use heph_core::{compose::FileOutcome, id::TreeId};
use heph_git::PrivateRepo;

use crate::support::{Repo, SESSION, content, file, path, write};

/// A session with a worktree, a chain, and a setup.
fn begin(private: &PrivateRepo, session: &str) -> TreeId {
    private.mirror_refs().unwrap();
    let base = private.snapshot(session).unwrap();
    private.commit(session, &base, "base").unwrap();
    let worktree = private.worktree(session).unwrap();
    worktree.move_to(&base, &base).unwrap();
    worktree.keep_setup("done").unwrap();
    base
}

fn refs(repo: &Repo) -> String {
    let format = "--format=%(refname)";
    let theirs = repo.git(&["for-each-ref", format, "refs/heph"]);
    theirs + &repo.git_in(&repo.private_git(), &["for-each-ref", format, "refs/heph"])
}

#[test]
fn a_retired_session_leaves_nothing_and_the_users_repository_is_as_it_was() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    let before = (repo.git_state(), repo.files());
    let private = repo.private();
    begin(&private, SESSION);
    begin(&private, "s2");
    assert_eq!(private.sessions().unwrap(), BTreeSet::from([SESSION.to_owned(), "s2".to_owned()]));
    // The chains are packed refs now, and one of them is damaged besides.
    private.mirror_refs().unwrap();
    write(&repo.private_git().join("refs/heph/chain/s1"), "no commit\n");
    private.retire(SESSION).unwrap();
    private.retire("s2").unwrap();
    private.sweep().unwrap();
    assert_eq!(private.sessions().unwrap(), BTreeSet::new());
    assert_eq!(refs(&repo), "");
    let home = repo.private_git().parent().unwrap().to_owned();
    for folder in ["worktrees", "retired", "git/worktrees"] {
        let left = content(&home.join(folder));
        assert!(left.keys().all(|path| path.ends_with(".git")), "{folder}: {left:?}");
    }
    assert_eq!((repo.git_state(), repo.files()), before);
    private.retire(SESSION).unwrap();
}

#[test]
fn a_ref_that_the_user_packed_is_removed_and_their_own_stay() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    let private = repo.private();
    begin(&private, SESSION);
    repo.git(&["tag", "v1"]);
    repo.git(&["pack-refs", "--all"]);
    private.retire(SESSION).unwrap();
    assert_eq!(repo.git(&["for-each-ref", "--format=%(refname)"]), "refs/heads/main\nrefs/tags/v1\n");
}

#[test]
fn the_worktree_of_a_retired_session_is_made_anew_and_its_setup_is_forgotten() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    let private = repo.private();
    begin(&private, SESSION);
    write(&private.worktree(SESSION).unwrap().path().join("cache"), "warm");
    private.retire(SESSION).unwrap();
    let worktree = private.worktree(SESSION).unwrap();
    assert_eq!(worktree.setup(), None);
    begin(&private, SESSION);
    assert_eq!(fs::read_to_string(worktree.path().join("a.txt")).unwrap(), "a\n");
    assert!(!worktree.path().join("cache").exists());
    assert_eq!(repo.git_in(worktree.path(), &["status", "--porcelain"]), "");
    private.retire(SESSION).unwrap();
    private.sweep().unwrap();
}

#[test]
fn what_was_applied_is_undone_after_the_session_retired_and_the_user_collected_garbage() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    let private = repo.private();
    let base = begin(&private, SESSION);
    let change = FileOutcome { path: path("a.txt"), file: file("b\n") };
    let accepted = private.compose(&base, &[change]).unwrap();
    let report = private.apply(&base, &accepted).unwrap();
    private.forget_apply(&report.before, &report.after).unwrap();
    private.retire(SESSION).unwrap();
    repo.git(&["commit", "-q", "--amend", "-a", "-m", "other"]);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "-q", "--prune=now"]);
    private.undo(&report.after, &report.before).unwrap();
    assert_eq!(repo.read("a.txt"), "a\n");
}

#[test]
fn a_session_whose_ref_the_user_was_just_packing_is_retired_the_next_time() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    let private = repo.private();
    begin(&private, SESSION);
    repo.git(&["pack-refs", "--all"]);
    let lock = repo.root.join(".git/packed-refs.lock");
    write(&lock, "");
    private.retire(SESSION).unwrap_err();
    assert!(private.sessions().unwrap().contains(SESSION));
    fs::remove_file(lock).unwrap();
    private.retire(SESSION).unwrap();
    assert!(private.sessions().unwrap().is_empty());
}
