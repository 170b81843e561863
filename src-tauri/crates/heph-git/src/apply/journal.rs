//! What an apply is about to write, and what it wrote.
//!
//! A [`Record`] is a tree of the private repository's: `before` and `after` are trees of nothing but the paths
//! written, `index-before` and `index-after` the same of the user's index, and `folders` names the folders
//! that were made. A [`Journal`] is a small file that names a record. It is on disk before anything of the
//! user's changes, and it goes when whoever asked for the apply has taken down what came of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use git2::{ObjectType, Oid, Signature};
use heph_core::{
    file::{File, Mode},
    id::TreeId,
};

use super::plan::Planned;
use crate::{
    error::{At, GitError},
    folder::Folder,
    objects::{Entry, Objects},
    private::{PrivateRepo, replace},
};

/// A file as a tree names it.
pub(super) type Named = (Mode, Oid);

/// What is at a path before, and after.
pub(super) type Sides = (Option<Named>, Option<Named>);

/// What is written at some paths.
pub(super) type Writes = BTreeMap<Vec<u8>, Sides>;

/// What an apply writes.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) files: Writes,
    /// The user's index; empty where it is not touched.
    pub(super) index: Writes,
    /// Folders that are made.
    pub(super) folders: BTreeSet<Vec<u8>>,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) kind: Kind,
    pub(super) base: TreeId,
    pub(super) accepted: TreeId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Apply,
    /// What is staged of it follows.
    ApplyToIndex,
    Undo,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The files may be written in part.
    Open,
    /// They are written.
    Finished,
}

/// The journal of one apply.
pub(super) struct Journal {
    path: PathBuf,
    pub(super) request: Request,
    pub(super) state: State,
    pub(super) record: Record,
}

impl Record {
    /// What was at a path before, where it is written.
    pub(super) fn before(&self, path: &[u8]) -> Option<Option<Named>> {
        self.files.get(path).map(|(before, _)| *before)
    }

    /// Whether `now` is what was at a written path before.
    pub(super) fn is_before(&self, path: &[u8], now: Option<&File>) -> Result<bool, GitError> {
        let now = now.map(name).transpose()?;
        Ok(self.files.get(path).is_some_and(|(before, _)| *before == now))
    }

    /// Whether `now` is what is at a written path after.
    pub(super) fn is_after(&self, path: &[u8], now: Option<&File>) -> Result<bool, GitError> {
        let now = now.map(name).transpose()?;
        Ok(self.files.get(path).is_some_and(|(_, after)| *after == now))
    }

    /// Takes up what is to be written for a change. What was written before for it stays, where nothing is.
    pub(super) fn add(&mut self, objects: &Objects, planned: &Planned) -> Result<(), GitError> {
        for (path, before, after) in planned.writes() {
            if before.is_none() && after.is_none() {
                continue;
            }
            let store =
                |file: &File| Ok::<_, GitError>((file.mode, objects.write(ObjectType::Blob, &file.bytes.0)?));
            let before = before.map(store).transpose()?;
            let after = after.map(store).transpose()?;
            self.files.insert(path.to_vec(), (before, after));
        }
        Ok(())
    }

    /// The paths that are deleted.
    pub(super) fn deletions(&self) -> Vec<Vec<u8>> {
        let deleted = self.files.iter().filter(|(_, (_, after))| after.is_none());
        deleted.map(|(path, _)| path.clone()).collect()
    }

    /// The trees of what is staged, before and after.
    pub(super) fn index_trees(&self, objects: &Objects) -> Result<[TreeId; 2], GitError> {
        trees(objects, &self.index)
    }

    /// The trees of the files, before and after.
    pub(super) fn trees(&self, objects: &Objects) -> Result<[TreeId; 2], GitError> {
        trees(objects, &self.files)
    }

    fn store(&self, objects: &Objects) -> Result<Oid, GitError> {
        let [before, after] = self.trees(objects)?;
        let [index_before, index_after] = self.index_trees(objects)?;
        let folders: Vec<&[u8]> = self.folders.iter().map(Vec::as_slice).collect();
        let folders = objects.write(ObjectType::Blob, &folders.join(&0))?;
        let mut tree = Vec::new();
        for (mode, name, id) in [
            ("40000", "after", Oid::from_str(&after.0)?),
            ("40000", "before", Oid::from_str(&before.0)?),
            ("100644", "folders", folders),
            ("40000", "index-after", Oid::from_str(&index_after.0)?),
            ("40000", "index-before", Oid::from_str(&index_before.0)?),
        ] {
            tree.extend_from_slice(format!("{mode} {name}\0").as_bytes());
            tree.extend_from_slice(id.as_bytes());
        }
        objects.write(ObjectType::Tree, &tree)
    }

    fn load(objects: &Objects, id: Oid) -> Result<Record, GitError> {
        let tree = objects.repo.find_tree(id)?;
        let part = |name: &str| {
            tree.get_name(name)
                .map(|entry| entry.id())
                .ok_or_else(|| git2::Error::from_str("a record lacks a part"))
        };
        let writes = |before: &str, after: &str| -> Result<Writes, GitError> {
            let (before, after) =
                (objects.repo.find_tree(part(before)?)?, objects.repo.find_tree(part(after)?)?);
            let mut writes = Writes::new();
            for Entry { path, mode, id } in objects.files(&before)? {
                writes.entry(path).or_default().0 = Some((mode, id));
            }
            for Entry { path, mode, id } in objects.files(&after)? {
                writes.entry(path).or_default().1 = Some((mode, id));
            }
            Ok(writes)
        };
        let folders = objects.repo.find_blob(part("folders")?)?;
        let folders = folders.content().split(|&byte| byte == 0).filter(|folder| !folder.is_empty());
        Ok(Record {
            files: writes("before", "after")?,
            index: writes("index-before", "index-after")?,
            folders: folders.map(<[u8]>::to_vec).collect(),
        })
    }
}

