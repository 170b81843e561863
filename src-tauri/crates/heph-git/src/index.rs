//! Git's index file: which paths the user tracks, and what is staged.
//!
//! The format is that of `Documentation/gitformat-index.txt` of git, versions 2 to 4. libgit2 reads and
//! writes it too, but refuses an index whose folders are collapsed by a sparse checkout, and one whose
//! checksum git was told to leave out.

use git2::Oid;
use heph_core::file::Mode;
use sha1::{Digest, Sha1};

/// An index, as far as it is kept when it is written again. What git can make anew (the cached trees and
/// untracked files, where the entries lie in the file) is not.
pub(crate) struct Index {
    version: u32,
    pub(crate) entries: Vec<IndexEntry>,
    /// How conflicts were that the user resolved (`REUC`).
    resolved: Vec<u8>,
    /// What keeps it from being written, in words for the user.
    read_only: Option<&'static str>,
    checksum: Checksum,
}

/// What stands at the end of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Checksum {
    Sha1,
    /// `index.skipHash` is set: zeros.
    LeftOut,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    /// Its path; a collapsed folder's ends with `/`.
    pub(crate) path: Vec<u8>,
    /// Git's mode bits; 040000 for a folder that a sparse checkout collapsed, 160000 for a submodule.
    pub(crate) mode: u32,
    /// The staged blob, or the tree of a collapsed folder.
    pub(crate) id: Oid,
    /// Whether the file is left out of the working tree on purpose.
    pub(crate) presence: Presence,
    stat: [u8; STAT_BYTES],
    flags: u16,
    extended: u16,
}

impl IndexEntry {
    /// 0, or one of the three sides of a conflict.
    pub(crate) fn stage(&self) -> u16 {
        (self.flags & STAGE) >> 12
    }

    /// Whether only the name is staged (`git add -N`).
    pub(crate) fn is_intended(&self) -> bool {
        self.extended & INTENT_TO_ADD != 0
    }
}

/// Whether the index wants a file in the working tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It belongs there: when it is not there, it was deleted.
    Wanted,
    /// A sparse checkout leaves it out (`skip-worktree`).
    LeftOut,
}

const DAMAGED: &str = "it is damaged";
/// Ten words of what the file system said, before the entry's id.
const STAT_BYTES: usize = 40;
/// Where among them the mode is.
const MODE_AT: usize = 24;
const ID_BYTES: usize = 20;
const EXTENDED: u16 = 0x4000;
const SKIP_WORKTREE: u16 = 0x4000;
const INTENT_TO_ADD: u16 = 0x2000;
const STAGE: u16 = 0x3000;
/// A longer path's length is written as this.
const LONGEST: u16 = 0x0fff;
const FOLDER_BITS: u32 = 0o040000;

/// An index from its file.
///
/// # Errors
/// With what is wrong and what helps, where the file is damaged or of a kind that is not supported.
pub(crate) fn read(file: &[u8]) -> Result<Index, &'static str> {
    let (content, checksum) = file.split_at_checked(file.len().saturating_sub(ID_BYTES)).ok_or(DAMAGED)?;
    let mut rest = Reader(content);
    if rest.take(4)? != b"DIRC" {
        return Err(DAMAGED);
    }
    let version = rest.u32()?;
    if !(2..=4).contains(&version) {
        return Err("it is of a version that is not supported");
    }
    let count = rest.u32()?;
    let mut entries: Vec<IndexEntry> = Vec::new();
    let mut path: Vec<u8> = Vec::new();
    for _ in 0..count {
        let before = rest.0.len();
        let stat = rest.take(STAT_BYTES)?;
        let stat: [u8; STAT_BYTES] = stat.try_into().expect("as many were taken");
        let mode = u32::from_be_bytes(stat[MODE_AT..MODE_AT + 4].try_into().expect("four bytes"));
        let id = Oid::from_bytes(rest.take(ID_BYTES)?).map_err(|_| DAMAGED)?;
        let flags = rest.u16()?;
        let extended = if flags & EXTENDED != 0 { rest.u16()? } else { 0 };
        if version == 4 {
            // Each path is written as what it shares with the one before it, and the rest.
            let dropped = rest.offset()?;
            path.truncate(path.len().checked_sub(dropped).ok_or(DAMAGED)?);
            path.extend_from_slice(rest.until_nul()?);
        } else {
            path = rest.until_nul()?.to_vec();
            let length = before - rest.0.len();
            rest.take(length.next_multiple_of(8) - length)?;
        }
        let presence = if extended & SKIP_WORKTREE != 0 { Presence::LeftOut } else { Presence::Wanted };
        entries.push(IndexEntry { path: path.clone(), mode, id, presence, stat, flags, extended });
    }
    let collapsed = entries.iter().any(|entry| entry.mode == FOLDER_BITS);
    let mut read_only = collapsed.then_some(
        "folders are collapsed in it; `git sparse-checkout reapply --no-sparse-index` expands them",
    );
    let mut resolved = Vec::new();
    while rest.0.len() >= 8 {
        let name = rest.take(4)?;
        if name == b"link" {
            return Err("it is split; `git update-index --no-split-index` makes it one file");
        }
        let length = rest.u32()?;
        let extension = rest.take(length as usize)?;
        match name {
            b"REUC" => resolved = extension.to_vec(),
            b"sdir" => {}
            // Git's sign for what must be understood.
            name if !name[0].is_ascii_uppercase() => {
                read_only = Some("it is of a form that is not supported")
            }
            _ => {}
        }
    }
    let left_out = checksum.iter().all(|byte| *byte == 0);
    let checksum = if left_out { Checksum::LeftOut } else { Checksum::Sha1 };
    Ok(Index { version, entries, resolved, read_only, checksum })
}

