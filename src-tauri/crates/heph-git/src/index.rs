//! Reads git's index file: which paths the user tracks.
//!
//! The format is that of `Documentation/gitformat-index.txt` of git, versions 2 to 4. libgit2 has a
//! reader, but refuses an index whose folders are collapsed by a sparse checkout.

use git2::Oid;

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
const ID_BYTES: usize = 20;
const EXTENDED: u16 = 0x4000;
const SKIP_WORKTREE: u16 = 0x4000;

/// The entries of an index file.
///
/// # Errors
/// With what is wrong and what helps, where the file is damaged or of a kind that is not supported.
pub(crate) fn read(file: &[u8]) -> Result<Vec<IndexEntry>, &'static str> {
    let mut rest = Reader(file.get(..file.len().saturating_sub(ID_BYTES)).ok_or(DAMAGED)?);
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
        let mode = u32::from_be_bytes(stat[24..28].try_into().expect("four bytes"));
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
        entries.push(IndexEntry { path: path.clone(), mode, id, presence });
    }
    while rest.0.len() >= 8 {
        let name = rest.take(4)?;
        if name == b"link" {
            return Err("it is split; `git update-index --no-split-index` makes it one file");
        }
        let length = rest.u32()?;
        rest.take(length as usize)?;
    }
    Ok(entries)
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
