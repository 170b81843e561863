//! Ignore rules, with git's precedence.

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

use crate::folder::os;

/// The rules of one file, which speak of the folder that it lies in.
pub(crate) struct Rules(Gitignore);

/// What rules say of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is left out, unless it is tracked.
    Ignored,
    /// It is part of the tree.
    Shown,
}

/// What a path is, as far as rules care.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// A file, or a link to anything.
    File,
    /// A folder.
    Folder,
}

impl Rules {
    /// Reads a `.gitignore`. Lines that are no pattern are passed over, as git does.
    pub(crate) fn parse(file: &[u8]) -> Rules {
        let mut builder = GitignoreBuilder::new("");
        let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
        for line in file.split(|&b| b == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let _passed_over = builder.add_line(None, &String::from_utf8_lossy(line));
        }
        Rules(builder.build().unwrap_or_else(|_| Gitignore::empty()))
    }
}

/// The rules that hold in a folder: those of the repository, then those of each folder on the way.
#[derive(Default)]
pub(crate) struct Stack(Vec<(usize, Rules)>);

impl Stack {
    /// Adds rules for what lies in the folder `path`; the latest say goes first.
    pub(crate) fn push(&mut self, path: &[u8], rules: Rules) {
        self.0.push((if path.is_empty() { 0 } else { path.len() + 1 }, rules));
    }

    /// Takes back the latest rules.
    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    /// What becomes of `path`, whose folder is not ignored.
    pub(crate) fn fate(&self, path: &[u8], what: What) -> Fate {
        for (start, rules) in self.0.iter().rev() {
            match rules.0.matched(os(&path[*start..]), what == What::Folder) {
                Match::Ignore(_) => return Fate::Ignored,
                Match::Whitelist(_) => return Fate::Shown,
                Match::None => {}
            }
        }
        Fate::Shown
    }
}
