//! Turns what a walk found into a list of blobs.

use std::{path::Path, thread, time::SystemTime};

use git2::{ObjectType, Oid};
use heph_core::file::Mode;
use rustix::fs::Stat;

use crate::{
    cache::{Cache, Known, lasting},
    error::{At, GitError},
    folder::{Cursor, Folder, Kind, Stamp, os, split},
    objects::{Entry, Objects},
    private::PrivateRepo,
    walk::{Found, vanished},
};

/// Fewer files than this are not worth a second thread.
const WORTH_A_THREAD: usize = 200;

/// Whether blobs are stored or only named.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blobs {
    /// Those that cannot be read yet are stored.
    Stored,
    /// They are only named.
    Named,
}

/// The blobs of the files that were found, sorted as they were. What `cache` knows is not read again.
/// `root` is where `folder` lies. Files that vanished are left out.
pub(crate) fn record(
    repo: &PrivateRepo,
    root: &Path,
    folder: &Folder,
    found: &[Found],
    cache: &Cache,
    blobs: Blobs,
) -> Result<Vec<Known>, GitError> {
    let mut known: Vec<Option<Known>> = found
        .iter()
        .map(|Found { path, mode, stamp }| {
            let id = cache.unchanged(path, *mode, stamp)?;
            Some(Known { entry: Entry { path: path.clone(), mode: *mode, id }, stamp: *stamp })
        })
        .collect();
    let unknown: Vec<usize> = (0..found.len()).filter(|&at| known[at].is_none()).collect();
    let threads =
        thread::available_parallelism().map_or(1, usize::from).min(unknown.len() / WORTH_A_THREAD + 1);
    let share = unknown.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let shares: Vec<_> = unknown
            .chunks(share)
            .map(|share| {
                scope.spawn(move || {
                    let objects = repo.open_objects()?;
                    let mut cursor = Cursor::new(folder);
                    let read = |&at: &usize| {
                        Ok((at, read(root, &mut cursor, &found[at].path, found[at].mode, &objects, blobs)?))
                    };
                    share.iter().map(read).collect::<Result<Vec<_>, GitError>>()
                })
            })
            .collect();
        for share in shares {
            let share = share.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            for (at, file) in share? {
                known[at] = file;
            }
        }
        Ok::<(), GitError>(())
    })?;
    Ok(known.into_iter().flatten().collect())
}

/// Reads one file, and stores its blob where none can be read yet.
fn read(
    root: &Path,
    cursor: &mut Cursor<'_>,
    path: &[u8],
    mode: Mode,
    objects: &Objects,
    blobs: Blobs,
) -> Result<Option<Known>, GitError> {
    let moment = SystemTime::now();
    let (bytes, stat) = match read_bytes(cursor, path, mode) {
        Ok(Some(read)) => read,
        Ok(None) => return Ok(None),
        Err(e) if vanished(&e) => return Ok(None),
        Err(e) => return Err(e).at("read", root.join(os(path))),
    };
    let Kind::File(mode) = Kind::of(&stat) else { return Ok(None) };
    let id = Oid::hash_object(ObjectType::Blob, &bytes)?;
    if blobs == Blobs::Stored && !objects.has(id)? {
        objects.write(ObjectType::Blob, &bytes)?;
    }
    let entry = Entry { path: path.to_vec(), mode, id };
    Ok(Some(Known { entry, stamp: lasting(Stamp::of(&stat), moment) }))
}

fn read_bytes(cursor: &mut Cursor<'_>, path: &[u8], mode: Mode) -> std::io::Result<Option<(Vec<u8>, Stat)>> {
    let (above, name) = split(path);
    let folder = cursor.folder(above)?;
    match mode {
        Mode::Symlink => {
            let bytes = folder.read_link(name)?;
            Ok(folder.look(name)?.map(|stat| (bytes, stat)))
        }
        Mode::Regular | Mode::Executable => folder.read(name).map(Some),
    }
}

/// Sees to it that the private repository has the blob itself: copied from where it is borrowed, or
/// read from the disk again where the user's repository has dropped it meanwhile.
pub(crate) fn keep(objects: &Objects, root: &Path, folder: &Folder, entry: &Entry) -> Result<(), GitError> {
    if objects.keep(entry.id)? {
        return Ok(());
    }
    let place = root.join(os(&entry.path));
    let read = read_bytes(&mut Cursor::new(folder), &entry.path, entry.mode).at("read", &place)?;
    match read {
        Some((bytes, _)) if objects.write(ObjectType::Blob, &bytes)? == entry.id => Ok(()),
        _ => Err(GitError::Unsteady(place)),
    }
}
