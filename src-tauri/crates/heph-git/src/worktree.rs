//! The worktree of a session.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use heph_core::{id::TreeId, path::RepoPath};

use crate::{
    cache::{Cache, Known, lasting},
    error::{At, GitError},
    folder::{Cursor, Folder, Stamp, os, split},
    objects::{Entry, Objects, find},
    private::{PrivateRepo, Session, replace},
    record::{Blobs, keep, record},
    rules::Stack,
    tracked::Tracked,
    walk::{Place, Walked, walk},
};

/// The folder in which a session's model works. Nothing that is done in it, git commands included,
/// reaches the user's repository.
#[derive(Clone, Debug)]
pub struct Worktree {
    repo: PrivateRepo,
    session: String,
    path: PathBuf,
}

/// What a worktree holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeState {
    /// Its files, as a tree.
    pub tree: TreeId,
    /// Files under ignored paths, sorted: no part of the tree.
    pub ignored: Vec<RepoPath>,
}

impl Worktree {
    pub(crate) fn open(repo: PrivateRepo, session: String) -> Result<Worktree, GitError> {
        let path = repo.home().join("worktrees").join(&session);
        let worktree = Worktree { repo, session, path };
        if !worktree.git_link().exists() {
            if !worktree.path.exists() {
                worktree.forget_setup()?;
            }
            worktree.make()?;
        }
        Ok(worktree)
    }

    pub(crate) fn repo(&self) -> &PrivateRepo {
        &self.repo
    }

