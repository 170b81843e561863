//! Walks a folder: which files are part of it.

use std::{io, path::Path};

use git2::Oid;
use heph_core::{file::Mode, path::RepoPath};
use rustix::fs::FileType;

use crate::{
    apply::STAGED,
    error::{At, GitError},
    folder::{Folder, Kind, Stamp, os},
    objects::{Entry, Objects, find},
    rules::{Fate, Rules, Stack, What},
    tracked::{Held, Tracked},
};

/// Each level holds a folder open, and a process may hold a thousand or so.
pub(crate) const DEEPEST: usize = 250;

/// The file that holds a folder's rules.
const RULES: &[u8] = b".gitignore";

/// Whose folder is walked.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    /// The user's: rules are read from the disk, repositories inside it are not part of it.
    User,
    /// The worktree: rules are those of a tree, sorted by path, so that nothing can be hidden by
    /// writing a rule or by making a repository.
    Worktree(&'a [Entry]),
}

/// A file on disk that is part of the tree.
pub(crate) struct Found {
    pub(crate) path: Vec<u8>,
    pub(crate) mode: Mode,
    pub(crate) stamp: Stamp,
}

/// What a walk finds, each sorted by path.
#[derive(Default)]
pub(crate) struct Walked {
    /// What is part of the tree.
    pub(crate) files: Vec<Found>,
    /// What is ignored. Only a walk of the worktree looks at it.
    pub(crate) ignored: Vec<Found>,
}

struct Walk<'a> {
    root: &'a Path,
    place: Place<'a>,
    tracked: &'a Tracked,
    objects: &'a Objects,
    rules: Stack,
    walked: Walked,
}

/// Walks `folder`, which lies at `root`. `rules` are those that hold everywhere in it.
pub(crate) fn walk(
    root: &Path,
    folder: &Folder,
    place: Place<'_>,
    tracked: &Tracked,
    rules: Stack,
    objects: &Objects,
) -> Result<Walked, GitError> {
    let mut walk = Walk { root, place, tracked, objects, rules, walked: Walked::default() };
    walk.visit(folder, &mut Vec::new(), 0, Fate::Shown)?;
    let Walked { mut files, mut ignored } = walk.walked;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    ignored.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Walked { files, ignored })
}

