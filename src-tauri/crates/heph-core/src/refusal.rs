//! What no accepted state may hold, whatever the verdict.

use crate::{
    diff::{Hunk, Item},
    file::File,
    path::RepoPath,
};

/// Why `hunk` cannot be accepted, where it cannot: it makes a symbolic link that points out of the
/// repository, or into git's own folder. A rename makes none: a link that its new place would turn so is
/// no rename ([`crate::rename`]).
pub fn cannot_be_accepted(hunk: &Hunk) -> Option<&'static str> {
    let made = match &hunk.item {
        Item::Create(file) | Item::Replace { new: file, .. } => file,
        Item::Lines { .. }
        | Item::Delete(_)
        | Item::Mode { .. }
        | Item::Rename
        | Item::LineEndings { .. } => return None,
    };
    link_leaves(&hunk.path, made).then_some("a link that points out of the repository")
}

/// Whether `file`, lying at `path`, is a link that points out of the repository or into git's own folder.
pub(crate) fn link_leaves(path: &RepoPath, file: &File) -> bool {
    if !file.is_link() {
        return false;
    }
    let target = file.bytes.0.as_slice();
    if target.starts_with(b"/") || target.starts_with(b"\\") {
        return true;
    }
    let mut place: Vec<&[u8]> = path.as_bytes().split(|byte| *byte == b'/').collect();
    place.pop();
    for part in target.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                if place.pop().is_none() {
                    return true;
                }
            }
            part => place.push(part),
        }
    }
    !place.is_empty() && RepoPath::new(place.join(&b'/')).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        diff::hunks,
        file::{FileChange, Mode},
        text::Bytes,
    };

    #[test]
    fn a_link_may_point_inside_the_repository_only() {
        let refused = |path: &str, target: &str| {
            let link = File { mode: Mode::Symlink, bytes: Bytes(target.into()) };
            let change =
                FileChange { path: RepoPath::new(path).unwrap(), old_path: None, old: None, new: Some(link) };
            cannot_be_accepted(&hunks(&change).hunks[0]).is_some()
        };
        for (path, target) in [
            ("a", "/etc/passwd"),
            ("a", "../x"),
            ("d/a", "../../x"),
            ("a", ".git/config"),
            ("d/a", "../.GIT"),
        ] {
            assert!(refused(path, target), "{path} -> {target}");
        }
        for (path, target) in [("a", "b"), ("d/a", "../b"), ("d/a", "../d/./b"), ("d/a", "..")] {
            assert!(!refused(path, target), "{path} -> {target}");
        }
    }
}
