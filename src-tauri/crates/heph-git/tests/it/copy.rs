use std::{
    cell::Cell,
    fs,
    path::{Path, PathBuf},
};

use heph_core::{id::TreeId, path::RepoPath};
use heph_git::{Copying, NotCopied, Worktree};

use crate::support::{Repo, SESSION, content, link, mode, path, set_mode, write};

fn start(repo: &Repo) -> (TreeId, Worktree) {
    let private = repo.private();
    let base = private.snapshot(SESSION).unwrap();
    let worktree = private.worktree(SESSION).unwrap();
    worktree.move_to(&base, &base).unwrap();
    (base, worktree)
}

fn copy(base: &TreeId, worktree: &Worktree, paths: &[&str]) -> Vec<(RepoPath, NotCopied)> {
    let paths: Vec<RepoPath> = paths.iter().map(|one| path(one)).collect();
    match worktree.copy_ignored(base, &paths, &|| true).unwrap() {
        Copying::Done(not_copied) => not_copied,
        Copying::Stopped => panic!("nobody stopped it"),
    }
}

fn read(worktree: &Worktree, path: &str) -> Option<String> {
    fs::read_to_string(worktree.path().join(path)).ok()
}

#[test]
fn a_copy_is_kept_while_the_users_file_is_as_it_was_and_their_own_is_never_written() {
    let repo = Repo::with(&[(".gitignore", "deps\n"), ("a.txt", "a\n")]);
    repo.write("deps/lib/one", "1");
    repo.write("deps/run", "#!/bin/sh\n");
    set_mode(&repo.root.join("deps/run"), 0o555);
    let before = repo.files();
    let (base, worktree) = start(&repo);
    assert_eq!(copy(&base, &worktree, &["deps"]), []);
    assert_eq!(read(&worktree, "deps/lib/one").as_deref(), Some("1"));
    assert_eq!(mode(&worktree.path().join("deps/run")), 0o555);
    let kept = content(&worktree.path().join("deps"));
    let inode = |file: &str| {
        std::os::unix::fs::MetadataExt::ino(&fs::metadata(worktree.path().join("deps").join(file)).unwrap())
    };
    let (one, run) = (inode("lib/one"), inode("run"));
    copy(&base, &worktree, &["deps"]);
    assert_eq!((inode("lib/one"), inode("run")), (one, run), "they were not written again");

    write(&worktree.path().join("deps/lib/one"), "the model's");
    write(&worktree.path().join("deps/cache"), "a build's");
    assert_eq!(repo.files(), before);
    copy(&base, &worktree, &["deps"]);
    assert_eq!(read(&worktree, "deps/cache").as_deref(), Some("a build's"));
    fs::remove_file(worktree.path().join("deps/cache")).unwrap();
    assert_eq!(content(&worktree.path().join("deps")), kept, "they are as the user has them again");
    repo.write("deps/lib/one", "2");
    copy(&base, &worktree, &["deps"]);
    assert_eq!(read(&worktree, "deps/lib/one").as_deref(), Some("2"));
}

