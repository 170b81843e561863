//! Ignored files of the user's that a worktree needs too. They are copied, so that nothing that is done to
//! them there reaches the user's own.

use std::{fs, path::Path};

use heph_core::{file::Mode, id::TreeId, path::RepoPath};
use rustix::fs::Stat;

use crate::{
    apply::STAGED,
    error::{At, GitError},
    folder::{Cursor, Folder, Kind, os, split},
    objects::{Entry, Objects, find},
    private::leaves,
    rules::{Fate, Stack, What},
    walk::{DEEPEST, rules_of, vanished},
    worktree::Worktree,
};

/// What came of copying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Copying {
    /// All is there, but for these paths.
    Done(Vec<(RepoPath, NotCopied)>),
    /// It was stopped on the way.
    Stopped,
}

/// Why nothing of a path was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCopied {
    /// The user has no such file.
    #[error("it is not there")]
    Missing,
    /// It is a symbolic link, or lies behind one.
    #[error("symbolic links are not followed")]
    Link,
    /// It would show up as a change, or is part of the worktree anyway.
    #[error("it is not ignored, and only ignored files are copied")]
    NotIgnored,
}

impl Worktree {
    /// Copies the ignored files at or below each of `paths` from the user's tree. What is ignored is decided
    /// by the rules in `base`, as for a snapshot. Files that are there as the user has them stay as they
    /// are, and what the user has removed stays too. Where the file system can share the content of two
    /// files until one is written, it does.
    ///
    /// A link below a path is copied as a link, unless it leads to the user's own files.
    ///
    /// # Errors
    /// Where a file cannot be read or written, by its name.
    pub fn copy_ignored(
        &self,
        base: &TreeId,
        paths: &[RepoPath],
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Copying, GitError> {
        let objects = self.repo().objects()?;
        let base = objects.files(&objects.tree(base)?)?;
        let user = self.repo().user();
        let from = Folder::open(user.root()).at("read", user.root())?;
        let to = Folder::open(self.path()).at("open", self.path())?;
        let mut not_copied = Vec::new();
        for path in paths {
            let mut copy = Copy {
                root: user.root(),
                target: self.path(),
                to: Cursor::new(&to),
                objects: &objects,
                base: &base,
                rules: user.rules()?,
                goes_on,
                found_ignored: false,
            };
            match copy.named(&from, path)? {
                Named::Copied => {}
                Named::Not(why) => not_copied.push((path.clone(), why)),
                Named::Stopped => return Ok(Copying::Stopped),
            }
        }
        Ok(Copying::Done(not_copied))
    }
}

/// What came of one of the paths.
enum Named {
    Copied,
    Not(NotCopied),
    Stopped,
}

/// The copying of one path.
struct Copy<'a> {
    root: &'a Path,
    target: &'a Path,
    to: Cursor<'a>,
    objects: &'a Objects,
    base: &'a [Entry],
    rules: Stack,
    goes_on: &'a dyn Fn() -> bool,
    found_ignored: bool,
}

