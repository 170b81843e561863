use std::path::{Path, PathBuf};

use heph_core::{
    apply::Reason,
    compose::FileOutcome,
    file::{File, Mode},
    text::Bytes,
};

use super::*;

const TEXT: &str = "a\nb\nc\nd\ne\nf\ng\nh\n";

/// A user's repository without a commit, Heph's for it, and a base and an accepted state.
struct Scene {
    root: PathBuf,
    private: PrivateRepo,
    base: TreeId,
    accepted: TreeId,
    _scratch: tempfile::TempDir,
}

type Change<'a> = (&'a str, Option<&'a str>, Option<&'a str>);

impl Scene {
    fn new(changes: &[Change<'_>]) -> Scene {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().join("project");
        git2::Repository::init(&root).unwrap();
        for (path, old, _) in changes {
            if let Some(old) = old {
                fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
                fs::write(root.join(path), old).unwrap();
            }
        }
        let private =
            PrivateRepo::open(&scratch.path().join("data"), &UserRepo::open(&root).unwrap()).unwrap();
        let base = private.snapshot("s").unwrap();
        let outcomes: Vec<FileOutcome> = changes
            .iter()
            .map(|(path, _, new)| {
                let file = |text: &str| File { mode: Mode::Regular, bytes: Bytes(text.into()) };
                FileOutcome { path: RepoPath::new(path).unwrap(), file: new.map(file) }
            })
            .collect();
        let accepted = private.compose(&base, &outcomes).unwrap();
        Scene { root, private, base, accepted, _scratch: scratch }
    }

    /// Lets the user do something between two steps of the apply, before any file of theirs has changed.
    fn apply_while(&self, user: impl Fn(&Path)) -> ApplyReport {
        let steps = std::cell::Cell::new(0);
        let watch = || {
            steps.set(steps.get() + 1);
            if steps.get() == 1 {
                user(&self.root);
            }
        };
        let report = self.private.run(Kind::Apply, &self.base, &self.accepted, &watch).unwrap();
        assert!(!left_over(&self.root));
        report
    }
}

/// Whether anything lies in the folder that an apply has put beside its place.
fn left_over(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let entry = entry.unwrap();
        entry.file_name().as_encoded_bytes().starts_with(STAGED)
            || entry.file_type().unwrap().is_dir() && left_over(&entry.path())
    })
}

#[test]
fn what_the_user_saves_at_the_last_moment_is_planned_for() {
    let changed = TEXT.replace("h\n", "eight\n");
    let scene = Scene::new(&[
        ("beside.txt", Some(TEXT), Some(&changed)),
        ("over.txt", Some(TEXT), Some(&changed)),
        ("gone.txt", Some("gone\n"), None),
        ("new.txt", None, Some("theirs\n")),
    ]);
    let report = scene.apply_while(|root| {
        fs::write(root.join("beside.txt"), TEXT.replace("a\n", "mine\n")).unwrap();
        fs::write(root.join("over.txt"), TEXT.replace("h\n", "mine\n")).unwrap();
        fs::write(root.join("gone.txt"), "mine\n").unwrap();
        fs::write(root.join("new.txt"), "mine\n").unwrap();
    });
    let aside: Vec<Option<Reason>> =
        report.files.iter().map(|file| file.set_aside.as_ref().map(|aside| aside.reason)).collect();
    assert_eq!(aside, [None, Some(Reason::ChangedSince), Some(Reason::Exists), Some(Reason::Region)]);
    let current: Vec<Option<Vec<u8>>> =
        report.files.into_iter().map(|file| file.current.map(|file| file.bytes.0)).collect();
    let over = TEXT.replace("h\n", "mine\n").into_bytes();
    assert_eq!(current, [None, Some(b"mine\n".to_vec()), Some(b"mine\n".to_vec()), Some(over)]);
    scene.private.undo(&report.after, &report.before).unwrap();
    assert_eq!(fs::read_to_string(scene.root.join("beside.txt")).unwrap(), TEXT.replace("a\n", "mine\n"));
}

