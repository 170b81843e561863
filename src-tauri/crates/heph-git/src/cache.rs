//! What a walk knows from the last one: which bytes a file had when it looked like this.
//!
//! Kept as a git index, which holds just that, so that the worktree's own index can be a copy of it.

use std::{
    collections::HashMap,
    fs,
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use git2::{Index, IndexEntry, IndexTime, Oid};
use heph_core::file::Mode;

use crate::{
    error::{At, GitError},
    folder::Stamp,
    objects::{Entry, kind},
};

/// A file as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) entry: Entry,
    /// The default where the file may change without its stamp telling.
    pub(crate) stamp: Stamp,
}

/// What is known, by path.
#[derive(Default)]
pub(crate) struct Cache(HashMap<Vec<u8>, Known>);

impl Cache {
    /// Reads it; one that is missing or damaged knows nothing, which costs time only.
    pub(crate) fn load(path: &Path) -> Cache {
        let Ok(index) = Index::open(path) else { return Cache::default() };
        let known = index.iter().filter_map(|entry| {
            let stamp = Stamp {
                changed: (entry.ctime.seconds(), entry.ctime.nanoseconds()),
                modified: (entry.mtime.seconds(), entry.mtime.nanoseconds()),
                device: entry.dev,
                inode: entry.ino,
                user: entry.uid,
                group: entry.gid,
                size: entry.file_size,
            };
            let mode = kind(entry.mode.cast_signed())?;
            let entry = Entry { path: entry.path, mode, id: entry.id };
            Some((entry.path.clone(), Known { entry, stamp }))
        });
        Cache(known.collect())
    }

    /// Writes what is known now, in one step.
    pub(crate) fn save(path: &Path, known: &[Known]) -> Result<(), GitError> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let scratch = tempfile::tempdir_in(folder).at("write to", folder)?;
        let file = scratch.path().join("index");
        let mut index = Index::open(&file)?;
        for Known { entry, stamp } in known {
            // What libgit2 takes no path of is read again the next time.
            let _unknown = index.add(&IndexEntry {
                ctime: IndexTime::new(stamp.changed.0, stamp.changed.1),
                mtime: IndexTime::new(stamp.modified.0, stamp.modified.1),
                dev: stamp.device,
                ino: stamp.inode,
                mode: entry.mode.bits(),
                uid: stamp.user,
                gid: stamp.group,
                file_size: stamp.size,
                id: entry.id,
                flags: 0,
                flags_extended: 0,
                path: entry.path.clone(),
            });
        }
        index.write()?;
        fs::rename(&file, path).at("write", path)
    }

    /// The bytes and kind of the file at `path`, if it still looks as it did.
    pub(crate) fn unchanged(&self, path: &[u8], mode: Mode, stamp: &Stamp) -> Option<Oid> {
        let known = self.0.get(path)?;
        // A link and a file are different bytes under one path; the executable bit changes none.
        let same_kind = (known.entry.mode == Mode::Symlink) == (mode == Mode::Symlink);
        (same_kind && known.stamp == *stamp).then_some(known.entry.id)
    }

    /// The paths.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &[u8]> {
        self.0.keys().map(Vec::as_slice)
    }

    /// Whether this is what is known already.
    pub(crate) fn is(&self, known: &[Known]) -> bool {
        self.0.len() == known.len() && known.iter().all(|known| self.0.get(&known.entry.path) == Some(known))
    }
}

/// The stamp to keep of a file whose bytes were read at `read`: the default, which no file has, where
/// the file changed so shortly before that another change might leave the same stamp. (Git's rule for
/// "racily clean" entries, with the file system's clock ticks taken into account.)
pub(crate) fn lasting(stamp: Stamp, read: SystemTime) -> Stamp {
    let steady = [stamp.changed, stamp.modified].into_iter().all(|(seconds, nanoseconds)| {
        // A file system that keeps whole seconds, or two, shows it.
        let tick = if nanoseconds == 0 { Duration::from_secs(2) } else { Duration::from_millis(20) };
        let moment = Duration::new(u64::try_from(seconds).unwrap_or(0), nanoseconds);
        read.duration_since(UNIX_EPOCH).is_ok_and(|read| moment + tick < read)
    });
    if steady { stamp } else { Stamp::default() }
}
