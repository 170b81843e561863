//! The user's index, where it follows an apply.

use std::{
    fs,
    time::{Duration, SystemTime},
};

use heph_core::{apply::Reason, path::RepoPath};
use heph_git::{ApplyError, Obstacle};

use crate::{
    apply::{accept, base},
    support::{Repo, file, path},
};

const TEXT: &str = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\n";

fn staged(repo: &Repo, path: &str) -> String {
    repo.git(&["show", &format!(":{path}")])
}

/// A repository with staged and unstaged changes of many kinds.
fn changed() -> Repo {
    let repo =
        Repo::with(&[("a.txt", TEXT), ("b.txt", TEXT), ("gone.txt", "gone\n"), ("other.txt", "other\n")]);
    repo.write("a.txt", TEXT.replace("b\n", "staged\n"));
    repo.write("new.txt", "new\n");
    repo.write("other.txt", "other, staged\n");
    repo.git(&["rm", "-q", "gone.txt"]);
    repo.git(&["add", "-A"]);
    repo.write("a.txt", TEXT.replace("b\n", "staged\n").replace("m\n", "unstaged\n"));
    repo.write("b.txt", TEXT.replace("b\n", "unstaged\n"));
    repo
}

#[test]
fn what_is_rejected_goes_from_the_tree_and_from_the_index_where_it_is_staged() {
    for version in ["2", "4"] {
        let repo = changed();
        repo.git(&["update-index", "--index-version", version]);
        let (private, base) = base(&repo);
        let accepted = accept(
            &private,
            &base,
            &[
                ("a.txt", file(TEXT.replace("m\n", "unstaged\n"))),
                ("b.txt", file(TEXT)),
                ("new.txt", None),
                ("gone.txt", file("gone\n")),
            ],
        );
        let (files, index) = (repo.files(), repo.git(&["ls-files", "-s"]));
        let report = private.apply_with_index(&base, &accepted).unwrap();
        assert_eq!(repo.read("a.txt"), TEXT.replace("m\n", "unstaged\n"));
        assert_eq!(staged(&repo, "a.txt"), TEXT);
        assert_eq!(repo.git(&["status", "--porcelain"]), " M a.txt\nM  other.txt\n");
        assert_eq!(repo.git(&["diff", "--cached", "--name-only"]), "other.txt\n");
        repo.git(&["fsck", "--strict"]);
        let paths: Vec<&RepoPath> = report.index.iter().map(|file| &file.path).collect();
        assert_eq!(paths, [&path("a.txt"), &path("gone.txt"), &path("new.txt")]);

        let undone = private.undo(&report.after, &report.before).unwrap();
        assert_eq!((repo.files(), repo.git(&["ls-files", "-s"])), (files, index));
        assert!(undone.files.iter().chain(&undone.index).all(|file| file.set_aside.is_none()));
        assert!(!repo.root.join(".git/index.lock").exists() && !repo.root.join(".git/index.heph").exists());
    }
}

#[test]
fn a_staged_text_that_differs_from_the_file_is_changed_by_the_rejected_hunk_alone() {
    let repo = Repo::with(&[("a.txt", TEXT)]);
    repo.write("a.txt", TEXT.replace("b\n", "one\n").replace("h\n", "two\n"));
    repo.git(&["add", "-A"]);
    repo.write(
        "a.txt",
        TEXT.replace("b\n", "one\n").replace("h\n", "two, changed\n").replace("n\n", "three\n"),
    );
    let (private, base) = base(&repo);
    let kept = TEXT.replace("n\n", "three\n").replace("b\n", "one\n");
    let accepted = accept(&private, &base, &[("a.txt", file(&kept))]);
    let report = private.apply_with_index(&base, &accepted).unwrap();
    assert_eq!(repo.read("a.txt"), kept);
    // Another text is staged in that region than the one that was reviewed.
    assert_eq!(staged(&repo, "a.txt"), TEXT.replace("b\n", "one\n").replace("h\n", "two\n"));
    assert_eq!(report.index[0].set_aside.as_ref().unwrap().reason, Reason::Region);
}

#[test]
fn entries_flags_and_ages_of_other_files_stay_in_the_index() {
    let repo = changed();
    repo.write("assumed.txt", "x\n");
    repo.write("skipped.txt", "x\n");
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-qm", "second"]);
    repo.git(&["update-index", "--assume-unchanged", "assumed.txt"]);
    repo.git(&["update-index", "--skip-worktree", "skipped.txt"]);
    repo.write("named.txt", "named\n");
    repo.git(&["add", "-N", "named.txt"]);
    repo.write("a.txt", "staged\n");
    repo.git(&["add", "a.txt"]);
    let (private, base) = base(&repo);
    let accepted = accept(&private, &base, &[("a.txt", file(TEXT))]);
    let others = |repo: &Repo| -> String {
        let all = repo.git(&["ls-files", "-v", "-s", "--debug"]);
        let lines: Vec<&str> = all.lines().collect();
        let a = lines.iter().position(|line| line.ends_with("\ta.txt")).unwrap();
        [&lines[..a], &lines[a + 6..]].concat().join("\n")
    };
    let before = others(&repo);
    private.apply_with_index(&base, &accepted).unwrap();
    assert_eq!(others(&repo), before);
    assert_eq!(staged(&repo, "a.txt"), TEXT);
}