#[test]
fn room_that_is_not_made_after_all_sets_the_new_file_aside() {
    let scene = Scene::new(&[("thing", Some("file\n"), None), ("thing/in", None, Some("in\n"))]);
    let report = scene.apply_while(|root| fs::write(root.join("thing"), "mine\n").unwrap());
    let reasons: Vec<Reason> = report.files.into_iter().map(|file| file.set_aside.unwrap().reason).collect();
    assert_eq!(reasons, [Reason::ChangedSince, Reason::TypeChanged]);
}

/// The program is killed at this step.
struct Killed;

/// Runs `apply` until its step `at`, and says whether it got so far.
fn killed_at(at: usize, apply: impl Fn(&dyn Fn()) -> ApplyReport) -> bool {
    let steps = std::cell::Cell::new(0);
    let watch = || {
        steps.set(steps.get() + 1);
        if steps.get() == at {
            std::panic::resume_unwind(Box::new(Killed));
        }
    };
    let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| apply(&watch)));
    match run {
        Ok(_) => false,
        Err(panic) if panic.is::<Killed>() => true,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Everything in the working tree, and what is staged.
#[derive(Debug, PartialEq)]
struct Found {
    files: Vec<(PathBuf, u32, Vec<u8>)>,
    staged: Vec<(Vec<u8>, u32, git2::Oid)>,
    git: Vec<std::ffi::OsString>,
}

fn found(root: &Path) -> Found {
    fn visit(folder: &Path, root: &Path, files: &mut Vec<(PathBuf, u32, Vec<u8>)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let stat = fs::symlink_metadata(&path).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::mode(&stat.permissions());
            let place = path.strip_prefix(root).unwrap().to_owned();
            if place == Path::new(".git") {
                continue;
            }
            if stat.is_dir() {
                files.push((place, mode, Vec::new()));
                visit(&path, root, files);
            } else {
                files.push((place, mode, fs::read(&path).unwrap()));
            }
        }
    }
    let mut files = Vec::new();
    visit(root, root, &mut files);
    files.sort();
    let index = git2::Index::open(&root.join(".git/index")).unwrap();
    let staged = index.iter().map(|entry| (entry.path, entry.mode, entry.id)).collect();
    let mut git: Vec<_> =
        fs::read_dir(root.join(".git")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    git.sort();
    Found { files, staged, git }
}

/// Many kinds of changes at once, with the user's edits beside and over them, and some of it staged.
fn scene() -> Scene {
    let long: String = (0..40).map(|n| format!("line {n}\n")).collect();
    let changed = TEXT.replace("h\n", "eight\n");
    let moved = long.replace("line 30\n", "thirty\n");
    let scene = Scene::new(&[
        ("beside.txt", Some(TEXT), Some(&changed)),
        ("over.txt", Some(TEXT), Some(&changed)),
        ("old/deep/gone.txt", Some("gone\n"), None),
        ("new/er/made.txt", None, Some("made\n")),
        ("empty/made.txt", None, Some("made too\n")),
        ("from/moved.txt", Some(&long), None),
        ("to/moved.txt", None, Some(&moved)),
        ("thing", Some("file\n"), None),
        ("thing/in", None, Some("in\n")),
        ("folder/in", Some("in here\n"), None),
        ("folder", None, Some("a file\n")),
    ]);
    let at = |path: &str| scene.root.join(path);
    let repo = git2::Repository::open(&scene.root).unwrap();
    let mut index = repo.index().unwrap();
    for path in ["beside.txt", "over.txt", "from/moved.txt"] {
        index.add_path(Path::new(path)).unwrap();
    }
    let tree = repo.find_tree(index.write_tree().unwrap()).unwrap();
    let by = git2::Signature::new("User", "user@example.com", &git2::Time::new(1, 0)).unwrap();
    repo.commit(Some("HEAD"), &by, &by, "first", &tree, &[]).unwrap();
    fs::write(at("beside.txt"), TEXT.replace("a\n", "mine\n")).unwrap();
    for path in ["beside.txt", "thing", "old/deep/gone.txt"] {
        index.add_path(Path::new(path)).unwrap();
    }
    index.write().unwrap();
    fs::write(at("over.txt"), TEXT.replace("h\n", "mine\n")).unwrap();
    fs::write(at("from/moved.txt"), long.replace("line 3\n", "my three\n")).unwrap();
    fs::create_dir(at("empty")).unwrap();
    scene
}

/// An apply or an undo with every step there is: the index follows.
fn run(scene: &Scene, watch: &dyn Fn()) -> ApplyReport {
    scene.private.run(Kind::ApplyToIndex, &scene.base, &scene.accepted, watch).unwrap()
}

#[test]
fn whenever_an_apply_is_killed_asking_again_does_and_reports_the_same() {
    let whole = scene();
    let report = run(&whole, &|| ());
    let expected = found(&whole.root);
    assert!(report.files.iter().any(|file| file.set_aside.is_some()));
    for at in 1.. {
        let cut = scene();
        if !killed_at(at, |watch| run(&cut, watch)) {
            assert!(at > 20, "{at} steps");
            break;
        }
        // And once more, while it is completed.
        killed_at(at * 7 % 13 + 1, |watch| run(&cut, watch));
        assert_eq!(run(&cut, &|| ()), report, "killed at step {at}");
        assert_eq!(found(&cut.root), expected, "killed at step {at}");
    }
}

#[test]
fn what_the_user_changes_while_an_apply_is_cut_off_stays_and_the_undo_leaves_it() {
    for at in 1.. {
        let scene = scene();
        let cut = killed_at(at, |watch| run(&scene, watch));
        let beside = scene.root.join("beside.txt");
        let edited = fs::read_to_string(&beside).unwrap().replace("mine\n", "mine\nand this\n");
        fs::write(&beside, edited).unwrap();
        let report = run(&scene, &|| ());
        let user = TEXT.replace("a\n", "mine\nand this\n");
        assert_eq!(fs::read_to_string(&beside).unwrap(), user.replace("h\n", "eight\n"), "step {at}");
        assert!(!left_over(&scene.root));
        scene.private.undo(&report.after, &report.before).unwrap();
        assert_eq!(fs::read_to_string(&beside).unwrap(), user, "step {at}");
        if !cut {
            break;
        }
    }
}

#[test]
fn whenever_an_undo_is_killed_the_next_start_completes_it_and_all_is_as_before() {
    let before = found(&scene().root);
    for at in 1.. {
        let scene = scene();
        let written = run(&scene, &|| ());
        assert_ne!(found(&scene.root), before);
        let undo =
            |watch: &dyn Fn()| scene.private.run(Kind::Undo, &written.after, &written.before, watch).unwrap();
        let cut = killed_at(at, undo);
        scene.private.complete_applies().unwrap();
        let report = undo(&|| ());
        assert!(report.files.iter().chain(&report.index).all(|file| file.set_aside.is_none()));
        assert_eq!(found(&scene.root), before, "killed at step {at}");
        if !cut {
            break;
        }
    }
}

#[test]
fn an_apply_that_cannot_be_completed_is_withdrawn_while_nothing_is_written_and_waits_else() {
    let locked = |scene: &Scene, bits: u32| {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(bits);
        fs::set_permissions(scene.root.join("dir"), permissions).unwrap();
    };
    let mut begun = 0;
    for at in 1.. {
        let scene = Scene::new(&[
            ("a.txt", Some("a\n"), Some("changed\n")),
            ("dir/b.txt", Some("b\n"), Some("changed\n")),
        ]);
        let text = |path: &str| fs::read_to_string(scene.root.join(path)).unwrap();
        if !killed_at(at, |watch| run(&scene, watch)) {
            break;
        }
        if text("dir/b.txt") == "changed\n" {
            continue;
        }
        let written = text("a.txt") == "changed\n";
        locked(&scene, 0o555);
        let error = scene.private.apply_with_index(&scene.base, &scene.accepted).unwrap_err();
        let waiting = Journal::all(&scene.private, &scene.private.objects().unwrap()).unwrap();
        assert_eq!(matches!(error, ApplyError::Stopped { .. }), written, "{error}");
        assert_eq!(waiting.len(), usize::from(written), "killed at step {at}");
        locked(&scene, 0o755);
        assert_eq!(run(&scene, &|| ()).files.iter().map(|file| file.landed).sum::<u32>(), 2);
        assert!(!left_over(&scene.root));
        begun += usize::from(written);
    }
    assert!(begun > 0);
}
