//! What becomes of each of the user's files when accepted hunks are written: a three-way plan.
//!
//! The sides are the base (the user's file when it was recorded), the accepted state, and the user's
//! file as it is now. A byte of the user's that the base does not hold is never overwritten: a hunk
//! that would touch one is set aside.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::{
    compose::replace_lines,
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
    /// The lines (from 0) of the user's text that stand where the edit's lines and the user's own changes
    /// that touch them lie; empty where nothing stands there, or there is no such text.
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
    /// The user's file as it is, where something was set aside; `None` where it is gone.
    pub current: Option<File>,
}

/// Plans one file. `None` on a side means that the file is not there.
pub fn plan_file(base: Option<&File>, accepted: Option<&File>, user: Option<&File>) -> FilePlan {
    let leave =
        |landed, already_there| FilePlan { write: Write::Leave, landed, already_there, set_aside: None };
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
        return FilePlan { write, landed: hunks, already_there: 0, set_aside: None };
    }
    let change = || match (base, accepted) {
        (base, Some(accepted)) if is_text(accepted) && base.is_none_or(is_text) => {
            let meant =
                edits(base.map(|file| file.bytes.0.as_slice()).unwrap_or_default(), &accepted.bytes.0);
            meant.into_iter().map(|edit| Meant { place: place(&edit, &[]), edit }).collect()
        }
        _ => Vec::new(),
    };
    let whole =
        |reason| FilePlan { set_aside: Some(SetAside { reason, hunks, change: change() }), ..leave(0, 0) };
    let (base, accepted, user) = match (base, accepted, user) {
        (None, _, _) => return whole(Reason::Exists),
        (Some(_), None, _) => return whole(Reason::ChangedSince),
        (Some(_), Some(_), None) => return whole(Reason::Deleted),
        (Some(base), Some(accepted), Some(user)) => (base, accepted, user),
    };
    if is_link(user) != is_link(base) || is_link(accepted) != is_link(base) {
        return whole(Reason::TypeChanged);
    }
    if !(is_text(base) && is_text(accepted) && is_text(user)) {
        return whole(Reason::BinaryChanged);
    }
    plan_lines(base, accepted, user)
}

fn is_link(file: &File) -> bool {
    file.mode == Mode::Symlink
}

fn count_hunks(base: Option<&File>, accepted: Option<&File>) -> u32 {
    match (base, accepted) {
        (Some(base), Some(accepted)) if is_text(base) && is_text(accepted) => {
            let groups = group(edits(&base.bytes.0, &accepted.bytes.0)).len() as u32;
            groups + u32::from(base.mode != accepted.mode)
        }
        _ => 1,
    }
}

fn plan_lines(base: &File, accepted: &File, user: &File) -> FilePlan {
    let theirs = edits(&base.bytes.0, &user.bytes.0);
    let mut plan = FilePlan { write: Write::Leave, landed: 0, already_there: 0, set_aside: None };
    let mut landing: Vec<Edit> = Vec::new();
    for hunk in group(edits(&base.bytes.0, &accepted.bytes.0)) {
        let there = |edit: &Edit| {
            theirs
                .iter()
                .any(|own| own.old_start == edit.old_start && own.old == edit.old && own.new == edit.new)
        };
        if hunk.iter().all(there) {
            plan.already_there += 1;
        } else if hunk.iter().any(|edit| theirs.iter().any(|own| touches(own, edit))) {
            let set_aside = plan.set_aside.get_or_insert(SetAside {
                reason: Reason::Region,
                hunks: 0,
                change: Vec::new(),
            });
            set_aside.hunks += 1;
            let meant = hunk.into_iter().map(|edit| Meant { place: place(&edit, &theirs), edit });
            set_aside.change.extend(meant);
        } else {
            plan.landed += 1;
            landing.extend(hunk);
        }
    }
    let mut result = user.clone();
    if base.mode != accepted.mode {
        // The mode is an item of its own, decided apart from the lines.
        if user.mode == accepted.mode {
            plan.already_there += 1;
        } else {
            result.mode = accepted.mode;
            plan.landed += 1;
        }
    }
    for edit in &mut landing {
        edit.old_start = place(edit, &theirs).start;
    }
    result.bytes.0 = replace_lines(&user.bytes.0, &landing.iter().collect::<Vec<_>>())
        .expect("lines that no change of the user's touches are in the user's text, where they moved to");
    if result != *user {
        plan.write = Write::Put(result);
    }
    plan
}

/// Whether two changes of the base overlap, or have no unchanged line between them.
fn touches(a: &Edit, b: &Edit) -> bool {
    let (a, b) = (a.old_range(), b.old_range());
    a.start <= b.end && b.start <= a.end
}

