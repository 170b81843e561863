//! Objects of the private repository: what is its own, what is borrowed, and trees as lists of files.

use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use flate2::{Compression, write::ZlibEncoder};
use git2::{ObjectType, Odb, OdbLookupFlags, Oid, Repository, Tree};
use heph_core::{
    file::{File, Mode},
    id::TreeId,
    text::Bytes,
};

use crate::error::{At, GitError};

const FOLDER_BITS: u32 = 0o040000;
const SUBMODULE_BITS: u32 = 0o160000;

/// The private repository's objects, open for one operation.
pub(crate) struct Objects {
    /// All that can be read: its own and what it borrows.
    pub(crate) repo: Repository,
    /// What Heph stored itself.
    own: Odb<'static>,
    folder: PathBuf,
}

/// A file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its path from the root.
    pub(crate) path: Vec<u8>,
    pub(crate) mode: Mode,
    pub(crate) id: Oid,
}

/// A file that differs between two trees: its mode and blob before and after.
pub(crate) struct Difference {
    pub(crate) path: Vec<u8>,
    pub(crate) old: Option<(Mode, Oid)>,
    pub(crate) new: Option<(Mode, Oid)>,
}

/// A tree that is computed but not stored.
struct Node<'a> {
    id: Oid,
    bytes: Vec<u8>,
    files: Vec<&'a Entry>,
    folders: Vec<(&'a [u8], Node<'a>)>,
    /// Where in an entry's path its name in this folder starts.
    start: usize,
}

impl Objects {
    /// Opens the bare repository at `git`, with `git/config` as its only configuration, and the objects
    /// of its own at `own`, which it borrows as it does the user's.
    pub(crate) fn open(git: &Path, own: &Path) -> Result<Objects, GitError> {
        let repo = Repository::open_bare(git)?;
        // Neither the user's nor the system's settings may have a say in what is stored.
        repo.set_config(&git2::Config::open(&git.join("config"))?)?;
        let folder = own.to_owned();
        let own = Odb::new()?;
        own.add_disk_alternate(&folder.to_string_lossy())?;
        Ok(Objects { repo, own, folder })
    }

    /// Whether an object can be read, borrowed or not.
    pub(crate) fn has(&self, id: Oid) -> Result<bool, GitError> {
        Ok(self.repo.odb()?.exists_ext(id, OdbLookupFlags::NO_REFRESH))
    }

    /// Whether the private repository holds an object itself.
    pub(crate) fn owns(&self, id: Oid) -> bool {
        self.own.exists_ext(id, OdbLookupFlags::NO_REFRESH)
    }

    /// Stores an object as the private repository's own, even where one of the same name is borrowed.
    /// (libgit2 would leave it out then, and the user's next `git gc` could take it away.)
    pub(crate) fn write(&self, kind: ObjectType, bytes: &[u8]) -> Result<Oid, GitError> {
        let id = Oid::hash_object(kind, bytes)?;
        if self.owns(id) {
            return Ok(id);
        }
        let name = id.to_string();
        let folder = self.folder.join(&name[..2]);
        let path = folder.join(&name[2..]);
        let file = tempfile::Builder::new().prefix("tmp_obj_").tempfile_in(&self.folder);
        let file = file.at("write to", &self.folder)?;
        let mut packed = ZlibEncoder::new(file, Compression::fast());
        let header = format!("{} {}\0", kind.str(), bytes.len());
        let file = packed.write_all(header.as_bytes()).and_then(|()| packed.write_all(bytes));
        let file = file.and_then(|()| packed.finish()).at("write", &path)?;
        file.as_file().set_permissions(Permissions::from_mode(0o444)).at("write", &path)?;
        if !folder.is_dir() {
            fs::create_dir_all(&folder).at("create", &folder)?;
        }
        file.persist(&path).map_err(|e| e.error).at("write", &path)?;
        Ok(id)
    }

