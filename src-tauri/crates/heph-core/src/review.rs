//! A review while it is open: hunks, verdicts, comments.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::{
    constraint::Reproposal,
    diff::{FileHunks, Hunk, Item, without},
    id::{CommentId, HunkId},
    message::{Decision, FileResult, HunkResult, Outcome},
    path::RepoPath,
};

/// The user's verdict on a hunk. Without one a hunk is undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// It lands.
    Accepted,
    /// It does not, and is a constraint.
    Rejected,
}

/// A side of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    /// Before.
    Old,
    /// Proposed.
    New,
}

/// What a comment is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// The whole hunk.
    Hunk,
    /// One line.
    Line {
        /// The side it is counted on.
        side: Side,
        /// Its number, from 1.
        line: u32,
    },
}

/// A comment of the user's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// Its name.
    pub id: CommentId,
    /// The hunk it is about.
    pub hunk: HunkId,
    /// The user's words, exactly.
    pub text: String,
    /// What it is about.
    pub place: Place,
}

/// An open review.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    /// All that the model proposed, re-proposals too.
    proposed: Arc<Vec<FileHunks>>,
    /// What is asked about: the proposed hunks without the refused ones.
    files: Arc<Vec<FileHunks>>,
    /// What was refused before the review opened.
    refused: Vec<Reproposal>,
    verdicts: BTreeMap<HunkId, Verdict>,
    comments: Vec<Comment>,
}

impl Review {
    /// A review of `proposed` without the re-proposals in `refused`.
    pub fn new(proposed: Vec<FileHunks>, refused: Vec<Reproposal>) -> Review {
        let proposed = Arc::new(proposed);
        let mut review = Review {
            files: proposed.clone(),
            proposed,
            refused: Vec::new(),
            verdicts: BTreeMap::new(),
            comments: Vec::new(),
        };
        review.set_refused(refused);
        review
    }

    fn set_refused(&mut self, refused: Vec<Reproposal>) {
        self.refused = refused;
        let files = match self.refused.is_empty() {
            true => self.proposed.clone(),
            false => {
                let gone: BTreeSet<HunkId> =
                    self.refused.iter().map(|refused| refused.hunk.clone()).collect();
                Arc::new(without(&self.proposed, &gone))
            }
        };
        let before = std::mem::replace(&mut self.files, files);
        // A hunk that comes in above moves the proposed lines that comments are about.
        for comment in &mut self.comments {
            if let Place::Line { side: Side::New, line } = &mut comment.place {
                let first = |files: &[FileHunks]| {
                    let hunk = files.iter().flat_map(|file| &file.hunks).find(|hunk| hunk.id == comment.hunk);
                    hunk.and_then(Hunk::first_proposed_line)
                };
                if let (Some(from), Some(to)) = (first(&before), first(&self.files)) {
                    *line = line.saturating_add_signed((to as i64 - from as i64) as i32);
                }
            }
        }
    }

    /// The files that are asked about.
    pub fn files(&self) -> &Arc<Vec<FileHunks>> {
        &self.files
    }

    /// The hunks that are asked about, in order.
    pub fn hunks(&self) -> impl Iterator<Item = &Hunk> {
        self.files.iter().flat_map(|file| &file.hunks)
    }

    /// What was refused before the review opened, each with its hunk.
    pub fn refused(&self) -> impl Iterator<Item = (&Reproposal, &Hunk)> {
        let proposed = || self.proposed.iter().flat_map(|file| &file.hunks);
        self.refused
            .iter()
            .filter_map(move |refused| Some((refused, proposed().find(|hunk| hunk.id == refused.hunk)?)))
    }

    /// The verdict on a hunk.
    pub fn verdict(&self, hunk: &HunkId) -> Option<Verdict> {
        self.verdicts.get(hunk).copied()
    }

    /// All comments, in the order they were made.
    pub fn comments(&self) -> &[Comment] {
        &self.comments
    }

    /// The comments on a hunk, in the order they were made.
    pub fn comments_on<'a>(&'a self, hunk: &'a HunkId) -> impl Iterator<Item = &'a Comment> {
        self.comments.iter().filter(move |comment| comment.hunk == *hunk)
    }

    /// Hunks without a verdict.
    pub fn undecided(&self) -> usize {
        self.hunks().filter(|hunk| !self.verdicts.contains_key(&hunk.id)).count()
    }

    /// Hunks with this verdict.
    pub fn with_verdict(&self, verdict: Verdict) -> impl Iterator<Item = &Hunk> {
        self.hunks().filter(move |hunk| self.verdict(&hunk.id) == Some(verdict))
    }

    pub(crate) fn hunk(&self, id: &HunkId) -> Option<&Hunk> {
        self.hunks().find(|hunk| hunk.id == *id)
    }

    pub(crate) fn decide(&mut self, hunk: HunkId, verdict: Option<Verdict>) {
        match verdict {
            Some(verdict) => self.verdicts.insert(hunk, verdict),
            None => self.verdicts.remove(&hunk),
        };
    }

