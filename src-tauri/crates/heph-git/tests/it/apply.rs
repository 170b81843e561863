use std::fs;

use heph_core::{
    apply::{FileReport, Reason},
    compose::FileOutcome,
    file::{File, Mode},
    id::TreeId,
};
use heph_git::{ApplyError, ApplyReport, Obstacle, PrivateRepo};

use crate::support::{Repo, SESSION, content, file, link, mode, path, set_mode};

const TEXT: &str = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\n";

pub fn base(repo: &Repo) -> (PrivateRepo, TreeId) {
    let private = repo.private();
    let base = private.snapshot(SESSION).unwrap();
    (private, base)
}

pub fn accept(private: &PrivateRepo, base: &TreeId, files: &[(&str, Option<File>)]) -> TreeId {
    let outcomes: Vec<FileOutcome> =
        files.iter().map(|(at, file)| FileOutcome { path: path(at), file: file.clone() }).collect();
    private.compose(base, &outcomes).unwrap()
}

fn only(report: ApplyReport) -> FileReport {
    assert_eq!(report.files.len(), 1);
    report.files.into_iter().next().unwrap()
}

#[test]
fn accepted_hunks_land_beside_the_users_edits() {
    let repo = Repo::with(&[("a.txt", TEXT)]);
    let (private, base) = base(&repo);
    let accepted = accept(&private, &base, &[("a.txt", file(TEXT.replace("h\n", "eight\n")))]);
    let mine = TEXT.replace("b\n", "b\nmine\nmine too\n");
    repo.write("a.txt", &mine);
    let report = only(private.apply(&base, &accepted).unwrap());
    assert_eq!((report.landed, report.already_there, report.set_aside), (1, 0, None));
    assert_eq!(repo.read("a.txt"), mine.replace("h\n", "eight\n"));
}

#[test]
fn what_the_user_changed_stands_and_no_conflict_marker_is_written() {
    let repo = Repo::with(&[("a.txt", TEXT)]);
    let (private, base) = base(&repo);
    let proposed = TEXT.replace("b\n", "two\n").replace("l\n", "twelve\n");
    let accepted = accept(&private, &base, &[("a.txt", file(&proposed))]);
    let mine = TEXT.replace("b\n", "my b\n");
    repo.write("a.txt", &mine);
    let report = only(private.apply(&base, &accepted).unwrap());
    let text = mine.replace("l\n", "twelve\n");
    assert_eq!(report.landed, 1);
    let set_aside = report.set_aside.unwrap();
    assert_eq!((set_aside.reason, set_aside.hunks), (Reason::Region, 1));
    assert_eq!(repo.read("a.txt"), text);
    assert!(!text.contains("<<<<"));
}

#[test]
fn a_set_aside_file_is_reported_with_the_users_text() {
    let repo = Repo::with(&[("a.txt", TEXT), ("gone.txt", "x\n")]);
    let (private, base) = base(&repo);
    let accepted = accept(
        &private,
        &base,
        &[
            ("a.txt", file(TEXT.replace("b\n", "two\n"))),
            ("gone.txt", file("changed\n")),
            ("new.txt", file("theirs\n")),
        ],
    );
    repo.write("a.txt", TEXT.replace("b\n", "mine\n"));
    repo.remove("gone.txt");
    repo.write("new.txt", "mine\n");
    let before = repo.files();
    let report = private.apply(&base, &accepted).unwrap();
    assert_eq!(repo.files(), before);
    let told: Vec<_> = report
        .files
        .into_iter()
        .map(|file| (file.path.display(), file.set_aside.unwrap().reason, file.current))
        .collect();
    assert_eq!(
        told,
        [
            ("a.txt".to_owned(), Reason::Region, file(TEXT.replace("b\n", "mine\n"))),
            ("gone.txt".to_owned(), Reason::Deleted, None),
            ("new.txt".to_owned(), Reason::Exists, file("mine\n")),
        ]
    );
}

#[test]
fn applying_again_changes_nothing_and_says_already_there() {
    let repo = Repo::with(&[("a.txt", TEXT), ("gone.txt", "x\n")]);
    let (private, base) = base(&repo);
    let accepted = accept(
        &private,
        &base,
        &[("a.txt", file(TEXT.replace("b\n", "two\n"))), ("dir/new.txt", file("new\n")), ("gone.txt", None)],
    );
    let first = private.apply(&base, &accepted).unwrap();
    let after = repo.files();
    assert_eq!(private.apply(&base, &accepted).unwrap(), first, "nobody has taken the report down yet");
    private.forget_apply(&first.before, &first.after).unwrap();
    let report = private.apply(&base, &accepted).unwrap();
    assert_eq!(repo.files(), after);
    for file in report.files {
        assert_eq!((file.landed, file.already_there, file.set_aside), (0, 1, None));
    }
}

