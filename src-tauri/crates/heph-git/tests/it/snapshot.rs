use std::{fs, os::unix::net::UnixListener, process::Command};

use heph_git::GitError;

use crate::support::{Repo, SESSION, link, name, set_mode, write};

#[test]
fn staged_unstaged_untracked_and_deleted_files_are_as_on_disk() {
    let repo = Repo::with(&[
        ("kept.txt", "kept\n"),
        ("staged.txt", "old\n"),
        ("both.txt", "old\n"),
        ("gone.txt", "gone\n"),
        (".gitignore", "*.log\nbuild/\n"),
    ]);
    repo.write("staged.txt", "staged\n");
    repo.write("both.txt", "staged\n");
    repo.git(&["add", "-A"]);
    repo.write("both.txt", "unstaged\n");
    repo.write("new.txt", "untracked\n");
    repo.write("x.log", "ignored\n");
    repo.write("build/out", "ignored\n");
    repo.write("tracked.log", "tracked though ignored\n");
    repo.git(&["add", "-f", "tracked.log"]);
    repo.write("build/kept.txt", "tracked in an ignored folder\n");
    repo.git(&["add", "-f", "build/kept.txt"]);
    repo.remove("gone.txt");
    let tree = repo.private().snapshot(SESSION).unwrap();
    assert_eq!(
        repo.paths(&tree),
        [".gitignore", "both.txt", "build/kept.txt", "kept.txt", "new.txt", "staged.txt", "tracked.log"]
    );
    assert_eq!(repo.text(&tree, "both.txt").unwrap(), "unstaged\n");
    assert_eq!(repo.text(&tree, "staged.txt").unwrap(), "staged\n");
}

#[test]
fn odd_files_survive_byte_for_byte() {
    let repo = Repo::new();
    let odd: [(&[u8], &[u8]); 11] = [
        (b"crlf.txt", b"one\r\ntwo\r\nno end"),
        (b"bom.txt", b"\xef\xbb\xbftext\n"),
        (b"utf16.txt", b"\xff\xfea\0\n\0"),
        (b"latin1.txt", b"caf\xe9\n"),
        (b"empty.txt", b""),
        (b"binary.dat", b"\0\x01\x02\r\n\xff"),
        (b"caf\xe9/\xff.txt", b"a name that is no UTF-8\n"),
        (b"back\\slash", b"x\n"),
        (b"colon:and\nnew line", b"x\n"),
        (b"con/aux.", b"x\n"),
        (b"with space/'quote\".txt", b"x\n"),
    ];
    repo.write(".gitattributes", "* text=auto eol=lf\n*.dat filter=lfs\n");
    repo.git(&["config", "core.autocrlf", "true"]);
    repo.git(&["config", "filter.lfs.clean", "false"]);
    repo.git(&["config", "filter.lfs.required", "true"]);
    for (path, bytes) in odd {
        repo.write(name(path), bytes);
    }
    repo.write("run.sh", "#!/bin/sh\n");
    set_mode(&repo.root.join("run.sh"), 0o755);
    link("latin1.txt", &repo.root.join("link"));
    link("nowhere/at all", &repo.root.join("sub/dangling"));
    link("/etc", &repo.root.join("to-etc"));
    link("nowhere", &repo.root.join(".gitmodules"));
    let tree = repo.private().snapshot(SESSION).unwrap();
    let tree = repo.tree(&tree);
    for (path, bytes) in odd {
        assert_eq!(tree[path], ("100644".to_owned(), bytes.to_vec()));
    }
    assert_eq!(tree[b"run.sh".as_slice()].0, "100755");
    for (path, to) in [
        ("link", "latin1.txt"),
        ("sub/dangling", "nowhere/at all"),
        ("to-etc", "/etc"),
        (".gitmodules", "nowhere"),
    ] {
        assert_eq!(tree[path.as_bytes()], ("120000".to_owned(), to.into()));
    }
    assert_eq!(tree.len(), odd.len() + 6);
}

#[test]
fn what_no_tree_can_hold_and_repositories_inside_are_left_out() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    let _socket = UnixListener::bind(repo.root.join("socket")).unwrap();
    assert!(Command::new("mkfifo").arg(repo.root.join("pipe")).status().unwrap().success());
    repo.write("inner/file.txt", "another repository's\n");
    repo.git_in(&repo.root.join("inner"), &["init", "-q"]);
    repo.git(&["worktree", "add", "-q", "trees/side"]);
    repo.write("Sub/.GIT/config", "a name that some file system takes for .git\n");
    let tree = repo.private().snapshot(SESSION).unwrap();
    assert_eq!(repo.paths(&tree), ["a.txt"]);
}

#[test]
fn a_submodules_files_are_files() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    let library = Repo::with(&[("lib.rs", "pub fn f() {}\n"), (".gitignore", "*.log\n"), ("kept.log", "")]);
    library.git(&["add", "-f", "kept.log"]);
    library.git(&["commit", "-qm", "kept"]);
    let from = library.root.to_str().unwrap();
    repo.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from, "vendor/lib"]);
    repo.git(&["commit", "-qm", "submodule"]);
    repo.write("vendor/lib/lib.rs", "pub fn changed() {}\n");
    repo.write("vendor/lib/new.rs", "new\n");
    repo.write("vendor/lib/x.log", "ignored there\n");
    let tree = repo.private().snapshot(SESSION).unwrap();
    assert_eq!(
        repo.paths(&tree),
        [
            ".gitmodules",
            "a.txt",
            "vendor/lib/.gitignore",
            "vendor/lib/kept.log",
            "vendor/lib/lib.rs",
            "vendor/lib/new.rs"
        ]
    );
    assert_eq!(repo.text(&tree, "vendor/lib/lib.rs").unwrap(), "pub fn changed() {}\n");
}

