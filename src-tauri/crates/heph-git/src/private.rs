//! The private repository: the chain hangs on it, worktrees belong to it, objects are borrowed for it.

use std::{
    collections::BTreeMap,
    fs::{self, DirBuilder},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};

use git2::{ErrorCode, ObjectType, Oid, Repository, Signature};
use heph_core::{
    compose::FileOutcome,
    file::{File, FileChange, Mode},
    id::TreeId,
    path::RepoPath,
};

use crate::{
    cache::Cache,
    error::{At, GitError, Refusal},
    folder::{Folder, os},
    objects::{Entry, Objects},
    record::{Blobs, keep, record},
    user::UserRepo,
    walk::{Place, walk},
    worktree::Worktree,
};

/// The settings under which the model's git commands run in the worktree.
const CONFIG: &str = "\
[core]
	repositoryformatversion = 0
	bare = true
	fileMode = true
	autocrlf = false
	fsmonitor = false
	hooksPath = /dev/null
	logAllRefUpdates = false
[gc]
	auto = 0
[maintenance]
	auto = false
[user]
	name = Heph
	email = heph@localhost
[commit]
	gpgSign = false
[tag]
	gpgSign = false
";

/// No conversion of any kind, whatever the files in the tree ask for: this place has the last word.
const ATTRIBUTES: &str = "* -text -eol -filter -ident -working-tree-encoding\n";

/// Where the refs lie in the user's repository.
pub(crate) const BASES: &str = "refs/heph/base/";

/// Where the chains' refs lie.
pub(crate) const CHAINS: &str = "refs/heph/chain/";

/// Heph's own repository for one of the user's, in the app's data folder.
///
/// Its folder holds `git`, a bare repository; `worktrees`, one folder for each session; `objects`, what
/// Heph stores; `index`, what the last walks saw; `journal`, one file for each apply that is not done
/// or not taken down; and `retired`, worktrees that are to be removed. The repository borrows from `objects`
/// just as it does from the user's, so that a `git gc` in a worktree can take away what the model committed, and
/// nothing else.
#[derive(Clone, Debug)]
pub struct PrivateRepo {
    user: UserRepo,
    home: PathBuf,
}

impl PrivateRepo {
    /// Opens the private repository that belongs to `user`, in `data/repos`; makes it where it is missing.
    ///
    /// # Errors
    /// Where the data folder cannot be written.
    pub fn open(data: &Path, user: &UserRepo) -> Result<PrivateRepo, GitError> {
        let place = Oid::hash_object(ObjectType::Blob, user.root().as_os_str().as_encoded_bytes())?;
        let home = data.join("repos").join(&place.to_string()[..16]);
        make_folder(&home)?;
        let home = fs::canonicalize(&home).at("open", &home)?;
        let repo = PrivateRepo { user: user.clone(), home };
        repo.lay_out()?;
        Ok(repo)
    }

    pub(crate) fn user(&self) -> &UserRepo {
        &self.user
    }

    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    pub(crate) fn git_dir(&self) -> PathBuf {
        self.home.join("git")
    }

    /// Where Heph's own objects lie.
    fn own_objects(&self) -> PathBuf {
        self.home.join("objects")
    }

    /// What the last walks of the user's tree saw.
    fn user_cache(&self) -> PathBuf {
        self.home.join("index/user.tree")
    }

    /// Makes a folder below the private repository's own, and those on the way. A link in its place,
    /// which a command of the model's may have left to have us write elsewhere, is removed.
    pub(crate) fn make_folder(&self, path: &str) -> Result<PathBuf, GitError> {
        let mut folder = self.home.clone();
        for name in path.split('/') {
            folder.push(name);
            match fs::symlink_metadata(&folder) {
                Ok(found) if found.is_dir() => continue,
                Ok(_) => fs::remove_file(&folder).at("remove", &folder)?,
                Err(_) => {}
            }
            make_folder(&folder)?;
        }
        Ok(folder)
    }