#[test]
fn nothing_is_copied_that_a_review_would_show() {
    let repo = Repo::with(&[
        (".gitignore", "/deps\nconf/*.key\n!conf/public.key\n"),
        ("conf/.gitignore", "*.pem\n"),
        ("conf/app.toml", "a\n"),
        ("conf/public.key", "public\n"),
        ("plain.txt", "a\n"),
    ]);
    repo.write("conf/secret.key", "secret");
    repo.write("conf/server.pem", "pem");
    repo.write("deps/force-added", "a");
    repo.git(&["add", "-f", "deps/force-added"]);
    repo.write("deps/inner/.git/HEAD", "ref: refs/heads/main\n");
    repo.write("deps/inner/file", "f");
    // A repository of its own is no part of a snapshot.
    repo.git(&["init", "-q", "vendored"]);
    repo.write("vendored/file", "f");
    let (base, worktree) = start(&repo);
    write(&worktree.path().join("deps/force-added"), "the model's");
    write(&worktree.path().join("conf/app.toml"), "the model's");
    let not_copied =
        copy(&base, &worktree, &["conf", "deps", "vendored", "plain.txt", "absent", "conf/absent"]);
    let expected = [
        ("vendored", NotCopied::NotIgnored),
        ("plain.txt", NotCopied::NotIgnored),
        ("absent", NotCopied::Missing),
        ("conf/absent", NotCopied::Missing),
    ];
    assert_eq!(not_copied, expected.map(|(one, why)| (path(one), why)));
    assert_eq!(read(&worktree, "conf/secret.key").as_deref(), Some("secret"));
    assert_eq!(read(&worktree, "conf/server.pem").as_deref(), Some("pem"));
    assert_eq!(read(&worktree, "deps/inner/file").as_deref(), Some("f"));
    assert!(!worktree.path().join("deps/inner/.git").exists());
    for kept in ["deps/force-added", "conf/app.toml"] {
        assert_eq!(read(&worktree, kept).as_deref(), Some("the model's"), "{kept} is a file of the base");
    }
    worktree.move_to(&base, &base).unwrap();
    assert_eq!(read(&worktree, "conf/secret.key").as_deref(), Some("secret"));
    assert_eq!(worktree.snapshot(&base).unwrap().tree, base);
}

#[test]
fn no_link_is_followed_on_either_side() {
    let repo = Repo::with(&[(".gitignore", "linked\ndeps\nd\n")]);
    let elsewhere = repo.beside("elsewhere");
    write(&elsewhere.join("key"), "secret");
    link(elsewhere.to_str().unwrap(), &repo.root.join("linked"));
    repo.write("d/f", "f");
    let (base, worktree) = start(&repo);
    let not_copied = copy(&base, &worktree, &["linked", "linked/key"]);
    assert_eq!(not_copied, ["linked", "linked/key"].map(|one| (path(one), NotCopied::Link)));
    assert!(!worktree.path().join("linked").exists());
    // A link that the model left is not written through.
    link(elsewhere.to_str().unwrap(), &worktree.path().join("d"));
    assert_eq!(copy(&base, &worktree, &["d"]), []);
    assert_eq!(read(&worktree, "d/f").as_deref(), Some("f"));
    assert!(!elsewhere.join("f").exists());
}

#[test]
fn a_link_in_a_copied_folder_stays_one_unless_it_leads_to_the_users_own_files() {
    let repo = Repo::with(&[(".gitignore", "deps\n"), ("a.txt", "a\n")]);
    repo.write("deps/tool", "t");
    let links: [(&str, PathBuf); 4] = [
        ("deps/bin/tool", "../tool".into()),
        ("deps/bin/python", "/bin/sh".into()),
        ("deps/bin/own", repo.root.join("a.txt")),
        ("deps/bin/out", "../../../x".into()),
    ];
    for (place, to) in &links {
        link(to.to_str().unwrap(), &repo.root.join(place));
    }
    let (base, worktree) = start(&repo);
    copy(&base, &worktree, &["deps"]);
    let copied = |place: &str| fs::read_link(worktree.path().join(place)).ok();
    assert_eq!(copied("deps/bin/tool").as_deref(), Some(Path::new("../tool")));
    assert_eq!(copied("deps/bin/python").as_deref(), Some(Path::new("/bin/sh")));
    assert_eq!((copied("deps/bin/own"), copied("deps/bin/out")), (None, None));
}

#[test]
fn copying_can_be_stopped_and_taken_up_again() {
    let repo = Repo::with(&[(".gitignore", "deps\n")]);
    for one in ["a", "b", "c", "d"] {
        repo.write(format!("deps/{one}"), one);
    }
    let (base, worktree) = start(&repo);
    let left = Cell::new(4);
    let goes_on = || left.replace(left.get().max(1) - 1) > 0;
    let outcome = worktree.copy_ignored(&base, &[path("deps")], &goes_on).unwrap();
    assert_eq!(outcome, Copying::Stopped);
    assert!(content(&worktree.path().join("deps")).len() < 4);
    assert_eq!(copy(&base, &worktree, &["deps"]), []);
    assert_eq!(content(&worktree.path().join("deps")).len(), 4);
}