impl Index {
    /// One without entries, as git makes it.
    pub(crate) fn empty() -> Index {
        let (entries, resolved) = (Vec::new(), Vec::new());
        Index { version: 2, entries, resolved, read_only: None, checksum: Checksum::Sha1 }
    }

    /// All entries of a path: one, or up to three where there is a conflict.
    pub(crate) fn at(&self, path: &[u8]) -> &[IndexEntry] {
        &self.entries[self.range(path)]
    }

    fn range(&self, path: &[u8]) -> std::ops::Range<usize> {
        let start = self.entries.partition_point(|entry| entry.path.as_slice() < path);
        let count = self.entries[start..].iter().take_while(|entry| entry.path == path).count();
        start..start + count
    }

    /// Stages a file at a path, or nothing. Git finds out anew how it compares to the one on disk.
    pub(crate) fn set(&mut self, path: &[u8], file: Option<(Mode, Oid)>) {
        let range = self.range(path);
        let before = self.entries[range.clone()].first();
        let entry = file.map(|(mode, id)| IndexEntry {
            path: path.to_vec(),
            mode: mode.bits(),
            id,
            presence: before.map_or(Presence::Wanted, |before| before.presence),
            stat: [0; STAT_BYTES],
            flags: before.map_or(0, |before| before.flags & !STAGE),
            extended: before.map_or(0, |before| before.extended & !INTENT_TO_ADD),
        });
        self.entries.splice(range, entry);
    }

    /// The file of this index.
    ///
    /// # Errors
    /// With what helps, where it is of a form that is only read.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, &'static str> {
        if let Some(why) = self.read_only {
            return Err(why);
        }
        let count = u32::try_from(self.entries.len()).map_err(|_| "it has too many entries")?;
        let mut file = b"DIRC".to_vec();
        file.extend(self.version.to_be_bytes());
        file.extend(count.to_be_bytes());
        let mut before: &[u8] = &[];
        for entry in &self.entries {
            let start = file.len();
            file.extend(&entry.stat[..MODE_AT]);
            file.extend(entry.mode.to_be_bytes());
            file.extend(&entry.stat[MODE_AT + 4..]);
            file.extend(entry.id.as_bytes());
            let length = u16::try_from(entry.path.len()).map_or(LONGEST, |length| length.min(LONGEST));
            let long = if entry.extended == 0 { 0 } else { EXTENDED };
            file.extend((entry.flags & !(LONGEST | EXTENDED) | length | long).to_be_bytes());
            if entry.extended != 0 {
                file.extend(entry.extended.to_be_bytes());
            }
            if self.version == 4 {
                let shared = before.iter().zip(&entry.path).take_while(|(a, b)| a == b).count();
                write_offset(before.len() - shared, &mut file);
                file.extend(&entry.path[shared..]);
                file.push(0);
                before = &entry.path;
            } else {
                file.extend(&entry.path);
                let length = file.len() - start;
                // One NUL at least ends the path.
                file.resize(start + (length + 1).next_multiple_of(8), 0);
            }
        }
        if !self.resolved.is_empty() {
            file.extend(b"REUC");
            file.extend(u32::try_from(self.resolved.len()).map_err(|_| DAMAGED)?.to_be_bytes());
            file.extend(&self.resolved);
        }
        match self.checksum {
            Checksum::Sha1 => file.extend(Sha1::digest(&file)),
            Checksum::LeftOut => file.extend([0; ID_BYTES]),
        }
        Ok(file)
    }
}

/// Writes a number in git's offset encoding.
fn write_offset(mut value: usize, out: &mut Vec<u8>) {
    let mut bytes = vec![(value & 0x7f) as u8];
    while value > 0x7f {
        value = (value >> 7) - 1;
        bytes.push(0x80 | (value & 0x7f) as u8);
    }
    out.extend(bytes.iter().rev());
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(DAMAGED)?;
        self.0 = rest;
        Ok(taken)
    }

    fn u16(&mut self) -> Result<u16, &'static str> {
        Ok(u16::from_be_bytes(self.take(2)?.try_into().expect("two bytes")))
    }

    fn u32(&mut self) -> Result<u32, &'static str> {
        Ok(u32::from_be_bytes(self.take(4)?.try_into().expect("four bytes")))
    }

    /// The bytes before a NUL, which is taken too.
    fn until_nul(&mut self) -> Result<&'a [u8], &'static str> {
        let end = self.0.iter().position(|&b| b == 0).ok_or(DAMAGED)?;
        let taken = self.take(end + 1)?;
        Ok(&taken[..end])
    }

    /// A number in git's offset encoding.
    fn offset(&mut self) -> Result<usize, &'static str> {
        let mut byte = self.take(1)?[0];
        let mut value = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = self.take(1)?[0];
            value = value.checked_add(1).and_then(|v| v.checked_mul(128)).ok_or(DAMAGED)?;
            value += usize::from(byte & 0x7f);
        }
        Ok(value)
    }
}
