use std::fs;

use heph_core::{
    apply::Reason,
    file::{File, Mode},
};

use crate::{
    apply::{accept, base},
    support::{Repo, file, link, mode, path, set_mode},
};

const TEXT: &str = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\n";

#[test]
fn an_apply_that_is_taken_back_leaves_every_byte_mode_and_folder_as_it_was() {
    let repo = Repo::with(&[("a.txt", TEXT), ("dir/gone.txt", "x\n"), ("run.sh", "#!/bin/sh\n")]);
    repo.write("crlf.txt", TEXT.replace('\n', "\r\n"));
    repo.write("dir/latin1.txt", b"caf\xe9\nb\n");
    repo.write("whole.bin", b"\0one");
    link("a.txt", &repo.root.join("link"));
    fs::create_dir(repo.root.join("empty")).unwrap();
    set_mode(&repo.root.join("a.txt"), 0o600);
    let (private, base) = base(&repo);
    let run = File { mode: Mode::Executable, ..file("#!/bin/sh\necho\n").unwrap() };
    let accepted = accept(
        &private,
        &base,
        &[
            ("a.txt", file(TEXT.replace("b\n", "two\n"))),
            ("crlf.txt", file(TEXT.replace("b\n", "two\n").replace('\n', "\r\n"))),
            ("dir/gone.txt", None),
            ("dir/latin1.txt", file(b"caf\xe9\nb \xe9\n")),
            ("empty/new.txt", file("new\n")),
            ("very/new/folder/new.txt", file("new\n")),
            ("run.sh", Some(run)),
            ("whole.bin", file(b"\0two")),
            ("link", Some(File { mode: Mode::Symlink, ..file("run.sh").unwrap() })),
        ],
    );
    repo.write("a.txt", TEXT.replace("l\n", "mine\n"));
    let before = repo.files();
    let applied = private.apply(&base, &accepted).unwrap();
    assert_eq!(repo.paths(&applied.before).len(), 7);
    assert_eq!(repo.paths(&applied.after).len(), 8);
    assert_ne!(repo.files(), before);
    let undone = private.undo(&applied.after, &applied.before).unwrap();
    assert_eq!(repo.files(), before);
    assert!(undone.files.iter().all(|file| file.landed > 0 && file.set_aside.is_none()));
    assert_eq!((undone.before, undone.after), (applied.after, applied.before));
    assert_eq!(mode(&repo.root.join("a.txt")), 0o600);
}

#[test]
fn what_the_user_changed_after_an_apply_stays_and_is_named() {
    let repo = Repo::with(&[("a.txt", TEXT), ("over.txt", TEXT), ("gone.txt", "x\n")]);
    let (private, base) = base(&repo);
    let changed = TEXT.replace("b\n", "two\n").replace("m\n", "thirteen\n");
    let accepted = accept(
        &private,
        &base,
        &[
            ("a.txt", file(&changed)),
            ("over.txt", file(&changed)),
            ("gone.txt", None),
            ("dir/new.txt", file("new\n")),
            ("dir/kept.txt", file("kept\n")),
        ],
    );
    let applied = private.apply(&base, &accepted).unwrap();
    repo.write("a.txt", changed.replace("h\n", "mine\n"));
    repo.write("over.txt", changed.replace("two\n", "two, and mine\n"));
    repo.write("gone.txt", "mine\n");
    repo.write("dir/kept.txt", "kept\nand mine\n");
    let undone = private.undo(&applied.after, &applied.before).unwrap();
    assert_eq!(repo.read("a.txt"), TEXT.replace("h\n", "mine\n"));
    assert_eq!(repo.read("over.txt"), TEXT.replace("b\n", "two, and mine\n"));
    assert_eq!(
        (repo.read("gone.txt"), repo.read("dir/kept.txt")),
        ("mine\n".into(), "kept\nand mine\n".into())
    );
    assert!(!repo.root.join("dir/new.txt").exists());
    let told: Vec<_> = undone
        .files
        .into_iter()
        .map(|file| (file.path, file.landed, file.set_aside.map(|aside| aside.reason)))
        .collect();
    assert_eq!(
        told,
        [
            (path("a.txt"), 2, None),
            (path("dir/kept.txt"), 0, Some(Reason::ChangedSince)),
            (path("dir/new.txt"), 1, None),
            (path("gone.txt"), 0, Some(Reason::Exists)),
            (path("over.txt"), 1, Some(Reason::Region)),
        ]
    );
}