/// The lines of the user's text that stand where the edit and the user's changes that touch it lie.
fn place(edit: &Edit, theirs: &[Edit]) -> Range<usize> {
    let mut lines = edit.old_range();
    let (mut before, mut within) = (0, 0);
    for own in theirs {
        let growth = own.new.len() as isize - own.old.len() as isize;
        if touches(own, edit) {
            lines = lines.start.min(own.old_start)..lines.end.max(own.old_range().end);
            within += growth;
        } else if own.old_start < edit.old_start {
            before += growth;
        }
    }
    lines.start.saturating_add_signed(before)..lines.end.saturating_add_signed(before + within)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Bytes;

    fn file(text: &str) -> File {
        File { mode: Mode::Regular, bytes: Bytes(text.into()) }
    }

    fn plan(base: &str, accepted: &str, user: &str) -> FilePlan {
        plan_file(Some(&file(base)), Some(&file(accepted)), Some(&file(user)))
    }

    fn written(plan: &FilePlan) -> &str {
        match &plan.write {
            Write::Put(file) => std::str::from_utf8(&file.bytes.0).unwrap(),
            _ => "",
        }
    }

    const BASE: &str = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np\nq\nr\n";

    #[test]
    fn a_hunk_lands_where_its_lines_moved_to() {
        let accepted = BASE.replace("o\n", "fifteen\n");
        let user = BASE.replace("b\n", "b\nmine\n");
        let plan = plan(BASE, &accepted, &user);
        assert_eq!(written(&plan), user.replace("o\n", "fifteen\n"));
        assert_eq!((plan.landed, plan.already_there, plan.set_aside), (1, 0, None));
    }

    #[test]
    fn the_users_region_stands_and_the_files_other_hunks_land() {
        let accepted = BASE.replace("c\n", "three\n").replace("o\n", "fifteen\n");
        let user = BASE.replacen("c\n", "my c\n", 1);
        let plan = plan(BASE, &accepted, &user);
        assert_eq!(written(&plan), user.replace("o\n", "fifteen\n"));
        let set_aside = plan.set_aside.unwrap();
        assert_eq!((set_aside.reason, set_aside.hunks), (Reason::Region, 1));
        assert_eq!(set_aside.change[0].edit.new[0].0, b"three\n");
    }

    #[test]
    fn a_change_right_beside_the_users_is_set_aside() {
        let accepted = BASE.replace("e\n", "five\n");
        for user in [
            BASE.replace("d\n", "four\n"),
            BASE.replace("f\n", "six\n"),
            BASE.replacen("e\n", "e\nmine\n", 1),
        ] {
            let plan = plan(BASE, &accepted, &user);
            assert_eq!(plan.write, Write::Leave, "{user}");
            assert_eq!(plan.set_aside.unwrap().hunks, 1);
        }
    }

    #[test]
    fn what_the_user_made_already_is_left_alone() {
        let accepted = BASE.replace("o\n", "fifteen\n");
        let user = accepted.replacen("b\n", "two\n", 1);
        let plan = plan(BASE, &accepted, &user);
        assert_eq!((plan.landed, plan.already_there, plan.write), (0, 1, Write::Leave));
    }

    #[test]
    fn a_file_that_the_user_deleted_or_made_is_set_aside_whole() {
        let (base, accepted) = (file("a\n"), file("b\n"));
        let reason = |plan: FilePlan| plan.set_aside.map(|aside| aside.reason);
        assert_eq!(reason(plan_file(Some(&base), Some(&accepted), None)), Some(Reason::Deleted));
        assert_eq!(reason(plan_file(None, Some(&accepted), Some(&base))), Some(Reason::Exists));
        assert_eq!(reason(plan_file(Some(&base), None, Some(&accepted))), Some(Reason::ChangedSince));
        let new = plan_file(None, Some(&accepted), Some(&accepted));
        assert_eq!((new.already_there, new.write), (1, Write::Leave));
        assert_eq!(plan_file(Some(&base), None, Some(&base)).write, Write::Delete);
    }

    #[test]
    fn a_new_file_whose_bytes_are_there_with_another_mode_is_there_already() {
        let executable = File { mode: Mode::Executable, ..file("a\n") };
        let new = plan_file(None, Some(&executable), Some(&file("a\n")));
        assert_eq!((new.already_there, new.set_aside, new.write), (1, None, Write::Leave));
        let link = File { mode: Mode::Symlink, ..file("a\n") };
        let new = plan_file(None, Some(&link), Some(&file("a\n")));
        assert_eq!(new.set_aside.map(|aside| aside.reason), Some(Reason::Exists));
    }

    #[test]
    fn what_is_set_aside_says_where_the_users_own_text_stands() {
        let accepted = BASE.replace("c\n", "three\n").replace("o\n", "fifteen\n");
        let user = BASE.replacen("a\n", "mine\nmine\na\n", 1).replace("n\no\n", "my n\nmy o\nmy own\n");
        let plan = plan(BASE, &accepted, &user);
        let set_aside = plan.set_aside.unwrap();
        assert_eq!(set_aside.change[0].edit.old_start, 14);
        let lines: Vec<&str> = user.lines().collect();
        assert_eq!(lines[set_aside.change[0].place.clone()], ["my n", "my o", "my own"]);
    }
}