    /// Writes what makes the folder a repository, wherever it is not as it should be: a command of the
    /// model's may have changed it.
    fn lay_out(&self) -> Result<(), GitError> {
        for folder in
            ["objects/pack", "index", "git/objects/pack", "git/refs/heads", "git/refs/tags", "git/worktrees"]
        {
            self.make_folder(folder)?;
        }
        let trees = self.make_folder("worktrees")?;
        let git = self.git_dir();
        // Where a worktree has lost its own link, git must stop here instead of looking further up for
        // a repository, and finding one of the user's.
        write_unless_same(&trees.join(".git"), b"gitdir: gone\n")?;
        write_unless_same(&git.join("HEAD"), b"ref: refs/heads/main\n")?;
        write_unless_same(&git.join("config"), CONFIG.as_bytes())?;
        write_unless_same(&self.make_folder("git/info")?.join("attributes"), ATTRIBUTES.as_bytes())?;
        let mut borrowed = Vec::new();
        for objects in [self.own_objects(), self.user.common_dir().join("objects")] {
            borrowed.extend_from_slice(objects.as_os_str().as_encoded_bytes());
            borrowed.push(b'\n');
        }
        write_unless_same(&self.make_folder("git/objects/info")?.join("alternates"), &borrowed)
    }

    pub(crate) fn objects(&self) -> Result<Objects, GitError> {
        self.lay_out()?;
        self.open_objects()
    }

    /// The same for another thread of an operation.
    pub(crate) fn open_objects(&self) -> Result<Objects, GitError> {
        Objects::open(&self.git_dir(), &self.own_objects())
    }