    pub(crate) fn decide_rest(&mut self, verdict: Verdict, which: impl Fn(&Hunk) -> bool) {
        let rest: Vec<HunkId> = self
            .hunks()
            .filter(|hunk| self.verdict(&hunk.id).is_none() && which(hunk))
            .map(|hunk| hunk.id.clone())
            .collect();
        self.verdicts.extend(rest.into_iter().map(|hunk| (hunk, verdict)));
    }

    pub(crate) fn comment(&mut self, comment: Comment) {
        self.comments.push(comment);
    }

    /// Whether there was such a comment.
    pub(crate) fn uncomment(&mut self, id: &CommentId) -> bool {
        let before = self.comments.len();
        self.comments.retain(|comment| comment.id != *id);
        self.comments.len() < before
    }

    /// Puts a refused hunk into the review. Returns its re-proposal, or `None` where there is none.
    pub(crate) fn ask_about(&mut self, hunk: &HunkId) -> Option<Reproposal> {
        let at = self.refused.iter().position(|refused| refused.hunk == *hunk)?;
        let mut refused = self.refused.clone();
        let asked = refused.remove(at);
        self.set_refused(refused);
        Some(asked)
    }

    /// The result as the model is told it.
    pub(crate) fn outcome(&self) -> Outcome {
        let mut files: Vec<FileResult> = Vec::new();
        for file in self.proposed.iter() {
            let asked = self.files.iter().find(|own| own.path == file.path);
            let hunks =
                asked.map(|own| own.hunks.as_slice()).unwrap_or_default().iter().map(|hunk| HunkResult {
                    what: hunk.what(),
                    decision: match self.verdict(&hunk.id) {
                        Some(Verdict::Accepted) => Decision::Accepted,
                        Some(Verdict::Rejected) => Decision::Rejected,
                        None => Decision::Undecided,
                    },
                    rationale: hunk.rationale.clone(),
                    comments: self.comments_on(&hunk.id).cloned().collect(),
                });
            let reproposed =
                self.refused().filter(|(_, hunk)| hunk.path == file.path).map(|(_, hunk)| hunk.what());
            files.push(FileResult {
                path: file.path.clone(),
                hunks: hunks.collect(),
                reproposed: reproposed.collect(),
            });
        }
        Outcome { files, not_reached: None }
    }
}

impl Hunk {
    /// The number of its first proposed line, context included; `None` for an item without lines.
    fn first_proposed_line(&self) -> Option<usize> {
        match &self.item {
            Item::Lines { new, .. } => Some(new.first),
            _ => None,
        }
    }

    /// Whether a comment can be about this line of it.
    pub(crate) fn has_line(&self, side: Side, line: usize) -> bool {
        let count = || self.changed_lines().len();
        let lines = match (&self.item, side) {
            (Item::Lines { old, .. }, Side::Old) => old.first..old.first + old.count,
            (Item::Lines { new, .. }, Side::New) => new.first..new.first + new.count,
            (Item::Create(_), Side::New) | (Item::Delete(_), Side::Old) => 1..count() + 1,
            _ => return false,
        };
        lines.contains(&line)
    }
}

/// Why *Accept all* leaves a file out, where it does: it runs on the user's machine, or says what does.
pub fn runs_on_your_machine(path: &RepoPath) -> Option<&'static str> {
    let path = path.display().to_lowercase();
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let in_folder = |wanted: &str| format!("{folder}/").contains(&format!("{wanted}/"));
    let reason = match name {
        ".envrc" => "environment of your shell",
        "package.json" => "package scripts",
        "build.rs" | "makefile" | "justfile" | "setup.py" | "build.gradle" | "build.gradle.kts" => {
            "build script"
        }
        "heph.toml" => "gates of this repository",
        ".gitattributes" => "filters of git",
        ".gitlab-ci.yml" | "jenkinsfile" => "CI workflow",
        _ if in_folder(".github") || in_folder(".circleci") || in_folder(".ci") => "CI workflow",
        _ if in_folder("hooks") || in_folder(".husky") || in_folder(".githooks") => "hook",
        _ if in_folder(".vscode") || in_folder(".idea") || in_folder(".zed") => "task of an editor",
        _ if in_folder(".cargo") => "build configuration",
        _ => return None,
    };
    Some(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_on_the_users_machine_is_marked() {
        for path in [
            ".github/workflows/ci.yml",
            ".husky/pre-commit",
            "build.rs",
            "web/package.json",
            ".envrc",
            "heph.toml",
        ] {
            assert!(runs_on_your_machine(&RepoPath::new(path).unwrap()).is_some(), "{path}");
        }
        for path in ["src/main.rs", "docs/build.rs.md", "src/hook.rs"] {
            assert!(runs_on_your_machine(&RepoPath::new(path).unwrap()).is_none(), "{path}");
        }
    }
}