#[test]
fn only_what_landed_is_taken_back() {
    let repo = Repo::with(&[("a.txt", TEXT), ("there.txt", TEXT)]);
    let (private, base) = base(&repo);
    let changed = TEXT.replace("b\n", "two\n").replace("m\n", "thirteen\n");
    let accepted = accept(&private, &base, &[("a.txt", file(&changed)), ("there.txt", file(&changed))]);
    repo.write("a.txt", TEXT.replace("b\n", "mine\n"));
    repo.write("there.txt", &changed);
    let before = repo.files();
    let applied = private.apply(&base, &accepted).unwrap();
    assert_eq!(repo.paths(&applied.after), ["a.txt"]);
    private.undo(&applied.after, &applied.before).unwrap();
    assert_eq!(repo.files(), before);
}

#[test]
fn an_undo_can_be_undone() {
    let repo = Repo::with(&[("a.txt", TEXT)]);
    let (private, base) = base(&repo);
    let accepted = accept(&private, &base, &[("a.txt", file("changed\n")), ("new/b.txt", file("b\n"))]);
    let applied = private.apply(&base, &accepted).unwrap();
    let after = repo.files();
    let undone = private.undo(&applied.after, &applied.before).unwrap();
    private.undo(&undone.after, &undone.before).unwrap();
    assert_eq!(repo.files(), after);
}

#[test]
fn what_an_apply_wrote_outlives_a_collection_in_the_worktree() {
    let repo = Repo::with(&[("a.txt", TEXT)]);
    let (private, base) = base(&repo);
    let accepted = accept(&private, &base, &[("a.txt", file("changed\n"))]);
    repo.write("a.txt", TEXT.replace("b\n", "never committed, never snapshotted\n"));
    repo.write("a.txt", TEXT);
    let applied = private.apply(&base, &accepted).unwrap();
    repo.git_in(&repo.private_git(), &["gc", "-q", "--prune=now"]);
    private.undo(&applied.after, &applied.before).unwrap();
    assert_eq!(repo.read("a.txt"), TEXT);
}

#[test]
fn a_renamed_file_takes_the_users_edits_along_and_back() {
    let long: String = (0..40).map(|n| format!("line {n}\n")).collect();
    let repo = Repo::with(&[("from/a.txt", &long), ("run.txt", &long.replace("line", "row"))]);
    set_mode(&repo.root.join("from/a.txt"), 0o640);
    let (private, base) = base(&repo);
    let moved = long.replace("line 30\n", "thirty\n");
    let accepted = accept(&private, &base, &[("from/a.txt", None), ("to/b.txt", file(&moved))]);
    repo.write("from/a.txt", long.replace("line 3\n", "my three\n"));
    let before = repo.files();
    let applied = private.apply(&base, &accepted).unwrap();
    assert_eq!(repo.read("to/b.txt"), moved.replace("line 3\n", "my three\n"));
    assert_eq!(mode(&repo.root.join("to/b.txt")), 0o640);
    assert!(!repo.root.join("from").exists());
    assert_eq!((applied.files.len(), applied.files[0].landed), (1, 2));
    private.undo(&applied.after, &applied.before).unwrap();
    assert_eq!(repo.files().keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    assert_eq!(repo.read("from/a.txt"), long.replace("line 3\n", "my three\n"));
}

#[test]
fn a_rename_whose_new_name_is_taken_leaves_both_files() {
    let long: String = (0..40).map(|n| format!("line {n}\n")).collect();
    let repo = Repo::with(&[("a.txt", &long)]);
    let (private, base) = base(&repo);
    let accepted = accept(&private, &base, &[("a.txt", None), ("b.txt", file(&long))]);
    repo.write("b.txt", "mine\n");
    let before = repo.files();
    let report = private.apply(&base, &accepted).unwrap();
    assert_eq!(repo.files(), before);
    assert_eq!(report.files[0].set_aside.as_ref().unwrap().reason, Reason::Exists);
    assert_eq!(report.files[0].current, file("mine\n"));
}
