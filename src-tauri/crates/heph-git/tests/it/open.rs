use std::fs;

use heph_git::{OpenError, UserRepo};

use crate::support::{Repo, SESSION};

#[test]
fn a_folder_inside_a_repository_opens_the_repository() {
    let repo = Repo::with(&[("src/deep/a.rs", "a\n")]);
    let user = UserRepo::open(&repo.root.join("src/deep")).unwrap();
    assert_eq!(user.root(), repo.root);
    assert_eq!(user.name(), "project");
    assert_eq!(user.branch().unwrap(), "main");
}

#[test]
fn a_missing_path_and_a_plain_folder_and_a_bare_repository_are_told_apart() {
    let repo = Repo::new();
    let plain = repo.beside("plain");
    fs::create_dir(&plain).unwrap();
    let bare = repo.beside("bare.git");
    repo.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    assert!(matches!(UserRepo::open(&repo.beside("gone")), Err(OpenError::NoSuchPath(_))));
    assert!(matches!(UserRepo::open(&plain), Err(OpenError::NotARepository(_))));
    assert!(matches!(UserRepo::open(&bare), Err(OpenError::Bare(_))));
}

#[test]
fn a_branch_without_a_commit_has_a_name_and_its_files_are_snapshotted() {
    let repo = Repo::new();
    repo.write("a.txt", "not committed\n");
    assert_eq!(repo.user().branch().unwrap(), "main");
    let private = repo.private();
    let tree = private.snapshot(SESSION).unwrap();
    assert_eq!(repo.text(&tree, "a.txt").unwrap(), "not committed\n");
    private.mirror_refs().unwrap();
    private.commit(SESSION, &tree, "base").unwrap();
    private.worktree(SESSION).unwrap().move_to(&tree, &tree).unwrap();
    private.worktree(SESSION).unwrap().snapshot(&tree).unwrap();
}

#[test]
fn a_detached_head_is_named_by_its_commit() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    repo.git(&["checkout", "-q", "--detach"]);
    let short = repo.git(&["rev-parse", "--short", "HEAD"]);
    assert_eq!(repo.user().branch().unwrap(), short.trim());
    repo.private().snapshot(SESSION).unwrap();
}

#[test]
fn a_linked_worktree_and_one_of_a_bare_clone_are_repositories_of_their_own() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    let linked = repo.beside("linked");
    repo.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    let bare = repo.beside("bare.git");
    repo.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let of_bare = repo.beside("of-bare");
    repo.git_in(&bare, &["worktree", "add", "-q", "-b", "other", of_bare.to_str().unwrap()]);
    for (root, branch) in [(linked, "side"), (of_bare, "other")] {
        let user = UserRepo::open(&root).unwrap();
        assert_eq!((user.root(), user.branch().unwrap().as_str()), (root.as_path(), branch));
        fs::write(root.join("b.txt"), "b\n").unwrap();
        fs::remove_file(root.join("a.txt")).unwrap();
        let private = heph_git::PrivateRepo::open(&repo.data(), &user).unwrap();
        let tree = private.snapshot(SESSION).unwrap();
        let at = |path: &str| private.file(&tree, &crate::support::path(path)).unwrap();
        assert!(at("a.txt").is_none());
        assert_eq!(at("b.txt"), crate::support::file("b\n"));
    }
}
