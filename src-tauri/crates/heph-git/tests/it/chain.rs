use heph_core::compose::FileOutcome;

use crate::support::{Repo, SESSION, file, path};

fn check_chain(repo: &Repo) {
    let git = repo.private_git();
    repo.git_in(&git, &["fsck", "--full", "--no-dangling", "refs/heph/chain/s1"]);
}

#[test]
fn the_chain_starts_at_the_users_commit_and_grows_by_one_each_time() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    let private = repo.private();
    let base = private.snapshot(SESSION).unwrap();
    private.commit(SESSION, &base, "base").unwrap();
    let next = private.compose(&base, &[FileOutcome { path: path("b.txt"), file: file("b\n") }]).unwrap();
    private.commit(SESSION, &next, "round 1").unwrap();
    let log = repo.git_in(&repo.private_git(), &["log", "--format=%s", "refs/heph/chain/s1"]);
    assert_eq!(log, "round 1\nbase\nfirst\n");
    let tree = repo.git_in(&repo.private_git(), &["rev-parse", "refs/heph/chain/s1^{tree}"]);
    assert_eq!(tree.trim(), next.0);
}

#[test]
fn what_the_user_commits_between_turns_is_in_the_chains_history() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    let private = repo.private();
    private.commit(SESSION, &private.snapshot(SESSION).unwrap(), "base").unwrap();
    repo.write("a.txt", "second\n");
    repo.commit_all("second");
    private.commit(SESSION, &private.snapshot(SESSION).unwrap(), "base of turn 2").unwrap();
    let log = repo.git_in(&repo.private_git(), &["log", "--format=%s", "refs/heph/chain/s1"]);
    for subject in ["first", "base", "second", "base of turn 2"] {
        assert!(log.lines().any(|line| line == subject), "{log}");
    }
}

#[test]
fn the_users_gc_takes_nothing_from_the_chain() {
    let repo = Repo::with(&[("a.txt", "a\n"), ("dir/b.txt", "b\n")]);
    repo.write("a.txt", "amended away\n");
    repo.write("dir/c.txt", "amended away too\n");
    repo.commit_all("to be amended");
    // Blobs and trees that the user's repository has, but no commit of theirs reaches.
    repo.write("staged.txt", "staged, then dropped\n");
    repo.git(&["add", "-A"]);
    repo.git(&["write-tree"]);
    repo.write("new.txt", "untracked\n");
    let private = repo.private();
    let first = private.snapshot(SESSION).unwrap();
    private.commit(SESSION, &first, "base").unwrap();
    let files = repo.tree(&first);

    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    repo.remove("new.txt");
    repo.write("a.txt", "another history\n");
    repo.commit_all("instead");
    let second = private.snapshot(SESSION).unwrap();
    private.commit(SESSION, &second, "base of turn 2").unwrap();
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "-q", "--prune=now"]);

    assert_eq!(repo.tree(&first), files);
    check_chain(&repo);
    // Once more, from a commit that was borrowed after the first was left.
    repo.git(&["commit", "-q", "--amend", "-m", "amended"]);
    private.snapshot(SESSION).unwrap();
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "-q", "--prune=now"]);
    check_chain(&repo);
    assert_eq!(repo.tree(&first), files);
}

#[test]
fn a_partial_clone_can_change_branches_between_turns() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    repo.git(&["branch", "old"]);
    for text in ["never fetched\n", "newest\n"] {
        repo.write("a.txt", text);
        repo.commit_all(text);
    }
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    let from = format!("file://{}", repo.root.display());
    let clone = repo.beside("clone");
    repo.git(&["clone", "-q", "--filter=blob:none", &from, clone.to_str().unwrap()]);
    let user = heph_git::UserRepo::open(&clone).unwrap();
    let private = heph_git::PrivateRepo::open(&repo.data(), &user).unwrap();
    let base = private.snapshot(SESSION).unwrap();
    repo.git_in(&clone, &["checkout", "-q", "old"]);
    private.snapshot(SESSION).unwrap();
    assert_eq!(private.file(&base, &path("a.txt")).unwrap(), file("newest\n"));
}

#[test]
fn a_dropped_commit_is_kept_while_a_session_borrows_from_it() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    repo.write("a.txt", "lost to the user\n");
    repo.commit_all("second");
    let private = repo.private();
    let base = private.snapshot(SESSION).unwrap();
    private.commit(SESSION, &base, "base").unwrap();
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "-q", "--prune=now"]);
    check_chain(&repo);
    assert_eq!(repo.text(&base, "a.txt").unwrap(), "lost to the user\n");
}