#[test]
fn what_a_sparse_checkout_leaves_out_is_not_deleted() {
    for sparse_index in ["--no-sparse-index", "--sparse-index"] {
        let repo = Repo::with(&[
            ("top.txt", "top\n"),
            ("in/a.txt", "a\n"),
            ("out/b.txt", "b\n"),
            ("out/deep/c.txt", "c\n"),
        ]);
        repo.git(&["sparse-checkout", "set", "--cone", sparse_index, "in"]);
        assert!(!repo.root.join("out").exists());
        repo.write("in/a.txt", "changed\n");
        repo.remove("top.txt");
        let tree = repo.private().snapshot(SESSION).unwrap();
        assert_eq!(repo.paths(&tree), ["in/a.txt", "out/b.txt", "out/deep/c.txt"], "{sparse_index}");
        assert_eq!(repo.text(&tree, "out/deep/c.txt").unwrap(), "c\n");
    }
}

#[test]
fn every_version_of_the_index_is_read() {
    let repo = Repo::with(&[(".gitignore", "*.log\n")]);
    for path in ["a.log", "dir/b.log", "dir/bb.log", "dir/sub/c.log", "dir2/d.log"] {
        repo.write(path, path);
        repo.git(&["add", "-f", path]);
    }
    repo.write("dir/not-tracked.log", "");
    for version in ["2", "3", "4"] {
        repo.git(&["update-index", "--index-version", version]);
        let tree = repo.private().snapshot(SESSION).unwrap();
        assert_eq!(
            repo.paths(&tree),
            [".gitignore", "a.log", "dir/b.log", "dir/bb.log", "dir/sub/c.log", "dir2/d.log"]
        );
    }
    repo.git(&["add", "-N", "-f", "dir/not-tracked.log"]);
    let tree = repo.private().snapshot(SESSION).unwrap();
    assert!(repo.paths(&tree).contains(&"dir/not-tracked.log".to_owned()));
    repo.git(&["update-index", "--split-index"]);
    assert!(matches!(repo.private().snapshot(SESSION), Err(GitError::Index { .. })));
}

#[test]
fn ignore_rules_have_gits_precedence() {
    let repo = Repo::new();
    repo.git(&["config", "core.excludesFile", repo.beside("excludes").to_str().unwrap()]);
    write(&repo.beside("excludes"), "*.global\n*.both\n");
    write(&repo.root.join(".git/info/exclude"), "*.local\n!wanted.both\n");
    repo.write(
        ".gitignore",
        "*.log\n!keep.log\n/only-top\nsub/exact\nclosed/\nopen/*\n!open/in\n\\#odd\r\ntrail \n",
    );
    repo.write("sub/.gitignore", "!*.log\n*.tmp\n");
    let all = [
        "a.global",
        "a.both",
        "wanted.both",
        "a.local",
        "a.log",
        "keep.log",
        "only-top",
        "sub/only-top",
        "sub/exact",
        "sub/shown.log",
        "sub/a.tmp",
        "a.tmp",
        "closed/keep.log",
        "open/in",
        "open/out",
        "#odd",
        "trail",
        "deep/er/a.log",
        "deep/er/keep.log",
    ];
    for path in all {
        repo.write(path, "");
    }
    let tree = repo.private().snapshot(SESSION).unwrap();
    let mut theirs: Vec<String> = repo
        .git(&["ls-files", "-co", "--exclude-standard", "-z"])
        .split_terminator('\0')
        .map(str::to_owned)
        .collect();
    theirs.sort();
    assert_eq!(repo.paths(&tree), theirs);
}

#[test]
fn a_second_snapshot_sees_changes_that_keep_size_and_time() {
    let repo = Repo::with(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    let private = repo.private();
    let first = private.snapshot(SESSION).unwrap();
    assert_eq!(private.snapshot(SESSION).unwrap(), first);
    let a = repo.root.join("a.txt");
    let before = fs::metadata(&a).unwrap().modified().unwrap();
    fs::write(&a, "two\n").unwrap();
    fs::File::options().write(true).open(&a).unwrap().set_modified(before).unwrap();
    let second = private.snapshot(SESSION).unwrap();
    assert_eq!(repo.text(&second, "a.txt").unwrap(), "two\n");
    set_mode(&a, 0o755);
    let third = private.snapshot(SESSION).unwrap();
    assert_eq!(repo.tree(&third)[b"a.txt".as_slice()].0, "100755");
}

#[test]
fn files_written_without_a_pause_between_snapshots_are_never_mistaken() {
    let repo = Repo::with(&[("a.txt", "0000\n")]);
    let private = repo.private();
    for count in 0..50 {
        let text = format!("{count:04}\n");
        repo.write("a.txt", &text);
        let tree = private.snapshot(SESSION).unwrap();
        assert_eq!(repo.text(&tree, "a.txt").unwrap(), text);
    }
}

#[test]
fn a_file_may_become_a_folder_and_a_folder_a_file() {
    let repo = Repo::with(&[("thing", "file\n"), ("folder/in", "in\n")]);
    repo.private().snapshot(SESSION).unwrap();
    repo.remove("thing");
    repo.write("thing/in", "now a folder\n");
    fs::remove_dir_all(repo.root.join("folder")).unwrap();
    repo.write("folder", "now a file\n");
    let tree = repo.private().snapshot(SESSION).unwrap();
    assert_eq!(repo.paths(&tree), ["folder", "thing/in"]);
}

#[test]
fn a_session_needs_a_name_that_can_be_a_folders() {
    let repo = Repo::with(&[("a", "")]);
    for bad in ["", "..", "a/b", "a b", ".x"] {
        assert!(matches!(repo.private().snapshot(bad), Err(GitError::Session(_))), "{bad}");
    }
}
