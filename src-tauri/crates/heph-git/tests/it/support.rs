//! Repositories made with the git binary, under an environment of their own.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{MetadataExt, PermissionsExt, symlink},
    },
    path::{Path, PathBuf},
    process::Command,
};

use heph_core::{
    file::{File, Mode},
    id::TreeId,
    path::RepoPath,
    text::Bytes,
};
use heph_git::{PrivateRepo, UserRepo};

pub const SESSION: &str = "s1";

/// A user's repository, and a data folder for Heph.
pub struct Repo {
    pub root: PathBuf,
    scratch: tempfile::TempDir,
}

/// A folder's content: for each path its kind, its permissions and its bytes.
pub type Content = BTreeMap<PathBuf, (u32, Vec<u8>)>;

impl Repo {
    /// An empty repository on the branch `main`.
    pub fn new() -> Repo {
        let scratch = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(scratch.path()).unwrap().join("project");
        fs::create_dir(&root).unwrap();
        let repo = Repo { root, scratch };
        repo.git(&["init", "-q", "-b", "main"]);
        repo
    }

    /// One with the files given, committed.
    pub fn with(files: &[(&str, &str)]) -> Repo {
        let repo = Repo::new();
        for (path, text) in files {
            repo.write(path, text);
        }
        repo.commit_all("first");
        repo
    }

    /// A folder beside the repository.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.root.parent().unwrap().join(name)
    }

    pub fn data(&self) -> PathBuf {
        self.beside("data")
    }

    pub fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.root, args)
    }

    pub fn git_in(&self, folder: &Path, args: &[&str]) -> String {
        let output = self.command(folder).args(args).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {told}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// A git command whose failure is not the test's business.
    pub fn try_git_in(&self, folder: &Path, args: &[&str]) -> bool {
        self.command(folder).args(args).output().unwrap().status.success()
    }

    fn command(&self, folder: &Path) -> Command {
        let mut git = Command::new("git");
        git.current_dir(folder).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        git.env("HOME", self.scratch.path()).env("GIT_CONFIG_NOSYSTEM", "1");
        for (name, value) in [("NAME", "User"), ("EMAIL", "user@example.com")] {
            git.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
        }
        git
    }

    pub fn commit_all(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    pub fn write(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        write(&self.root.join(path), bytes);
    }

    pub fn read(&self, path: &str) -> String {
        String::from_utf8(fs::read(self.root.join(path)).unwrap()).unwrap()
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.root.join(path)).unwrap();
    }

    pub fn user(&self) -> UserRepo {
        UserRepo::open(&self.root).unwrap()
    }

    pub fn private(&self) -> PrivateRepo {
        PrivateRepo::open(&self.data(), &self.user()).unwrap()
    }

    /// Heph's repository for this one.
    pub fn private_git(&self) -> PathBuf {
        let home = fs::read_dir(self.data().join("repos")).unwrap().next().unwrap().unwrap();
        home.path().join("git")
    }

    /// What a tree of Heph's holds: paths, modes and bytes, as git sees it.
    pub fn tree(&self, tree: &TreeId) -> BTreeMap<Vec<u8>, (String, Vec<u8>)> {
        let git = self.private_git();
        let listed = self.command(&git).args(["ls-tree", "-r", "-z", &tree.0]).output().unwrap().stdout;
        let entries = listed.split(|&b| b == 0).filter(|entry| !entry.is_empty());
        let entries = entries.map(|entry| {
            let tab = entry.iter().position(|&b| b == b'\t').unwrap();
            let head = String::from_utf8(entry[..tab].to_vec()).unwrap();
            let mut head = head.split(' ');
            let (mode, id) = (head.next().unwrap().to_owned(), head.nth(1).unwrap());
            let blob = self.command(&git).args(["cat-file", "blob", id]).output().unwrap();
            assert!(blob.status.success(), "{}", String::from_utf8_lossy(entry));
            (entry[tab + 1..].to_vec(), (mode, blob.stdout))
        });
        entries.collect()
    }

    pub fn paths(&self, tree: &TreeId) -> Vec<String> {
        self.tree(tree).into_keys().map(|path| String::from_utf8(path).unwrap()).collect()
    }

    pub fn text(&self, tree: &TreeId, path: &str) -> Option<String> {
        let file = self.private().file(tree, &RepoPath::new(path).unwrap()).unwrap()?;
        Some(String::from_utf8(file.bytes.0).unwrap())
    }

    /// Everything in the user's repository that is not a working file, but the one ref that Heph keeps.
    pub fn git_state(&self) -> Content {
        let mut state = content(&self.root.join(".git"));
        state.retain(|path, _| !path.starts_with("refs/heph"));
        state
    }

    /// The working files.
    pub fn files(&self) -> Content {
        let mut files = content(&self.root);
        files.retain(|path, _| !path.starts_with(".git"));
        files
    }
}

pub fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

pub fn link(to: &str, path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(to, path).unwrap();
}

pub fn set_mode(path: &Path, bits: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
}

pub fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

pub fn name(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

pub fn file(text: impl AsRef<[u8]>) -> Option<File> {
    Some(File { mode: Mode::Regular, bytes: Bytes(text.as_ref().to_vec()) })
}

pub fn path(path: &str) -> RepoPath {
    RepoPath::new(path).unwrap()
}

/// All that is in a folder.
pub fn content(folder: &Path) -> Content {
    let mut found = Content::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(at) = waiting.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let bytes = if meta.is_dir() {
                waiting.push(path.clone());
                Vec::new()
            } else if meta.is_symlink() {
                fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
            } else if meta.is_file() {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            found.insert(path.strip_prefix(folder).unwrap().to_owned(), (meta.mode(), bytes));
        }
    }
    found
}
