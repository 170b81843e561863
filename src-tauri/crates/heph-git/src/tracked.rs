//! Which paths belong to a tree of files whatever the ignore rules say.

use std::collections::BTreeMap;

use git2::Oid;
use heph_core::file::Mode;

use crate::{
    index::{IndexEntry, Presence},
    objects::{Entry, Objects, kind},
};

/// Tracked paths, of the user's index or of a tree.
#[derive(Default)]
pub(crate) struct Tracked(BTreeMap<Vec<u8>, Held>);

/// What is tracked at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// A file that belongs into the working tree.
    File,
    /// A file that a sparse checkout leaves out of it, and what it would be.
    LeftOut(Mode, Oid),
    /// A submodule's folder.
    Submodule,
}

impl Tracked {
    /// The files of a tree.
    pub(crate) fn files<'a>(paths: impl IntoIterator<Item = &'a [u8]>) -> Tracked {
        Tracked(paths.into_iter().map(|path| (path.to_vec(), Held::File)).collect())
    }

    /// Adds the entries of an index that lies at `prefix` (`""`, or a submodule's folder with its `/`).
    /// `objects` holds the trees of folders that a sparse checkout collapsed.
    pub(crate) fn add_index(&mut self, prefix: &[u8], entries: Vec<IndexEntry>, objects: &Objects) {
        for entry in entries {
            let path = [prefix, &entry.path].concat();
            let held = match (kind(entry.mode.cast_signed()), entry.presence) {
                (Some(mode), Presence::LeftOut) => Held::LeftOut(mode, entry.id),
                (Some(_), Presence::Wanted) => Held::File,
                (None, _) if path.ends_with(b"/") => {
                    let tree = objects.repo.find_tree(entry.id);
                    for Entry { path: below, mode, id } in
                        tree.iter().flat_map(|tree| objects.files(tree)).flatten()
                    {
                        self.0.insert([path.as_slice(), &below].concat(), Held::LeftOut(mode, id));
                    }
                    continue;
                }
                (None, _) => Held::Submodule,
            };
            self.0.insert(path, held);
        }
    }

    /// What is tracked at `path`.
    pub(crate) fn at(&self, path: &[u8]) -> Option<Held> {
        self.0.get(path).copied()
    }

    /// Whether anything is tracked in the folder `path`.
    pub(crate) fn below(&self, path: &[u8]) -> bool {
        let folder = [path, b"/"].concat();
        self.0.range(folder.clone()..).next().is_some_and(|(path, _)| path.starts_with(&folder))
    }

    /// The submodules' folders.
    pub(crate) fn submodules(&self) -> Vec<Vec<u8>> {
        let submodules = self.0.iter().filter(|(_, held)| **held == Held::Submodule);
        submodules.map(|(path, _)| path.clone()).collect()
    }

    /// The files that a sparse checkout leaves out.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = Entry> {
        self.0.iter().filter_map(|(path, held)| match held {
            Held::LeftOut(mode, id) => Some(Entry { path: path.clone(), mode: *mode, id: *id }),
            Held::File | Held::Submodule => None,
        })
    }
}