#[test]
fn a_cached_file_whose_blob_the_users_gc_took_is_read_again() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    repo.write("b.txt", "committed, then not\n");
    repo.commit_all("second");
    let other = repo.private();
    // A session whose base ref is gone knows the file, and holds no copy of it.
    other.snapshot("gone").unwrap();
    repo.git(&["update-ref", "-d", "refs/heph/base/gone"]);
    repo.git(&["reset", "-q", "--mixed", "HEAD~1"]);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "-q", "--prune=now"]);
    let tree = repo.private().snapshot(SESSION).unwrap();
    assert_eq!(repo.text(&tree, "b.txt").unwrap(), "committed, then not\n");
}

#[test]
fn two_trees_differ_by_whole_files_in_path_order_whatever_the_user_configured() {
    let repo =
        Repo::with(&[("b.txt", "old\n"), ("gone.txt", "x\n"), ("a/b.txt", "x\n"), ("same.txt", "same\n")]);
    repo.git(&["config", "diff.noprefix", "true"]);
    repo.git(&["config", "diff.external", "false"]);
    repo.git(&["config", "core.quotePath", "true"]);
    let private = repo.private();
    let old = private.snapshot(SESSION).unwrap();
    repo.write("b.txt", "new\r\n");
    repo.remove("gone.txt");
    repo.write("a.txt", "between\n");
    repo.write("a/b.txt", "y\n");
    crate::support::set_mode(&repo.root.join("same.txt"), 0o755);
    let new = private.snapshot(SESSION).unwrap();
    let changes = private.diff(&old, &new).unwrap();
    let paths: Vec<String> = changes.iter().map(|change| change.path.display()).collect();
    assert_eq!(paths, ["a.txt", "a/b.txt", "b.txt", "gone.txt", "same.txt"]);
    assert_eq!((&changes[0].old, &changes[0].new), (&None, &file("between\n")));
    assert_eq!((&changes[2].old, &changes[2].new), (&file("old\n"), &file("new\r\n")));
    assert_eq!((&changes[3].old, &changes[3].new), (&file("x\n"), &None));
    assert_ne!(changes[4].old.as_ref().unwrap().mode, changes[4].new.as_ref().unwrap().mode);
    assert!(private.diff(&new, &new).unwrap().is_empty());
}

#[test]
fn composing_puts_takes_away_and_swaps_files_and_folders() {
    let repo = Repo::with(&[
        ("thing", "file\n"),
        ("folder/in", "in\n"),
        ("folder/too", "too\n"),
        ("kept", "kept\n"),
    ]);
    let private = repo.private();
    let base = private.snapshot(SESSION).unwrap();
    let outcome = |at: &str, file| FileOutcome { path: path(at), file };
    let swapped = private
        .compose(
            &base,
            &[
                outcome("folder", file("now a file\n")),
                outcome("folder/in", None),
                outcome("folder/too", None),
                outcome("thing", None),
                outcome("thing/in", file("now a folder\n")),
            ],
        )
        .unwrap();
    assert_eq!(repo.paths(&swapped), ["folder", "kept", "thing/in"]);
    assert_eq!(private.compose(&base, &[]).unwrap(), base);
    assert!(private.compose(&base, &[outcome("thing/in", file("x"))]).is_err());
    assert!(private.compose(&base, &[outcome("folder", file("x"))]).is_err());
    let empty = private.compose(
        &base,
        &[
            outcome("thing", None),
            outcome("folder/in", None),
            outcome("folder/too", None),
            outcome("kept", None),
        ],
    );
    assert!(repo.paths(&empty.unwrap()).is_empty());
}

#[test]
fn no_accepted_state_holds_a_link_out_of_the_repository_or_a_path_into_gits_folder() {
    let repo = Repo::with(&[("dir/a", "a\n")]);
    let private = repo.private();
    let base = private.snapshot(SESSION).unwrap();
    let linked = |at: &str, to: &str| {
        let mut file = file(to);
        file.as_mut().unwrap().mode = heph_core::file::Mode::Symlink;
        private.compose(&base, &[FileOutcome { path: path(at), file }])
    };
    for to in ["/etc/passwd", "../../x", "../.git/config", "a/../../../x"] {
        assert!(linked("dir/link", to).is_err(), "{to}");
    }
    for to in ["a", "../dir/a", "missing", "./a"] {
        assert!(linked("dir/link", to).is_ok(), "{to}");
    }
    // A path that was read from a log was never checked.
    let path = serde_json::from_str("\".git/hooks/post-checkout\"").unwrap();
    assert!(private.compose(&base, &[FileOutcome { path, file: file("x") }]).is_err());
}