#[test]
fn an_apply_that_was_cut_off_is_completed_by_the_next_and_leaves_nothing_behind() {
    let repo = Repo::with(&[("a.txt", TEXT), ("b.txt", TEXT)]);
    let (private, base) = base(&repo);
    let both = [("a.txt", file(TEXT.replace("b\n", "two\n"))), ("b.txt", file(TEXT.replace("b\n", "two\n")))];
    let accepted = accept(&private, &base, &both);
    let first = accept(&private, &base, &both[..1]);
    private.apply(&base, &first).unwrap();
    repo.write(".heph-staged-0123456789", "half written");
    let snapshot = private.snapshot(SESSION).unwrap();
    assert_eq!(repo.paths(&snapshot), ["a.txt", "b.txt"]);
    private.apply(&base, &accepted).unwrap();
    assert_eq!(private.snapshot(SESSION).unwrap(), accepted);
}

#[test]
fn new_files_make_their_folders_and_deletions_remove_those_they_empty() {
    let repo = Repo::with(&[("old/deep/a.txt", "a\n"), ("shared/b.txt", "b\n"), ("top.txt", "t\n")]);
    repo.write("shared/mine.txt", "mine\n");
    fs::create_dir(repo.root.join("empty")).unwrap();
    let (private, base) = base(&repo);
    let accepted = accept(
        &private,
        &base,
        &[("old/deep/a.txt", None), ("shared/b.txt", None), ("new/er/c.txt", file("c\n"))],
    );
    let report = private.apply(&base, &accepted).unwrap();
    assert_eq!(report.files.iter().map(|file| file.landed).sum::<u32>(), 3);
    assert!(!repo.root.join("old").exists());
    assert!(repo.root.join("empty").exists());
    assert_eq!(repo.read("shared/mine.txt"), "mine\n");
    assert_eq!(repo.read("new/er/c.txt"), "c\n");
    assert_eq!(private.snapshot(SESSION).unwrap(), accepted);
}

#[test]
fn a_file_takes_a_folders_place_and_a_folder_a_files() {
    let repo = Repo::with(&[("thing", "file\n"), ("folder/in", "in\n")]);
    let (private, base) = base(&repo);
    let accepted = accept(
        &private,
        &base,
        &[("thing", None), ("thing/in", file("x\n")), ("folder/in", None), ("folder", file("y\n"))],
    );
    let report = private.apply(&base, &accepted).unwrap();
    assert!(report.files.iter().all(|file| file.landed == 1));
    assert_eq!((repo.read("thing/in"), repo.read("folder")), ("x\n".into(), "y\n".into()));
}

#[test]
fn a_folder_that_holds_something_of_the_users_is_not_replaced_by_a_file() {
    let repo = Repo::with(&[(".gitignore", "*.o\n"), ("folder/in", "in\n"), ("thing", "file\n")]);
    let (private, base) = base(&repo);
    let accepted = accept(
        &private,
        &base,
        &[("folder/in", None), ("folder", file("y\n")), ("thing", None), ("thing/in", file("x\n"))],
    );
    repo.write("folder/mine.o", "ignored, and mine\n");
    repo.write("thing", "changed by me\n");
    let report = private.apply(&base, &accepted).unwrap();
    let reason = |at: &str| {
        let file = report.files.iter().find(|file| file.path == path(at)).unwrap();
        file.set_aside.as_ref().map(|set_aside| set_aside.reason)
    };
    assert_eq!(reason("folder"), Some(Reason::TypeChanged));
    assert_eq!(reason("folder/in"), None);
    assert_eq!(reason("thing"), Some(Reason::ChangedSince));
    assert_eq!(reason("thing/in"), Some(Reason::TypeChanged));
    assert_eq!(repo.read("folder/mine.o"), "ignored, and mine\n");
    assert_eq!(repo.read("thing"), "changed by me\n");
}

#[test]
fn a_path_through_a_link_out_of_the_tree_is_refused_and_nothing_is_written() {
    let repo = Repo::with(&[("a.txt", TEXT), ("dir/b.txt", "b\n")]);
    let (private, base) = base(&repo);
    let accepted = accept(
        &private,
        &base,
        &[("a.txt", file("changed\n")), ("dir/b.txt", file("changed\n")), ("dir/new.txt", file("new\n"))],
    );
    let outside = repo.beside("outside");
    fs::rename(repo.root.join("dir"), &outside).unwrap();
    link(outside.to_str().unwrap(), &repo.root.join("dir"));
    let before = (repo.files(), content(&outside));
    match private.apply(&base, &accepted) {
        Err(ApplyError::Refused { obstacle: Obstacle::Link(link), .. }) => assert_eq!(link, path("dir")),
        other => panic!("{other:?}"),
    }
    assert_eq!((repo.files(), content(&outside)), before);
}

