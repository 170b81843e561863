use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

/// A user's repository in a folder of its own, and a home without any settings of the machine's.
pub struct Repository {
    folder: TempDir,
}

/// Everything of a repository that must not change by itself.
#[derive(Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Every file of the working tree but the named ones, with its bytes and mode.
    pub files: BTreeMap<PathBuf, (u32, Vec<u8>)>,
    /// HEAD, index, config, reflogs, and all refs but Heph's own, as bytes.
    pub git: BTreeMap<PathBuf, Vec<u8>>,
}

impl Fingerprint {
    /// The paths at which the two are not the same.
    pub fn differs_from(&self, other: &Fingerprint) -> BTreeSet<PathBuf> {
        fn differing<T: PartialEq>(a: &BTreeMap<PathBuf, T>, b: &BTreeMap<PathBuf, T>) -> Vec<PathBuf> {
            a.keys().chain(b.keys()).filter(|path| a.get(*path) != b.get(*path)).cloned().collect()
        }
        let files = differing(&self.files, &other.files);
        files.into_iter().chain(differing(&self.git, &other.git)).collect()
    }
}

impl Repository {
    /// A repository with these files in its first commit, on `main`.
    pub fn new(files: &[(&str, &str)]) -> Repository {
        let repository = Repository { folder: tempfile::tempdir().expect("a temporary folder") };
        fs::create_dir(repository.root()).expect("the repository's folder");
        fs::create_dir(repository.home()).expect("a home");
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.git(&["config", "user.name", "A User"]);
        repository.git(&["config", "user.email", "user@example.com"]);
        for (path, text) in files {
            repository.write(path, text);
        }
        repository.git(&["add", "--all"]);
        repository.git(&["commit", "--quiet", "--allow-empty", "--message=First"]);
        repository
    }

    /// Its working folder.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A path beside the repository.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, with the folders it needs.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a file in the repository")).expect("the file's folder");
        fs::write(path, text).expect("the file");
    }

    /// A file's text.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Runs git in it, under an empty environment, and returns what it printed.
    pub fn git(&self, arguments: &[&str]) -> String {
        self.run(Command::new("git").args(arguments))
    }

    /// Runs a shell's command in it, under an empty environment, and returns what it printed.
    pub fn sh(&self, command: &str) -> String {
        self.run(Command::new("sh").args(["-c", command]))
    }

    fn run(&self, command: &mut Command) -> String {
        let output = command
            .current_dir(self.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Makes it as untidy as a working day leaves it: staged, unstaged, untracked and ignored files, a
    /// second branch, a tag and a stash. Touches none of `files`.
    pub fn dirty(&self) {
        self.write(".gitignore", "ignored/\n");
        self.write("staged.txt", "one\n");
        self.write("unstaged.txt", "one\n");
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message=Second"]);
        self.git(&["tag", "v1"]);
        self.git(&["branch", "other"]);
        self.write("unstaged.txt", "stashed\n");
        self.git(&["stash", "--quiet"]);
        self.write("staged.txt", "two\n");
        self.git(&["add", "staged.txt"]);
        self.write("staged.txt", "three\n");
        self.write("unstaged.txt", "two\r\n");
        self.write("untracked.txt", "mine");
        self.write("ignored/cache", "cache");
    }

    /// What must not change by itself; the files named in `but` may.
    pub fn fingerprint(&self, but: &[&str]) -> Fingerprint {
        let mut files = BTreeMap::new();
        let mut git = BTreeMap::new();
        let root = self.root();
        walk(&root, &mut |path| {
            let relative = path.strip_prefix(&root).expect("a path below the root").to_owned();
            let name = relative.to_string_lossy();
            if let Some(of_git) = name.strip_prefix(".git/") {
                let kept = ["HEAD", "index", "config", "packed-refs", "ORIG_HEAD"].contains(&of_git)
                    || of_git.starts_with("logs/")
                    || (of_git.starts_with("refs/") && !of_git.starts_with("refs/heph/"));
                if kept {
                    git.insert(relative, fs::read(path).expect("a file of git's"));
                }
            } else if !but.contains(&name.as_ref()) {
                files.insert(relative, (mode(path), fs::read(path).expect("a file of the user's")));
            }
        });
        Fingerprint { files, git }
    }
}

fn walk(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.is_symlink() {
            walk(&path, visit);
        } else {
            visit(&path);
        }
    }
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::symlink_metadata(path).expect("a file's mode").permissions().mode()
}