impl Journal {
    /// The journal of a new apply, which is not on disk yet.
    pub(super) fn new(repo: &PrivateRepo, request: &Request) -> Result<Journal, GitError> {
        let path = folder(repo)?.join(key(&request.base, &request.accepted)?);
        Ok(Journal { path, request: request.clone(), state: State::Open, record: Record::default() })
    }

    /// All that are on disk.
    pub(super) fn all(repo: &PrivateRepo, objects: &Objects) -> Result<Vec<Journal>, GitError> {
        let folder = folder(repo)?;
        let mut journals = Vec::new();
        for entry in fs::read_dir(&folder).at("read", &folder)? {
            let path = entry.at("read", &folder)?.path();
            if path.file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b".")) {
                let text = fs::read_to_string(&path).at("read", &path)?;
                let damaged = || GitError::Journal(path.clone());
                let (state, request, record) = parse(&text).ok_or_else(damaged)?;
                let record = Record::load(objects, record).map_err(|_| damaged())?;
                journals.push(Journal { path, request, state, record });
            }
        }
        Ok(journals)
    }

    /// Takes up that another thing is to be written for a change than was planned.
    pub(super) fn amend(&mut self, objects: &Objects, planned: &Planned) -> Result<(), GitError> {
        let before = self.record.clone();
        self.record.add(objects, planned)?;
        if self.record == before { Ok(()) } else { self.write(objects) }
    }

    /// Makes the journal and all that it names last through a loss of power.
    pub(super) fn write(&self, objects: &Objects) -> Result<(), GitError> {
        let record = self.record.store(objects)?;
        let Request { kind, base, accepted } = &self.request;
        let state = if self.state == State::Open { "open" } else { "finished" };
        let kind = match kind {
            Kind::Apply => "apply",
            Kind::ApplyToIndex => "apply to index",
            Kind::Undo => "undo",
        };
        let text = format!("{state}\n{kind}\n{base}\n{accepted}\n{record}\n");
        replace(&self.path, text.as_bytes())?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        sync_all(folder).at("write", folder)
    }

    /// Takes down that everything is written, and keeps the record for an undo.
    pub(super) fn finish(&mut self, repo: &PrivateRepo, objects: &Objects) -> Result<(), GitError> {
        self.state = State::Finished;
        let tree = objects.repo.find_tree(self.record.store(objects)?)?;
        let by = Signature::now("Heph", "heph@localhost")?;
        let commit = objects.repo.commit_create_buffer(&by, &by, "applied", &tree, &[])?;
        let commit = objects.write(ObjectType::Commit, &commit)?;
        let [before, after] = self.record.trees(objects)?;
        repo.write_ref(&applied_ref(&after, &before)?, commit)?;
        self.write(objects)
    }

    pub(super) fn remove(&self) -> Result<(), GitError> {
        remove(&self.path)
    }
}

/// What the apply that wrote `after` in the place of `before` recorded, if that is still known.
pub(super) fn applied(
    repo: &PrivateRepo,
    objects: &Objects,
    after: &TreeId,
    before: &TreeId,
) -> Result<Option<Record>, GitError> {
    let Some(commit) = repo.read_ref(&applied_ref(after, before)?)? else { return Ok(None) };
    Record::load(objects, objects.repo.find_commit(commit)?.tree_id()).map(Some)
}

fn remove(path: &Path) -> Result<(), GitError> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e).at("remove", path),
        _ => Ok(()),
    }
}

fn parse(text: &str) -> Option<(State, Request, Oid)> {
    let mut lines = text.lines();
    let state = match lines.next()? {
        "open" => State::Open,
        "finished" => State::Finished,
        _ => return None,
    };
    let kind = match lines.next()? {
        "apply" => Kind::Apply,
        "apply to index" => Kind::ApplyToIndex,
        "undo" => Kind::Undo,
        _ => return None,
    };
    let mut id = || Oid::from_str(lines.next()?).ok();
    let (base, accepted, record) = (id()?, id()?, id()?);
    Some((
        state,
        Request { kind, base: TreeId(base.to_string()), accepted: TreeId(accepted.to_string()) },
        record,
    ))
}

fn folder(repo: &PrivateRepo) -> Result<PathBuf, GitError> {
    repo.make_folder("journal")
}

fn key(from: &TreeId, to: &TreeId) -> Result<String, GitError> {
    Ok(Oid::hash_object(ObjectType::Blob, format!("{from} {to}").as_bytes())?.to_string())
}

fn applied_ref(after: &TreeId, before: &TreeId) -> Result<String, GitError> {
    Ok(format!("refs/heph/applied/{}", key(after, before)?))
}

pub(super) fn name(file: &File) -> Result<Named, GitError> {
    Ok((file.mode, Oid::hash_object(ObjectType::Blob, &file.bytes.0)?))
}

fn trees(objects: &Objects, writes: &Writes) -> Result<[TreeId; 2], GitError> {
    let files = |side: fn(&Sides) -> Option<Named>| -> Vec<Entry> {
        let named = writes.iter().filter_map(|(path, sides)| Some((path, side(sides)?)));
        named.map(|(path, (mode, id))| Entry { path: path.clone(), mode, id }).collect()
    };
    let store = |files: &[Entry]| objects.write_tree(files, None, |file| objects.keep(file.id).map(|_| ()));
    Ok([store(&files(|sides| sides.0))?, store(&files(|sides| sides.1))?])
}

/// Sees to it that all that was written to the file system of `folder` is on the disk.
fn sync_all(folder: &Path) -> io::Result<()> {
    let folder = Folder::open(folder)?;
    folder.sync_all()
}