#[test]
fn a_file_that_became_a_link_is_set_aside_and_what_it_points_to_is_not_written() {
    let repo = Repo::with(&[("a.txt", TEXT)]);
    let (private, base) = base(&repo);
    let accepted = accept(&private, &base, &[("a.txt", file("changed\n"))]);
    let outside = repo.beside("outside.txt");
    fs::rename(repo.root.join("a.txt"), &outside).unwrap();
    link(outside.to_str().unwrap(), &repo.root.join("a.txt"));
    let report = only(private.apply(&base, &accepted).unwrap());
    assert_eq!(report.set_aside.unwrap().reason, Reason::TypeChanged);
    assert_eq!(fs::read_to_string(outside).unwrap(), TEXT);
}

#[test]
fn one_read_only_file_or_folder_refuses_the_whole_apply() {
    let repo = Repo::with(&[("a.txt", TEXT), ("dir/b.txt", "b\n")]);
    let (private, base) = base(&repo);
    let accepted = accept(
        &private,
        &base,
        &[("a.txt", file("changed\n")), ("dir/b.txt", file("changed\n")), ("z.txt", file("new\n"))],
    );
    let before = repo.files();
    for (at, bits) in [("dir", 0o555), ("dir/b.txt", 0o444)] {
        let at = repo.root.join(at);
        let kept = mode(&at);
        set_mode(&at, bits);
        let refused = private.apply(&base, &accepted);
        set_mode(&at, kept);
        match refused {
            Err(ApplyError::Refused {
                path: at,
                obstacle: Obstacle::ReadOnly | Obstacle::ReadOnlyFolder,
            }) => {
                assert_eq!(at, path("dir/b.txt"));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(repo.files(), before);
    }
    private.apply(&base, &accepted).unwrap();
}

#[test]
fn permissions_are_kept_and_the_executable_bit_lands() {
    let repo = Repo::with(&[("private.txt", TEXT), ("run.sh", "#!/bin/sh\n")]);
    set_mode(&repo.root.join("private.txt"), 0o600);
    set_mode(&repo.root.join("run.sh"), 0o640);
    let (private, base) = base(&repo);
    let run = File { mode: Mode::Executable, ..file("#!/bin/sh\n").unwrap() };
    let linked = File { mode: Mode::Symlink, ..file("run.sh").unwrap() };
    let accepted = accept(
        &private,
        &base,
        &[("private.txt", file("changed\n")), ("run.sh", Some(run)), ("link", Some(linked))],
    );
    private.apply(&base, &accepted).unwrap();
    assert_eq!(mode(&repo.root.join("private.txt")), 0o600);
    assert_eq!(mode(&repo.root.join("run.sh")), 0o750);
    assert_eq!(fs::read_link(repo.root.join("link")).unwrap().to_str(), Some("run.sh"));
}

#[test]
fn line_ends_and_encodings_come_through_worktree_and_apply_as_they_are() {
    let repo = Repo::with(&[("lf.txt", "x\n")]);
    repo.git(&["config", "core.autocrlf", "true"]);
    repo.write(".gitattributes", "* text=auto\n");
    repo.write("crlf.txt", "one\r\ntwo\r\nthree\r\n");
    repo.write("latin1.txt", b"caf\xe9\nsecond\n");
    let (private, base) = base(&repo);
    let worktree = private.worktree(SESSION).unwrap();
    worktree.move_to(&base, &base).unwrap();
    fs::write(worktree.path().join("crlf.txt"), "one\r\ntwo changed\r\nthree\r\n").unwrap();
    fs::write(worktree.path().join("latin1.txt"), b"caf\xe9\nsecond \xe9\n").unwrap();
    let proposed = worktree.snapshot(&base).unwrap().tree;
    let outcomes: Vec<FileOutcome> = private
        .diff(&base, &proposed)
        .unwrap()
        .into_iter()
        .map(|change| FileOutcome { path: change.path, file: change.new })
        .collect();
    let accepted = private.compose(&base, &outcomes).unwrap();
    assert_eq!(accepted, proposed);
    private.apply(&base, &accepted).unwrap();
    assert_eq!(repo.read("crlf.txt"), "one\r\ntwo changed\r\nthree\r\n");
    assert_eq!(fs::read(repo.root.join("latin1.txt")).unwrap(), b"caf\xe9\nsecond \xe9\n");
}

#[test]
fn a_file_that_a_sparse_checkout_leaves_out_can_be_applied_to() {
    let repo = Repo::with(&[("in/a.txt", "a\n"), ("out/b.txt", TEXT)]);
    repo.git(&["sparse-checkout", "set", "--cone", "in"]);
    let (private, base) = base(&repo);
    let text = TEXT.replace("b\n", "two\n");
    let accepted = accept(&private, &base, &[("out/b.txt", file(&text))]);
    let report = only(private.apply(&base, &accepted).unwrap());
    assert_eq!((report.landed, report.set_aside), (1, None));
    assert_eq!(repo.read("out/b.txt"), text);
    assert_eq!(private.snapshot(SESSION).unwrap(), accepted);
}
