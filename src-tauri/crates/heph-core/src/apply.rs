//! What becomes of each of the user's files when accepted hunks are written: a three-way plan.
//!
//! The sides are the base (the user's file when it was recorded), the accepted state, and the user's
//! file as it is now. A byte of the user's that the base does not hold is never overwritten: a hunk
//! that would touch one is set aside.
//!
//! Taking an apply back is an apply too: of what it wrote, onto what was there before.

mod lines;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::{
    diff::{Edit, edits, group, is_text},
    file::{File, Mode},
    path::RepoPath,
};

/// What is to be done with one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlan {
    /// What is written.
    pub write: Write,
    /// Hunks that the write lands.
    pub landed: u32,
    /// Hunks that the user's file holds already.
    pub already_there: u32,
    /// Hunks that cannot land, and why.
    pub set_aside: Option<SetAside>,
}

/// What is to be done with a file that was renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenamePlan {
    /// What is written at the old path. It goes only where the new one holds the file.
    pub old: Write,
    /// What is written at the new path, and how the hunks fare, the rename being one of them.
    pub new: FilePlan,
}

/// What is written to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Nothing.
    Leave,
    /// This file.
    Put(File),
    /// Its removal.
    Delete,
}

/// Accepted hunks of one file that cannot land; the user's text stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetAside {
    /// Why.
    pub reason: Reason,
    /// How many hunks.
    pub hunks: u32,
    /// The changes meant, where the file has lines.
    pub change: Vec<Meant>,
}

/// A change that was meant, and where the user's text stands in its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meant {
    /// The change of the base.
    pub edit: Edit,
    /// The lines (from 0) of the user's text, with what landed in it, that stand where the edit's lines and
    /// the user's own changes that touch them lie; empty where nothing stands there, or there is no such
    /// text.
    pub place: Range<usize>,
}

/// Why accepted hunks are set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// The user changed the same region.
    Region,
    /// The user deleted the file.
    Deleted,
    /// The user's file is of another kind now: a link, a folder, another mode.
    TypeChanged,
    /// The file is binary and the user changed it.
    BinaryChanged,
    /// The user saved the file in another encoding.
    EncodingChanged,
    /// A file of that name exists now, with other bytes.
    Exists,
    /// The file was to be deleted and the user changed it.
    ChangedSince,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Reason::Region => "you changed this region after the turn began",
            Reason::Deleted => "you deleted the file after the turn began",
            Reason::TypeChanged => "you replaced the file with something of another kind",
            Reason::BinaryChanged => "you changed this binary file after the turn began",
            Reason::EncodingChanged => "you saved the file in another encoding after the turn began",
            Reason::Exists => "a file of this name exists now, with other content",
            Reason::ChangedSince => "you changed the file that was to be deleted",
        })
    }
}

/// What an apply did with one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileReport {
    /// The file.
    pub path: RepoPath,
    /// Hunks that were written.
    pub landed: u32,
    /// Hunks that were there already.
    pub already_there: u32,
    /// Hunks that were set aside.
    pub set_aside: Option<SetAside>,
    /// The user's file as the apply leaves it, where something was set aside; `None` where it is gone.
    pub current: Option<File>,
}

/// Plans one file. `None` on a side means that the file is not there.
pub fn plan_file(base: Option<&File>, accepted: Option<&File>, user: Option<&File>) -> FilePlan {
    if base == accepted {
        return leave(0, 0);
    }
    let hunks = count_hunks(base, accepted);
    if user == accepted {
        return leave(0, hunks);
    }
    if let (None, Some(accepted), Some(user)) = (base, accepted, user)
        && accepted.bytes == user.bytes
        && is_link(accepted) == is_link(user)
    {
        // A new file is there by its bytes; the mode it has is the user's.
        return leave(0, hunks);
    }
    if user == base {
        let write = accepted.map_or(Write::Delete, |file| Write::Put(file.clone()));
        return FilePlan { write, ..leave(hunks, 0) };
    }
    let plan = match (base, accepted, user) {
        (None, _, _) => Err(Reason::Exists),
        (Some(_), None, _) => Err(Reason::ChangedSince),
        (Some(_), Some(_), None) => Err(Reason::Deleted),
        (Some(base), Some(accepted), Some(user)) => plan_both(base, accepted, user),
    };
    plan.unwrap_or_else(|reason| set_aside_whole(base, accepted, reason))
}