    /// Takes the user's branches and tags over, and drops all others, so that `git log`, `git diff main`
    /// and `git describe` work in the worktrees.
    ///
    /// # Errors
    /// Where the user's refs cannot be read or the private repository cannot be written.
    pub fn mirror_refs(&self) -> Result<(), GitError> {
        let mirrored = |name: &str| name.starts_with("refs/heads/") || name.starts_with("refs/tags/");
        let mut refs = BTreeMap::new();
        // Refs that a command of the model's damaged are as good as none.
        for reference in self.objects()?.repo.references().into_iter().flatten().flatten() {
            if let (Ok(name), Some(id)) = (reference.name(), reference.target())
                && !mirrored(name)
            {
                refs.insert(name.to_owned(), id);
            }
        }
        for reference in self.user.git()?.references()?.flatten() {
            let id = reference.resolve().ok().and_then(|resolved| resolved.target());
            if let (Ok(name), Some(id)) = (reference.name(), id)
                && mirrored(name)
            {
                refs.insert(name.to_owned(), id);
            }
        }
        let mut packed = String::from("# pack-refs with: sorted \n");
        for (name, id) in refs {
            packed.push_str(&format!("{id} {name}\n"));
        }
        let git = self.git_dir();
        replace(&git.join("packed-refs"), packed.as_bytes())?;
        // A ref in a file of its own would go before a packed one.
        for name in ["git/refs/heads", "git/refs/tags"] {
            let folder = self.home.join(name);
            fs::remove_dir_all(&folder).at("remove", &folder)?;
            self.make_folder(name)?;
        }
        for file in ["shallow", "info/exclude"] {
            let (theirs, ours) = (self.user.common_dir().join(file), git.join(file));
            match fs::read(&theirs) {
                Ok(bytes) => write_unless_same(&ours, &bytes)?,
                Err(e) if e.kind() == io::ErrorKind::NotFound => match fs::remove_file(&ours) {
                    Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e).at("remove", ours),
                    _ => {}
                },
                Err(e) => return Err(e).at("read", theirs),
            }
        }
        Ok(())
    }

    /// A tree of the user's files as they are now, byte for byte: what is committed, staged, unstaged
    /// and untracked but not ignored. The commit that `session` borrows objects from is HEAD's from now on.
    ///
    /// Left out are repositories inside the tree that are no submodules, and what no tree can hold.
    ///
    /// # Errors
    /// Where a file cannot be read, by its name.
    pub fn snapshot(&self, session: &str) -> Result<TreeId, GitError> {
        let session = Session::named(session)?;
        let objects = self.objects()?;
        let borrowed = self.borrow(&objects, session)?;
        let root = self.user.root();
        let folder = Folder::open(root).at("read", root)?;
        let tracked = self.user.tracked(&objects)?;
        let walked = walk(root, &folder, Place::User, &tracked, self.user.rules()?, &objects)?;
        let cache = Cache::load(&self.user_cache());
        let known = record(self, root, &folder, &walked.files, &cache, Blobs::Stored)?;
        if !cache.is(&known) {
            Cache::save(&self.user_cache(), &known)?;
        }
        let files = known.into_iter().map(|known| (known.entry.path.clone(), known.entry));
        let mut files: BTreeMap<Vec<u8>, Entry> = files.collect();
        for file in tracked.left_out() {
            // What is on disk in spite of it is what the user works with.
            if !files.contains_key(&file.path) && !clashes(&files, &file.path) {
                files.insert(file.path.clone(), file);
            }
        }
        let files: Vec<Entry> = files.into_values().collect();
        let safe = borrowed.map(|id| objects.repo.find_commit(id)?.tree()).transpose()?;
        objects.write_tree(&files, safe.as_ref(), |file| keep(&objects, root, &folder, file))
    }

    /// Makes HEAD's commit the one that `session` borrows from, and returns it. What only the commit
    /// before it reached is copied first: the chain may still stand on it.
    fn borrow(&self, objects: &Objects, session: Session<'_>) -> Result<Option<Oid>, GitError> {
        let before = self.borrowed(session)?;
        let Some(head) = self.user.head()? else { return Ok(None) };
        if before == Some(head) {
            return Ok(before);
        }
        if let Some(before) = before.filter(|&id| objects.repo.find_commit(id).is_ok())
            && !objects.repo.graph_descendant_of(head, before)?
        {
            self.copy_commits(objects, before, head)?;
        }
        write_ref(self.user.common_dir(), &session.base_ref(), head)?;
        Ok(Some(head))
    }

    /// Copies what `from` reaches and `other` does not, as far as it is there: a partial clone lacks what
    /// it never needed.
    fn copy_commits(&self, objects: &Objects, from: Oid, other: Oid) -> Result<(), GitError> {
        let mut walk = objects.repo.revwalk()?;
        walk.push(from)?;
        walk.hide(other)?;
        let mut pack = objects.repo.packbuilder()?;
        for id in walk {
            let commit = objects.repo.find_commit(id?)?;
            pack.insert_object(commit.id(), None)?;
            let before = commit.parent(0).and_then(|parent| parent.tree()).ok();
            objects.added(before.as_ref(), &commit.tree()?, &mut |id| Ok(pack.insert_object(id, None)?))?;
        }
        pack.write(&self.own_objects().join("pack"), 0o444)?;
        Ok(())
    }

    /// The commit that `session` borrows from.
    pub(crate) fn borrowed(&self, session: Session<'_>) -> Result<Option<Oid>, GitError> {
        target(&self.user.git()?, &session.base_ref())
    }

    /// The session's worktree; made when it is new.
    ///
    /// # Errors
    /// Where the data folder cannot be written, or `session` cannot be a folder's name.
    pub fn worktree(&self, session: &str) -> Result<Worktree, GitError> {
        let name = Session::named(session)?;
        self.lay_out()?;
        Worktree::open(self.clone(), name.0.to_owned())
    }

    /// Appends `tree` to the session's chain, under `refs/heph/chain/SESSION`. The commit's parents are
    /// the chain's last commit and, where that does not lead to it, the commit that is borrowed from.
    ///
    /// # Errors
    /// Where the private repository cannot be written.
    pub fn commit(&self, session: &str, tree: &TreeId, label: &str) -> Result<(), GitError> {
        let session = Session::named(session)?;
        let objects = self.objects()?;
        let repo = &objects.repo;
        let last = self.chain(session)?;
        let borrowed = match (self.borrowed(session)?, last) {
            (Some(base), Some(last)) if repo.graph_descendant_of(last, base)? => None,
            (base, _) => base,
        };
        let parents = last.into_iter().chain(borrowed).map(|id| repo.find_commit(id));
        let parents = parents.collect::<Result<Vec<_>, _>>()?;
        let by = Signature::now("Heph", "heph@localhost")?;
        let tree = objects.tree(tree)?;
        let parents: Vec<_> = parents.iter().collect();
        let commit = repo.commit_create_buffer(&by, &by, label, &tree, &parents)?;
        let commit = objects.write(ObjectType::Commit, &commit)?;
        self.make_folder("git/refs/heph/chain")?;
        self.write_ref(&session.chain_ref(), commit)
    }

    /// The last commit of the session's chain.
    pub(crate) fn chain(&self, session: Session<'_>) -> Result<Option<Oid>, GitError> {
        self.read_ref(&session.chain_ref())
    }

    /// Sets a ref of the private repository's own.
    pub(crate) fn write_ref(&self, name: &str, id: Oid) -> Result<(), GitError> {
        write_ref(&self.git_dir(), name, id)
    }

    /// The commit that such a ref stands on. One that a command of the model's damaged is as good as none.
    pub(crate) fn read_ref(&self, name: &str) -> Result<Option<Oid>, GitError> {
        let repo = self.objects()?.repo;
        let id = target(&repo, name).ok().flatten();
        Ok(id.filter(|&id| repo.find_commit(id).is_ok()))
    }

    /// The files in which two trees differ, whole, sorted by path. Nobody's configuration has a say.
    ///
    /// # Errors
    /// Where one of the trees is not there.
    pub fn diff(&self, old: &TreeId, new: &TreeId) -> Result<Vec<FileChange>, GitError> {
        let objects = self.objects()?;
        let (old, new) = (objects.tree(old)?, objects.tree(new)?);
        let file = |side: Option<(Mode, Oid)>| side.map(|(mode, id)| objects.file(mode, id)).transpose();
        let differences = objects.differences(Some(&old), Some(&new))?;
        let changes = differences.into_iter().map(|difference| {
            Ok(FileChange {
                path: RepoPath::new(&difference.path)?,
                old_path: None,
                old: file(difference.old)?,
                new: file(difference.new)?,
            })
        });
        changes.collect()
    }

    /// All files of a tree, each with the name of its content, sorted by path.
    ///
    /// # Errors
    /// Where the tree is not there.
    pub fn files(&self, tree: &TreeId) -> Result<Vec<(RepoPath, String)>, GitError> {
        let objects = self.objects()?;
        let files = objects.files(&objects.tree(tree)?)?.into_iter();
        files.map(|file| Ok((RepoPath::new(&file.path)?, file.id.to_string()))).collect()
    }

    /// The file at `path` in a tree.
    ///
    /// # Errors
    /// Where the tree is not there.
    pub fn file(&self, tree: &TreeId, path: &RepoPath) -> Result<Option<File>, GitError> {
        let objects = self.objects()?;
        match objects.tree(tree)?.get_path(os(path.as_bytes())) {
            Ok(entry) => {
                let mode = crate::objects::kind(entry.filemode());
                mode.map(|mode| objects.file(mode, entry.id())).transpose()
            }
            Err(e) if e.code() == ErrorCode::NotFound => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// `tree` with each of `outcomes` in its place.
    ///
    /// # Errors
    /// [`GitError::Path`] and [`GitError::Refused`] for what may be no part of an accepted state:
    /// paths that lead out of the repository or into git's own folder, links that point out of it, a
    /// file and a folder of one name.
    pub fn compose(&self, tree: &TreeId, outcomes: &[FileOutcome]) -> Result<TreeId, GitError> {
        let objects = self.objects()?;
        let tree = objects.tree(tree)?;
        let files = objects.files(&tree)?.into_iter().map(|entry| (entry.path.clone(), entry));
        let mut files: BTreeMap<Vec<u8>, Entry> = files.collect();
        for outcome in outcomes {
            // A path that came out of a log was not checked when it was read.
            let path = RepoPath::new(outcome.path.as_bytes())?;
            if outcome.file.is_none() {
                files.remove(path.as_bytes());
            }
        }
        for FileOutcome { path, file } in outcomes {
            let Some(file) = file else { continue };
            let refused = |why| GitError::Refused { path: path.clone(), why };
            let id = objects.write(ObjectType::Blob, &file.bytes.0)?;
            let entry = Entry { path: path.as_bytes().to_vec(), mode: file.mode, id };
            if files.get(&entry.path) == Some(&entry) {
                continue;
            }
            if file.mode == Mode::Symlink && leaves(path.as_bytes(), &file.bytes.0) {
                return Err(refused(Refusal::LinkLeaves));
            }
            if clashes(&files, &entry.path) {
                return Err(refused(Refusal::FileAndFolder));
            }
            files.insert(entry.path.clone(), entry);
        }
        let files: Vec<Entry> = files.into_values().collect();
        objects.write_tree(&files, Some(&tree), |_| Ok(()))
    }
}

/// The name of a session, fit for folders and refs.
#[derive(Clone, Copy)]
pub(crate) struct Session<'a>(&'a str);