#[test]
fn a_file_that_changed_in_the_very_moment_the_index_was_written_is_still_seen_to_be_changed() {
    let repo = Repo::with(&[("a.txt", "one\n")]);
    // Only time and length tell then.
    repo.git(&["config", "core.checkStat", "minimal"]);
    repo.git(&["config", "core.trustctime", "false"]);
    let age = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let date = |path: &str| {
        let file = fs::File::options().append(true).open(repo.root.join(path)).unwrap();
        file.set_modified(age).unwrap();
    };
    repo.write("b.txt", "one\n");
    date("b.txt");
    repo.commit_all("second");
    repo.write("a.txt", "two\n");
    repo.git(&["add", "a.txt"]);
    date(".git/index");
    repo.write("b.txt", "six\n");
    date("b.txt");
    let (private, base) = base(&repo);
    let accepted = accept(&private, &base, &[("a.txt", file("one\n"))]);
    private.apply_with_index(&base, &accepted).unwrap();
    assert_eq!(repo.git(&["status", "--porcelain"]), " M b.txt\n");
}

#[test]
fn an_index_without_a_checksum_stays_one() {
    let repo = changed();
    repo.git(&["config", "index.skipHash", "true"]);
    repo.git(&["update-index", "--force-write-index"]);
    let tail = |repo: &Repo| {
        let bytes = fs::read(repo.root.join(".git/index")).unwrap();
        bytes[bytes.len() - 20..].to_vec()
    };
    assert_eq!(tail(&repo), [0; 20]);
    let (private, base) = base(&repo);
    let accepted = accept(&private, &base, &[("new.txt", None)]);
    private.apply_with_index(&base, &accepted).unwrap();
    assert_eq!(tail(&repo), [0; 20]);
    assert_eq!(repo.git(&["ls-files", "new.txt"]), "");
}

#[test]
fn line_ends_that_git_converts_are_those_of_the_index() {
    let repo = Repo::with(&[("a.txt", TEXT)]);
    repo.git(&["config", "core.autocrlf", "true"]);
    let crlf = TEXT.replace('\n', "\r\n");
    repo.write("a.txt", crlf.replace("b\r\n", "two\r\n").replace("n\r\n", "kept\r\n"));
    repo.git(&["add", "a.txt"]);
    let (private, base) = base(&repo);
    let accepted = accept(&private, &base, &[("a.txt", file(crlf.replace("n\r\n", "kept\r\n")))]);
    private.apply_with_index(&base, &accepted).unwrap();
    assert_eq!(staged(&repo, "a.txt"), TEXT.replace("n\n", "kept\n"));
}

#[test]
fn an_index_that_cannot_be_written_refuses_the_whole_before_anything_changes() {
    let refused = |repo: &Repo| {
        let (private, base) = base(repo);
        let accepted = accept(&private, &base, &[("a.txt", file(TEXT)), ("new.txt", None)]);
        let before = (repo.files(), repo.git_state());
        let error = private.apply_with_index(&base, &accepted).unwrap_err();
        assert_eq!((repo.files(), repo.git_state()), before);
        match error {
            ApplyError::Refused { obstacle, .. } => obstacle,
            other => panic!("{other:?}"),
        }
    };
    let repo = changed();
    repo.write(".git/index.lock", "");
    assert!(matches!(refused(&repo), Obstacle::IndexLocked));

    let repo = Repo::with(&[("a.txt", TEXT), ("out/b.txt", TEXT)]);
    repo.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "in"]);
    repo.write("a.txt", "staged\n");
    repo.write("new.txt", "new\n");
    repo.git(&["add", "a.txt"]);
    assert!(matches!(refused(&repo), Obstacle::Index(_)));

    let repo = Repo::with(&[("a.txt", TEXT)]);
    repo.git(&["checkout", "-qb", "side"]);
    repo.write("a.txt", "side\n");
    repo.commit_all("side");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("a.txt", "main\n");
    repo.commit_all("main");
    let root = repo.root.clone();
    assert!(!repo.try_git_in(&root, &["merge", "side"]));
    repo.write("new.txt", "new\n");
    assert!(matches!(refused(&repo), Obstacle::Unmerged));
}

#[test]
fn without_a_commit_everything_staged_can_be_taken_out() {
    let repo = Repo::new();
    repo.write("dir/a.txt", "a\n");
    repo.git(&["add", "-A"]);
    let (private, base) = base(&repo);
    let accepted = accept(&private, &base, &[("dir/a.txt", None)]);
    let report = private.apply_with_index(&base, &accepted).unwrap();
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    private.undo(&report.after, &report.before).unwrap();
    assert_eq!(repo.git(&["status", "--porcelain"]), "A  dir/a.txt\n");
}

#[test]
fn an_apply_of_a_turn_leaves_the_index_alone() {
    let repo = changed();
    let (private, base) = base(&repo);
    let accepted = accept(&private, &base, &[("new.txt", None), ("a.txt", file(TEXT))]);
    let before = repo.git_state();
    private.apply(&base, &accepted).unwrap();
    assert_eq!(repo.git_state(), before);
}