impl Walk<'_> {
    fn visit(
        &mut self,
        folder: &Folder,
        path: &mut Vec<u8>,
        depth: usize,
        fate: Fate,
    ) -> Result<(), GitError> {
        let here = || self.root.join(os(path));
        if depth > DEEPEST {
            return Err(GitError::TooDeep(here()));
        }
        let names = folder.names().at("read", here())?;
        let rules = match fate {
            Fate::Shown => self.rules_in(folder, path)?,
            Fate::Ignored => None,
        };
        let pushed = rules.map(|rules| self.rules.push(path, rules)).is_some();
        let length = path.len();
        for (name, kind) in names {
            // Whatever some file system takes for `.git` can be part of no tree; nor is what an apply
            // that was cut off left beside a file.
            if RepoPath::new(&name).is_err() || name.starts_with(STAGED) {
                continue;
            }
            if length > 0 {
                path.push(b'/');
            }
            path.extend_from_slice(&name);
            match kind {
                FileType::Directory => self.visit_folder(folder, &name, path, depth, fate)?,
                _ => self.visit_file(folder, &name, path, depth, fate)?,
            }
            path.truncate(length);
        }
        if pushed {
            self.rules.pop();
        }
        Ok(())
    }

    fn visit_folder(
        &mut self,
        above: &Folder,
        name: &[u8],
        path: &mut Vec<u8>,
        depth: usize,
        fate: Fate,
    ) -> Result<(), GitError> {
        let submodule = self.tracked.at(path) == Some(Held::Submodule);
        let holds_tracked = submodule || self.tracked.below(path);
        let fate = match fate {
            _ if submodule => Fate::Shown,
            Fate::Shown => self.rules.fate(path, What::Folder),
            Fate::Ignored => Fate::Ignored,
        };
        if matches!(self.place, Place::User) && fate == Fate::Ignored && !holds_tracked {
            return Ok(());
        }
        let folder = match above.enter(name) {
            Ok(folder) => folder,
            Err(e) if vanished(&e) => return Ok(()),
            Err(e) => return Err(e).at("read", self.root.join(os(path))),
        };
        if matches!(self.place, Place::User) && !holds_tracked && is_repository(&folder) {
            return Ok(());
        }
        self.visit(&folder, path, depth + 1, fate)
    }

    fn visit_file(
        &mut self,
        folder: &Folder,
        name: &[u8],
        path: &mut Vec<u8>,
        depth: usize,
        fate: Fate,
    ) -> Result<(), GitError> {
        let Some(stat) = folder.look(name).at("read", self.root.join(os(path)))? else { return Ok(()) };
        let mode = match Kind::of(&stat) {
            Kind::File(mode) => mode,
            // Some file systems do not say in a listing what is a folder.
            Kind::Folder => return self.visit_folder(folder, name, path, depth, fate),
            Kind::Other => return Ok(()),
        };
        let found = Found { path: path.clone(), mode, stamp: Stamp::of(&stat) };
        let tracked = matches!(self.tracked.at(path), Some(Held::File | Held::LeftOut(..)));
        if tracked || fate == Fate::Shown && self.rules.fate(path, What::File) == Fate::Shown {
            self.walked.files.push(found);
        } else if matches!(self.place, Place::Worktree(_)) {
            self.walked.ignored.push(found);
        }
        Ok(())
    }

    /// The rules of the folder's own `.gitignore`.
    fn rules_in(&self, folder: &Folder, path: &[u8]) -> Result<Option<Rules>, GitError> {
        let whole = rules_file(path);
        let blob = match self.place {
            Place::User => {
                match folder.look(RULES).at("read", self.root.join(os(&whole)))?.as_ref().map(Kind::of) {
                    Some(Kind::File(Mode::Regular | Mode::Executable)) => {
                        let (bytes, _) = folder.read(RULES).at("read", self.root.join(os(&whole)))?;
                        return Ok(Some(Rules::parse(&bytes)));
                    }
                    Some(_) => None,
                    None => match self.tracked.at(&whole) {
                        Some(Held::LeftOut(Mode::Regular | Mode::Executable, id)) => Some(id),
                        _ => None,
                    },
                }
            }
            Place::Worktree(tree) => return rules_of(tree, path, self.objects),
        };
        blob.map(|id| parsed(id, self.objects)).transpose()
    }
}

/// The rules that the folder `path` of a tree has of its own.
pub(crate) fn rules_of(tree: &[Entry], path: &[u8], objects: &Objects) -> Result<Option<Rules>, GitError> {
    // Git, too, takes no rules from a link.
    let file = find(tree, &rules_file(path)).filter(|entry| entry.mode != Mode::Symlink);
    file.map(|entry| parsed(entry.id, objects)).transpose()
}

fn parsed(rules: Oid, objects: &Objects) -> Result<Rules, GitError> {
    Ok(Rules::parse(objects.repo.find_blob(rules)?.content()))
}

fn rules_file(folder: &[u8]) -> Vec<u8> {
    if folder.is_empty() { RULES.to_vec() } else { [folder, b"/", RULES].concat() }
}

/// Whether a repository of its own lives here.
fn is_repository(folder: &Folder) -> bool {
    match folder.look(b".git").ok().flatten().as_ref().map(Kind::of) {
        Some(Kind::Folder) => {
            folder.enter(b".git").and_then(|git| git.look(b"HEAD")).is_ok_and(|head| head.is_some())
        }
        Some(Kind::File(_)) => true,
        Some(Kind::Other) | None => false,
    }
}

/// Whether an error says that something is not there (any more), or not what it was.
pub(crate) fn vanished(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