/// Plans a file that was renamed from one path to another: the user's edits go with it. `there` is what the
/// user has at the new path.
pub fn plan_rename(base: &File, accepted: &File, user: Option<&File>, there: Option<&File>) -> RenamePlan {
    let hunks = 1 + count_hunks(Some(base), Some(accepted));
    let keep = |landed, already_there| RenamePlan { old: Write::Leave, new: leave(landed, already_there) };
    let whole = |reason| {
        let mut new = set_aside_whole(Some(base), Some(accepted), reason);
        new.set_aside.iter_mut().for_each(|aside| aside.hunks = hunks);
        RenamePlan { old: Write::Leave, new }
    };
    let delete = |new| RenamePlan { old: Write::Delete, new };
    match (user, there) {
        (None, Some(there)) if there == accepted => keep(0, hunks),
        (None, _) => whole(Reason::Deleted),
        (Some(user), Some(there)) if there == accepted && user == base => delete(leave(hunks, 0)),
        (Some(_), Some(there)) if there == accepted => whole(Reason::ChangedSince),
        (Some(_), Some(_)) => whole(Reason::Exists),
        (Some(user), None) => match plan_both(base, accepted, user) {
            Err(reason) => whole(reason),
            Ok(plan) => {
                let moved = if let Write::Put(file) = plan.write { file } else { user.clone() };
                delete(FilePlan { write: Write::Put(moved), landed: plan.landed + 1, ..plan })
            }
        },
    }
}

/// Plans a file that is there on all sides.
fn plan_both(base: &File, accepted: &File, user: &File) -> Result<FilePlan, Reason> {
    if is_link(user) != is_link(base) || is_link(accepted) != is_link(base) {
        return Err(Reason::TypeChanged);
    }
    let mut plan = plan_content(base, accepted, user)?;
    if base.mode != accepted.mode {
        // The mode is an item of its own, decided apart from the content.
        if user.mode == accepted.mode {
            plan.already_there += 1;
        } else {
            plan.landed += 1;
            let file = if let Write::Put(file) = plan.write { file } else { user.clone() };
            plan.write = Write::Put(File { mode: accepted.mode, ..file });
        }
    }
    Ok(plan)
}

/// Plans the bytes of a file; the mode that is written is the user's.
fn plan_content(base: &File, accepted: &File, user: &File) -> Result<FilePlan, Reason> {
    let hunks = content_hunks(base, accepted);
    if accepted.bytes == base.bytes || accepted.bytes == user.bytes {
        Ok(leave(0, hunks))
    } else if user.bytes == base.bytes {
        let file = File { mode: user.mode, bytes: accepted.bytes.clone() };
        Ok(FilePlan { write: Write::Put(file), ..leave(hunks, 0) })
    } else if !is_text(base) || !is_text(accepted) {
        Err(Reason::BinaryChanged)
    } else if !is_text(user) || encoding_changed(base, user) {
        Err(Reason::EncodingChanged)
    } else {
        Ok(lines::plan_lines(base, accepted, user))
    }
}

fn leave(landed: u32, already_there: u32) -> FilePlan {
    FilePlan { write: Write::Leave, landed, already_there, set_aside: None }
}

fn set_aside_whole(base: Option<&File>, accepted: Option<&File>, reason: Reason) -> FilePlan {
    let change = match (base, accepted) {
        (base, Some(accepted)) if is_text(accepted) && base.is_none_or(is_text) => {
            let base = base.map(|file| file.bytes.0.as_slice()).unwrap_or_default();
            let edits = edits(base, &accepted.bytes.0).into_iter();
            edits.map(|edit| Meant { place: edit.old_range(), edit }).collect()
        }
        _ => Vec::new(),
    };
    let hunks = count_hunks(base, accepted);
    FilePlan { set_aside: Some(SetAside { reason, hunks, change }), ..leave(0, 0) }
}

fn is_link(file: &File) -> bool {
    file.mode == Mode::Symlink
}

fn count_hunks(base: Option<&File>, accepted: Option<&File>) -> u32 {
    match (base, accepted) {
        (Some(base), Some(accepted)) if is_link(base) == is_link(accepted) => {
            content_hunks(base, accepted) + u32::from(base.mode != accepted.mode)
        }
        _ => 1,
    }
}

fn content_hunks(base: &File, accepted: &File) -> u32 {
    if is_text(base) && is_text(accepted) {
        group(edits(&base.bytes.0, &accepted.bytes.0)).len() as u32
    } else {
        u32::from(base.bytes != accepted.bytes)
    }
}

/// How a text is encoded, as far as its bytes tell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    /// UTF-8 or one of its relatives, with nothing in it that would tell which.
    Ascii,
    Utf8,
    Utf8WithBom,
    /// One of the many with a byte for each character.
    EightBit,
}

fn encoding(file: &File) -> Encoding {
    let bytes = &file.bytes.0;
    match bytes {
        bytes if bytes.starts_with(b"\xef\xbb\xbf") => Encoding::Utf8WithBom,
        bytes if bytes.is_ascii() => Encoding::Ascii,
        bytes if std::str::from_utf8(bytes).is_ok() => Encoding::Utf8,
        _ => Encoding::EightBit,
    }
}

fn encoding_changed(base: &File, user: &File) -> bool {
    match (encoding(base), encoding(user)) {
        (Encoding::Utf8WithBom, now) => now != Encoding::Utf8WithBom,
        (_, Encoding::Utf8WithBom) => true,
        (Encoding::Utf8, now) => now == Encoding::EightBit,
        (Encoding::EightBit, now) => now == Encoding::Utf8,
        (Encoding::Ascii, _) => false,
    }
}

#[cfg(test)]
mod tests;