impl<'a> Session<'a> {
    pub(crate) fn named(name: &'a str) -> Result<Session<'a>, GitError> {
        let fit = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        match !name.is_empty() && name.chars().all(fit) {
            true => Ok(Session(name)),
            false => Err(GitError::Session(name.to_owned())),
        }
    }

    pub(crate) fn name(self) -> &'a str {
        self.0
    }

    /// The commit in the user's repository whose objects are borrowed.
    pub(crate) fn base_ref(self) -> String {
        format!("{BASES}{}", self.0)
    }

    pub(crate) fn chain_ref(self) -> String {
        format!("{CHAINS}{}", self.0)
    }
}

/// Whether a file at `path` would have to be in a file, or there is a folder of its name.
fn clashes(files: &BTreeMap<Vec<u8>, Entry>, path: &[u8]) -> bool {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let in_a_file = slashes.map(|(at, _)| &path[..at]).any(|above| files.contains_key(above));
    let folder = [path, b"/"].concat();
    in_a_file || files.range(folder.clone()..).next().is_some_and(|(below, _)| below.starts_with(&folder))
}

/// Whether a link at `path` points out of the repository, or into git's own folder.
pub(crate) fn leaves(path: &[u8], to: &[u8]) -> bool {
    let mut depth = path.iter().filter(|byte| **byte == b'/').count();
    if to.starts_with(b"/") {
        return true;
    }
    for name in to.split(|&byte| byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." if depth == 0 => return true,
            b".." => depth -= 1,
            name if RepoPath::new(name).is_err() => return true,
            _ => depth += 1,
        }
    }
    false
}