impl Copy<'_> {
    fn named(&mut self, root: &Folder, path: &RepoPath) -> Result<Named, GitError> {
        let path = path.as_bytes();
        let mut folder = root.again().at("read", self.root)?;
        let mut fate = Fate::Shown;
        self.push_rules(b"", fate)?;
        for end in path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at) {
            let above = &path[..end];
            let (_, name) = split(above);
            match folder.look(name).at("read", self.source(above))?.as_ref().map(Kind::of) {
                Some(Kind::Folder) => {}
                Some(Kind::File(Mode::Symlink)) => return Ok(Named::Not(NotCopied::Link)),
                _ => return Ok(Named::Not(NotCopied::Missing)),
            }
            fate = self.fate(above, What::Folder, fate);
            folder = folder.enter(name).at("read", self.source(above))?;
            self.push_rules(above, fate)?;
        }
        match folder.look(split(path).1).at("read", self.source(path))?.as_ref().map(Kind::of) {
            None => return Ok(Named::Not(NotCopied::Missing)),
            Some(Kind::File(Mode::Symlink)) => return Ok(Named::Not(NotCopied::Link)),
            Some(_) => self.visit(&folder, path, fate, 0)?,
        }
        Ok(match (self.goes_on)() {
            false => Named::Stopped,
            true if self.found_ignored => Named::Copied,
            true => Named::Not(NotCopied::NotIgnored),
        })
    }

    fn visit(&mut self, above: &Folder, path: &[u8], fate: Fate, depth: usize) -> Result<(), GitError> {
        if !(self.goes_on)() {
            return Ok(());
        }
        let (_, name) = split(path);
        let Some(stat) = above.look(name).at("read", self.source(path))? else { return Ok(()) };
        let kind = Kind::of(&stat);
        let what = if kind == Kind::Folder { What::Folder } else { What::File };
        let fate = self.fate(path, what, fate);
        if fate == Fate::Shown && kind != Kind::Folder || find(self.base, path).is_some() {
            return Ok(());
        }
        self.found_ignored |= fate == Fate::Ignored;
        match kind {
            Kind::Folder => self.folder(above, path, fate, depth),
            Kind::File(Mode::Symlink) => self.link(above, path),
            Kind::File(_) => self.file(above, path, &stat),
            Kind::Other => Ok(()),
        }
    }

    fn folder(&mut self, above: &Folder, path: &[u8], fate: Fate, depth: usize) -> Result<(), GitError> {
        if depth > DEEPEST {
            return Err(GitError::TooDeep(self.source(path)));
        }
        let folder = match above.enter(split(path).1) {
            Err(error) if vanished(&error) => return Ok(()),
            entered => entered.at("read", self.source(path))?,
        };
        if fate == Fate::Ignored {
            self.to.make_folder(path).at("write", self.target.join(os(path)))?;
        }
        let pushed = self.push_rules(path, fate)?;
        for (name, _) in folder.names().at("read", self.source(path))? {
            // What some file system takes for `.git` would make a repository of the folder.
            if RepoPath::new(&name).is_ok() && !name.starts_with(STAGED) {
                self.visit(&folder, &[path, b"/", &name].concat(), fate, depth + 1)?;
            }
        }
        if pushed {
            self.rules.pop();
        }
        Ok(())
    }

    fn file(&mut self, from: &Folder, path: &[u8], stat: &Stat) -> Result<(), GitError> {
        let (above, name) = split(path);
        let target = self.target.join(os(path));
        let into = self.to.make_folder(above).at("write", &target)?;
        if into.look(name).at("read", &target)?.is_some_and(|own| is_same(&own, stat)) {
            return Ok(());
        }
        into.remove_all(name).at("remove", &target)?;
        match from.copy(name, into) {
            Err(error) if vanished(&error) => Ok(()),
            copied => copied.at("copy", self.root.join(os(path))),
        }
    }

    fn link(&mut self, from: &Folder, path: &[u8]) -> Result<(), GitError> {
        let (above, name) = split(path);
        let to = from.read_link(name).at("read", self.source(path))?;
        let leads_home = match os(&to).is_absolute() {
            true => fs::canonicalize(os(&to)).is_ok_and(|place| place.starts_with(self.root)),
            false => leaves(path, &to),
        };
        if leads_home {
            return Ok(());
        }
        let target = self.target.join(os(path));
        let into = self.to.make_folder(above).at("write", &target)?;
        if into.read_link(name).is_ok_and(|own| own == to) {
            return Ok(());
        }
        into.remove_all(name).at("remove", &target)?;
        into.create(name, Mode::Symlink, &to).at("write", &target)?;
        Ok(())
    }

    fn fate(&self, path: &[u8], what: What, above: Fate) -> Fate {
        match above {
            Fate::Shown => self.rules.fate(path, what),
            Fate::Ignored => Fate::Ignored,
        }
    }

    /// Adds the rules of a folder of the base's, if it has some; says whether.
    fn push_rules(&mut self, path: &[u8], fate: Fate) -> Result<bool, GitError> {
        let rules = match fate {
            Fate::Shown => rules_of(self.base, path, self.objects)?,
            Fate::Ignored => None,
        };
        Ok(rules.map(|rules| self.rules.push(path, rules)).is_some())
    }

    fn source(&self, path: &[u8]) -> std::path::PathBuf {
        self.root.join(os(path))
    }
}

/// Whether a copy is still what was copied: copies have the time of their original.
fn is_same(copy: &Stat, original: &Stat) -> bool {
    let of = |stat: &Stat| (stat.st_size, stat.st_mode, stat.st_mtime, stat.st_mtime_nsec);
    of(copy) == of(original)
}
