//! Paths inside a repository, as bytes.

use serde::{Deserialize, Serialize};

use crate::text::Bytes;

/// A path relative to the repository's root: bytes, `/` between components, as git has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RepoPath(Bytes);

/// Why bytes are no [`RepoPath`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Nothing is named.
    #[error("the path is empty")]
    Empty,
    /// It starts at the root of the file system.
    #[error("{0} is absolute; paths are relative to the repository's root")]
    Absolute(String),
    /// It has a `..`.
    #[error("{0} leaves the worktree")]
    Leaves(String),
    /// It has a component that a file system may take for `.git`.
    #[error("{0} lies in git's own folder")]
    Git(String),
}

impl RepoPath {
    /// Takes `path` after removing `.` components and doubled slashes.
    ///
    /// # Errors
    /// For an empty or absolute path, one with `..`, and one with a `.git` component in any
    /// spelling that a file system takes for it.
    pub fn new(path: impl AsRef<[u8]>) -> Result<RepoPath, PathError> {
        let path = path.as_ref();
        let shown = || String::from_utf8_lossy(path).into_owned();
        if path.starts_with(b"/") {
            return Err(PathError::Absolute(shown()));
        }
        let mut parts: Vec<&[u8]> = Vec::new();
        for part in path.split(|&b| b == b'/') {
            match part {
                b"" | b"." => {}
                b".." => return Err(PathError::Leaves(shown())),
                part if is_dot_git(part) => return Err(PathError::Git(shown())),
                part => parts.push(part),
            }
        }
        if parts.is_empty() {
            return Err(PathError::Empty);
        }
        Ok(RepoPath(Bytes(parts.join(&b'/'))))
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0.0
    }

    /// A path as one line. One that could be taken for something else is quoted as git quotes it (`quote.c`):
    /// control characters escaped, by name or as octal bytes, and the marks that quoting uses.
    pub fn shown(&self) -> String {
        let plain = self.display();
        let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        if !plain.contains(|c| breaks(c) || matches!(c, '"' | '\\')) {
            return plain;
        }
        let mut out = String::from("\"");
        for c in plain.chars() {
            match c {
                '\u{7}' => out.push_str("\\a"),
                '\u{8}' => out.push_str("\\b"),
                '\t' => out.push_str("\\t"),
                '\n' => out.push_str("\\n"),
                '\u{b}' => out.push_str("\\v"),
                '\u{c}' => out.push_str("\\f"),
                '\r' => out.push_str("\\r"),
                '"' | '\\' => out.extend(['\\', c]),
                c if breaks(c) => {
                    let mut bytes = [0; 4];
                    for byte in c.encode_utf8(&mut bytes).bytes() {
                        out.push_str(&format!("\\{byte:03o}"));
                    }
                }
                c => out.push(c),
            }
        }
        out.push('"');
        out
    }

    /// For people and models: bytes that are not UTF-8 become the replacement character.
    pub fn display(&self) -> String {
        String::from_utf8_lossy(self.as_bytes()).into_owned()
    }
}

impl std::fmt::Display for RepoPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.display())
    }
}

/// Whether some file system takes `part` for `.git`: case folded, trailing dots and spaces dropped
/// and streams cut (NTFS), its short name `git~1`, and with the code points that HFS+ ignores.
/// The spellings are those that git itself refuses (`verify_path` in its read-cache.c, `utf8.c`).
fn is_dot_git(part: &[u8]) -> bool {
    let text = String::from_utf8_lossy(part);
    let visible: String = text
        .chars()
        .filter(|c| !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'))
        .collect();
    let stem = visible.split([':', '\\']).next().unwrap_or_default().trim_end_matches(['.', ' ']);
    stem.eq_ignore_ascii_case(".git") || stem.eq_ignore_ascii_case("git~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_cannot_leave_the_worktree_or_name_git() {
        for bad in [
            "",
            ".",
            "/etc/passwd",
            "../x",
            "a/../../x",
            ".git/config",
            "a/.GIT/hooks/x",
            ".git./x",
            "git~1/x",
            ".git::$INDEX_ALLOCATION/x",
            ".g\u{200c}it/x",
        ] {
            assert!(RepoPath::new(bad).is_err(), "{bad}");
        }
        for (given, kept) in [("./src//a.rs", "src/a.rs"), (".gitignore", ".gitignore"), ("a..b/c", "a..b/c")]
        {
            assert_eq!(RepoPath::new(given).unwrap().as_bytes(), kept.as_bytes());
        }
    }
}