    /// Copies a borrowed object, unless the private repository has its own; says whether it is there now.
    pub(crate) fn keep(&self, id: Oid) -> Result<bool, GitError> {
        if self.owns(id) {
            return Ok(true);
        }
        match self.repo.odb()?.read(id) {
            Ok(object) => {
                self.write(object.kind(), object.data())?;
                Ok(true)
            }
            Err(e) if e.code() == git2::ErrorCode::NotFound => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    /// A blob as a file.
    pub(crate) fn file(&self, mode: Mode, id: Oid) -> Result<File, GitError> {
        Ok(File { mode, bytes: Bytes(self.repo.find_blob(id)?.content().to_vec()) })
    }

    /// The tree of this name.
    pub(crate) fn tree(&self, id: &TreeId) -> Result<Tree<'_>, GitError> {
        Ok(self.repo.find_tree(Oid::from_str(&id.0)?)?)
    }

    /// All files of a tree, sorted by path. Submodules have none.
    pub(crate) fn files(&self, tree: &Tree<'_>) -> Result<Vec<Entry>, GitError> {
        let mut files = Vec::new();
        self.files_below(tree, &mut Vec::new(), &mut files)?;
        Ok(files)
    }

    fn files_below(&self, tree: &Tree<'_>, path: &mut Vec<u8>, out: &mut Vec<Entry>) -> Result<(), GitError> {
        let start = path.len();
        for entry in tree.iter() {
            path.extend_from_slice(entry.name_bytes());
            match kind(entry.filemode()) {
                Some(mode) => out.push(Entry { path: path.clone(), mode, id: entry.id() }),
                None if is_folder(entry.filemode()) => {
                    path.push(b'/');
                    self.files_below(&self.repo.find_tree(entry.id())?, path, out)?;
                }
                None => {}
            }
            path.truncate(start);
        }
        Ok(())
    }

    /// Stores the tree of these files, which must be sorted by path.
    ///
    /// What is in `safe` at the same place counts as stored already; for any other blob `keep` is
    /// asked to see to it that the private repository holds it itself.
    pub(crate) fn write_tree(
        &self,
        files: &[Entry],
        safe: Option<&Tree<'_>>,
        mut keep: impl FnMut(&Entry) -> Result<(), GitError>,
    ) -> Result<TreeId, GitError> {
        let root = Node::of(files, 0)?;
        if safe.map(Tree::id) != Some(root.id) {
            self.store(&root, safe, &mut keep)?;
        }
        Ok(TreeId(root.id.to_string()))
    }

    fn store(
        &self,
        node: &Node<'_>,
        safe: Option<&Tree<'_>>,
        keep: &mut dyn FnMut(&Entry) -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        let safe_ids: BTreeMap<Vec<u8>, Oid> = match safe {
            Some(tree) => tree.iter().map(|entry| (entry.name_bytes().to_vec(), entry.id())).collect(),
            None => BTreeMap::new(),
        };
        for file in &node.files {
            if safe_ids.get(&file.path[node.start..]) != Some(&file.id) {
                keep(file)?;
            }
        }
        for (name, folder) in &node.folders {
            let below = safe_ids.get(*name);
            if below != Some(&folder.id) {
                let below = below.and_then(|&id| self.repo.find_tree(id).ok());
                self.store(folder, below.as_ref(), keep)?;
            }
        }
        self.write(ObjectType::Tree, &node.bytes)?;
        Ok(())
    }

    /// Names each object of `new` that is not at the same place in `old`, as far as they can be read.
    pub(crate) fn added(
        &self,
        old: Option<&Tree<'_>>,
        new: &Tree<'_>,
        name: &mut dyn FnMut(Oid) -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        name(new.id())?;
        for entry in new {
            let before = old.and_then(|old| old.get_name_bytes(entry.name_bytes()));
            if before.as_ref().is_some_and(|before| before.id() == entry.id()) || !self.has(entry.id())? {
                continue;
            }
            if is_folder(entry.filemode()) {
                let before = before.and_then(|before| self.repo.find_tree(before.id()).ok());
                self.added(before.as_ref(), &self.repo.find_tree(entry.id())?, name)?;
            } else {
                name(entry.id())?;
            }
        }
        Ok(())
    }

    /// The files in which two trees differ, sorted by path.
    pub(crate) fn differences(
        &self,
        old: Option<&Tree<'_>>,
        new: Option<&Tree<'_>>,
    ) -> Result<Vec<Difference>, GitError> {
        let mut out = Vec::new();
        if old.map(Tree::id) != new.map(Tree::id) {
            self.differences_below(old, new, &mut Vec::new(), &mut out)?;
        }
        // A folder sorts in a tree as if its name ended with `/`, next to a file of the same name.
        out.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(out)
    }

    fn differences_below(
        &self,
        old: Option<&Tree<'_>>,
        new: Option<&Tree<'_>>,
        path: &mut Vec<u8>,
        out: &mut Vec<Difference>,
    ) -> Result<(), GitError> {
        let mut names: BTreeMap<Vec<u8>, [Option<(i32, Oid)>; 2]> = BTreeMap::new();
        for (side, tree) in [old, new].into_iter().enumerate() {
            for entry in tree.iter().flat_map(|tree| tree.iter()) {
                names.entry(entry.name_bytes().to_vec()).or_default()[side] =
                    Some((entry.filemode(), entry.id()));
            }
        }
        let start = path.len();
        for (name, [old, new]) in names {
            if old == new {
                continue;
            }
            path.extend_from_slice(&name);
            let file = |side: Option<(i32, Oid)>| side.and_then(|(bits, id)| Some((kind(bits)?, id)));
            if file(old) != file(new) {
                out.push(Difference { path: path.clone(), old: file(old), new: file(new) });
            }
            let folder = |side: Option<(i32, Oid)>| match side {
                Some((bits, id)) if is_folder(bits) => self.repo.find_tree(id).map(Some),
                _ => Ok(None),
            };
            let (old, new) = (folder(old)?, folder(new)?);
            if old.is_some() || new.is_some() {
                path.push(b'/');
                self.differences_below(old.as_ref(), new.as_ref(), path, out)?;
            }
            path.truncate(start);
        }
        Ok(())
    }
}

impl<'a> Node<'a> {
    /// Computes the tree of `files`, whose paths share their first `start` bytes.
    fn of(files: &'a [Entry], start: usize) -> Result<Node<'a>, GitError> {
        let mut node =
            Node { id: Oid::ZERO_SHA1, bytes: Vec::new(), files: Vec::new(), folders: Vec::new(), start };
        let mut rest = files;
        while let Some(first) = rest.first() {
            let name = &first.path[start..];
            // Full paths in byte order are in the order that git wants a tree's entries in, and the
            // files of one folder lie together.
            let (bits, name, id, count) = match name.iter().position(|&b| b == b'/') {
                None => {
                    node.files.push(first);
                    (first.mode.bits(), name, first.id, 1)
                }
                Some(length) => {
                    let prefix = &first.path[..start + length + 1];
                    let count = rest.partition_point(|file| file.path.starts_with(prefix));
                    let folder = Node::of(&rest[..count], prefix.len())?;
                    let id = folder.id;
                    node.folders.push((&name[..length], folder));
                    (FOLDER_BITS, &name[..length], id, count)
                }
            };
            node.bytes.extend_from_slice(format!("{bits:o} ").as_bytes());
            node.bytes.extend_from_slice(name);
            node.bytes.push(0);
            node.bytes.extend_from_slice(id.as_bytes());
            rest = &rest[count..];
        }
        node.id = Oid::hash_object(ObjectType::Tree, &node.bytes)?;
        Ok(node)
    }
}

/// The kind of file that git's mode bits mean; `None` for a folder and a submodule.
pub(crate) fn kind(bits: i32) -> Option<Mode> {
    match bits.cast_unsigned() {
        FOLDER_BITS | SUBMODULE_BITS => None,
        0o120000 => Some(Mode::Symlink),
        bits if bits & 0o100 != 0 => Some(Mode::Executable),
        _ => Some(Mode::Regular),
    }
}

fn is_folder(bits: i32) -> bool {
    bits.cast_unsigned() == FOLDER_BITS
}

/// Whether `entries` has a file at `path`; they must be sorted by path.
pub(crate) fn find<'a>(entries: &'a [Entry], path: &[u8]) -> Option<&'a Entry> {
    entries.binary_search_by(|entry| entry.path.as_slice().cmp(path)).ok().map(|at| &entries[at])
}