    /// Where it lies: an absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn git_link(&self) -> PathBuf {
        self.path.join(".git")
    }

    /// Where git keeps what belongs to this worktree alone.
    fn admin(&self) -> PathBuf {
        self.repo.git_dir().join("worktrees").join(&self.session)
    }

    fn cache(&self) -> PathBuf {
        self.repo.home().join(format!("index/{}.worktree", self.session))
    }

    /// Makes the folder a worktree of the private repository, whatever has become of it.
    fn make(&self) -> Result<(), GitError> {
        self.repo.make_folder(&format!("worktrees/{}", self.session))?;
        let folder = Folder::open(&self.path).at("open", &self.path)?;
        let (link, admin) = (self.git_link(), self.admin());
        folder.remove_all(b".git").at("remove", &link)?;
        replace(&link, &[b"gitdir: ", admin.as_os_str().as_encoded_bytes(), b"\n"].concat())?;
        // A merge, a rebase or a lock that a command of the model's left behind ends here.
        if admin.exists() {
            fs::remove_dir_all(&admin).at("remove", &admin)?;
        }
        self.repo.make_folder(&format!("git/worktrees/{}", self.session))?;
        let session = Session::named(&self.session)?;
        let head = match self.repo.chain(session)?.or(self.repo.borrowed(session)?) {
            Some(commit) => format!("{commit}\n"),
            None => "ref: refs/heads/main\n".to_owned(),
        };
        replace(&admin.join("HEAD"), head.as_bytes())?;
        replace(&admin.join("commondir"), b"../..\n")?;
        replace(&admin.join("gitdir"), &[link.as_os_str().as_encoded_bytes(), b"\n"].concat())
    }

    /// The files as they are, as a tree. What is ignored is decided by the rules in `base` (and the
    /// user's own excludes), and what is in `base` is not ignored, so that nothing can be hidden.
    ///
    /// # Errors
    /// Where a file cannot be read, by its name; [`GitError::WorktreeGone`] where the folder vanished.
    pub fn snapshot(&self, base: &TreeId) -> Result<WorktreeState, GitError> {
        let objects = self.repo.objects()?;
        let base = objects.tree(base)?;
        let rules = objects.files(&base)?;
        let folder = match Folder::open(&self.path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(GitError::WorktreeGone(self.path.clone()));
            }
            opened => opened.at("read", &self.path)?,
        };
        let tracked = Tracked::files(rules.iter().map(|file| file.path.as_slice()));
        let Walked { files, ignored } = self.walk(&folder, &rules, &tracked, &objects)?;
        let cache = Cache::load(&self.cache());
        let known = record(&self.repo, &self.path, &folder, &files, &cache, Blobs::Stored)?;
        if !cache.is(&known) {
            Cache::save(&self.cache(), &known)?;
        }
        let files: Vec<Entry> = known.into_iter().map(|known| known.entry).collect();
        let tree =
            objects.write_tree(&files, Some(&base), |file| keep(&objects, &self.path, &folder, file))?;
        let ignored = ignored.into_iter().filter_map(|file| RepoPath::new(file.path).ok()).collect();
        Ok(WorktreeState { tree, ignored })
    }

    /// What the worktree was last set up with, as [`Worktree::keep_setup`] was told; `None` where it has been
    /// made anew since.
    pub fn setup(&self) -> Option<String> {
        fs::read_to_string(self.setup_note()).ok()
    }

    /// Notes what the worktree is set up with. It lies beside the worktree, where the model does not reach.
    ///
    /// # Errors
    /// Where the data folder cannot be written.
    pub fn keep_setup(&self, with: &str) -> Result<(), GitError> {
        replace(&self.setup_note(), with.as_bytes())
    }

    /// Notes that a setup is under way: what it leaves if it fails is not what it makes.
    ///
    /// # Errors
    /// Where the data folder cannot be written.
    pub fn forget_setup(&self) -> Result<(), GitError> {
        let note = self.setup_note();
        match fs::remove_file(&note) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e).at("remove", note),
            _ => Ok(()),
        }
    }

    fn setup_note(&self) -> PathBuf {
        self.repo.home().join(format!("index/{}.setup", self.session))
    }

    fn walk(
        &self,
        folder: &Folder,
        rules: &[Entry],
        tracked: &Tracked,
        objects: &Objects,
    ) -> Result<Walked, GitError> {
        let excludes: Stack = self.repo.user().rules()?;
        walk(&self.path, folder, Place::Worktree(rules), tracked, excludes, objects)
    }

    /// Makes the worktree's files those of `tree`, byte for byte, by changing only what differs. What
    /// is ignored by the rules in `base` stays, but for what is in the way. Git's view of the
    /// worktree is made anew: no branch is checked out, HEAD is the chain's last commit, and the
    /// index is `tree`.
    ///
    /// # Errors
    /// Where a file cannot be read, written or removed; moving again completes the move.
    pub fn move_to(&self, base: &TreeId, tree: &TreeId) -> Result<(), GitError> {
        let objects = self.repo.objects()?;
        self.make()?;
        let target = objects.files(&objects.tree(tree)?)?;
        for file in &target {
            RepoPath::new(&file.path)?;
        }
        let folder = Folder::open(&self.path).at("open", &self.path)?;
        let on_disk = self.on_disk(&folder, &objects, base, &target)?;
        let mut cursor = Cursor::new(&folder);
        let place = |path: &[u8]| self.path.join(os(path));
        for path in on_disk.keys().filter(|path| find(&target, path).is_none()) {
            let (above, name) = split(path);
            let removed = cursor.folder(above).and_then(|folder| folder.remove(name));
            removed.and_then(|()| cursor.remove_emptied(above, |_| true)).at("remove", place(path))?;
        }
        let mut known = Vec::with_capacity(target.len());
        for file in &target {
            match on_disk.get(&file.path).filter(|known| known.entry == *file) {
                Some(same) => known.push(same.clone()),
                None => {
                    let stamp = write(&mut cursor, file, &objects).at("write", place(&file.path))?;
                    known.push(Known { entry: file.clone(), stamp });
                }
            }
        }
        // Nobody else writes here while it is moved, so what lies a moment back has settled.
        let now = SystemTime::now();
        for file in &mut known {
            file.stamp = lasting(file.stamp, now);
        }
        Cache::save(&self.cache(), &known)?;
        let index = self.admin().join("index");
        fs::copy(self.cache(), &index).at("write", &index)?;
        Ok(())
    }

    /// What is on disk and is to be replaced by `target`: all that is not ignored, and what an earlier
    /// snapshot or move has seen.
    fn on_disk(
        &self,
        folder: &Folder,
        objects: &Objects,
        base: &TreeId,
        target: &[Entry],
    ) -> Result<BTreeMap<Vec<u8>, Known>, GitError> {
        let rules = objects.files(&objects.tree(base)?)?;
        let cache = Cache::load(&self.cache());
        let ours = cache.paths().chain(target.iter().map(|file| file.path.as_slice()));
        let files = self.walk(folder, &rules, &Tracked::files(ours), objects)?.files;
        let known = record(&self.repo, &self.path, folder, &files, &cache, Blobs::Named)?;
        Ok(known.into_iter().map(|known| (known.entry.path.clone(), known)).collect())
    }
}

/// Writes one file, in the place of whatever is there.
fn write(cursor: &mut Cursor<'_>, file: &Entry, objects: &Objects) -> io::Result<Stamp> {
    let blob = objects.repo.find_blob(file.id).map_err(io::Error::other)?;
    let (above, name) = split(&file.path);
    let folder = cursor.make_folder(above)?;
    folder.remove_all(name)?;
    let stat = match folder.create(name, file.mode, blob.content())? {
        Some(written) => rustix::fs::fstat(&written)?,
        None => folder.look(name)?.ok_or(io::ErrorKind::NotFound)?,
    };
    Ok(Stamp::of(&stat))
}