/// The commit that a ref stands on.
fn target(repo: &Repository, name: &str) -> Result<Option<Oid>, GitError> {
    match repo.refname_to_id(name) {
        Ok(id) => Ok(Some(id)),
        Err(e) if e.code() == ErrorCode::NotFound => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Sets a ref in the repository at `git`, by hand: no reflog comes of it, whatever is configured.
fn write_ref(git: &Path, name: &str, id: Oid) -> Result<(), GitError> {
    let path = git.join(name);
    let folder = path.parent().unwrap_or(git);
    fs::create_dir_all(folder).at("create", folder)?;
    replace(&path, format!("{id}\n").as_bytes())
}

/// Writes a file in one step. Git takes no file whose name starts with a dot, as the one has that is
/// written first, for a ref.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), GitError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let all = fs::Permissions::from_mode(0o666);
    let mut file = tempfile::Builder::new().permissions(all).tempfile_in(folder).at("write to", folder)?;
    file.write_all(bytes).at("write", path)?;
    file.persist(path).map_err(|e| e.error).at("write", path)?;
    Ok(())
}

fn write_unless_same(path: &Path, bytes: &[u8]) -> Result<(), GitError> {
    match fs::read(path) {
        Ok(there) if there == bytes => Ok(()),
        _ => replace(path, bytes),
    }
}

/// Makes a folder, and those above it, that nobody else can look into.
fn make_folder(path: &Path) -> Result<(), GitError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).at("create", path)
}
