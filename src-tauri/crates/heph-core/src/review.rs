//! A review while it is open: hunks, verdicts, comments.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::Range,
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::{
    constraint::Reproposal,
    diff::{Edit, FileHunks, Hunk, Item, without},
    file::File,
    id::{CommentId, HunkId},
    message::{Decision, FileResult, HunkResult, Outcome},
    path::RepoPath,
    split::{split, split_rows},
    text::Bytes,
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

/// What a review is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// What the round proposes.
    Round,
    /// All that the turn accepted, once more.
    Accepted,
    /// The user's own tree.
    Tree,
}

/// A file as the user wrote it in the place of a proposed one. It decides all hunks of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edited {
    /// It.
    pub file: File,
    /// What it changes of the accepted state.
    pub hunks: Vec<Hunk>,
    /// The lines of it that are not as proposed, from 0; where lines were only taken away, the empty range
    /// there.
    pub own: Vec<Range<usize>>,
}

/// An edited file and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedFile {
    /// Where it lies.
    pub path: RepoPath,
    /// Where it lay in the state that is changed, where that is another place.
    pub old_path: Option<RepoPath>,
    /// It.
    pub file: File,
}

/// A review.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    subject: Subject,
    /// All that the model proposed, re-proposals too.
    proposed: Arc<Vec<FileHunks>>,
    /// What is asked about: the proposed hunks without the refused ones.
    files: Arc<Vec<FileHunks>>,
    /// What was refused before the review opened.
    refused: Vec<Reproposal>,
    verdicts: BTreeMap<HunkId, Verdict>,
    edited: BTreeMap<RepoPath, Edited>,
    comments: Vec<Comment>,
}

impl Review {
    /// A review of `proposed` without the re-proposals in `refused`.
    pub fn new(subject: Subject, proposed: Vec<FileHunks>, refused: Vec<Reproposal>) -> Review {
        let proposed = Arc::new(proposed);
        let mut review = Review {
            subject,
            files: proposed.clone(),
            proposed,
            refused: Vec::new(),
            verdicts: BTreeMap::new(),
            edited: BTreeMap::new(),
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

    /// What it is of.
    pub fn subject(&self) -> Subject {
        self.subject
    }

    /// All that was proposed, with what was refused.
    pub fn proposed(&self) -> &Arc<Vec<FileHunks>> {
        &self.proposed
    }

    /// The user's own text of a file.
    pub fn edited(&self, path: &RepoPath) -> Option<&Edited> {
        self.edited.get(path)
    }

    /// The files that the user wrote, and their places.
    pub fn edited_files(&self) -> impl Iterator<Item = (EditedFile, &Edited)> {
        self.edited.iter().map(|(path, edited)| {
            let (path, old_path) = self.place_of(path);
            (EditedFile { path, old_path, file: edited.file.clone() }, edited)
        })
    }

    /// Where a file lies with the hunks that are asked about, and where it lay before, where that is another
    /// place: where its rename was refused, it lies where it lay.
    pub fn place_of(&self, path: &RepoPath) -> (RepoPath, Option<RepoPath>) {
        let hunks = self.file(path).map(|file| file.hunks.as_slice()).unwrap_or_default();
        let is_renamed = hunks.iter().any(|hunk| hunk.item == Item::Rename);
        match hunks.first() {
            Some(first) if is_renamed => (path.clone(), first.old_path.clone()),
            Some(first) => (first.source().clone(), None),
            None => (path.clone(), None),
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

    /// Hunks that nothing decides yet.
    pub fn undecided(&self) -> usize {
        self.hunks().filter(|hunk| !self.is_decided(hunk)).count()
    }

    fn is_decided(&self, hunk: &Hunk) -> bool {
        self.verdicts.contains_key(&hunk.id) || self.edited.contains_key(&hunk.path)
    }

    /// Hunks with this verdict, but for those that the user's own text decides.
    pub fn with_verdict(&self, verdict: Verdict) -> impl Iterator<Item = &Hunk> {
        self.hunks().filter(move |hunk| {
            self.verdict(&hunk.id) == Some(verdict) && !self.edited.contains_key(&hunk.path)
        })
    }

    pub(crate) fn hunk(&self, id: &HunkId) -> Option<&Hunk> {
        self.hunks().find(|hunk| hunk.id == *id)
    }

    pub(crate) fn file(&self, path: &RepoPath) -> Option<&FileHunks> {
        self.files.iter().find(|file| file.path == *path)
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
            .filter(|hunk| !self.is_decided(hunk) && which(hunk))
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

    /// Puts the user's own text in a file's place, or withdraws it.
    pub(crate) fn edit(&mut self, path: RepoPath, edited: Option<Edited>) {
        match edited {
            Some(edited) => self.edited.insert(path, edited),
            None => self.edited.remove(&path),
        };
    }

    /// Takes all of the user's own text back.
    pub(crate) fn withdraw_edits(&mut self) {
        self.edited.clear();
    }

    /// Splits a hunk at these rows. `None` where it cannot be split there.
    pub(crate) fn split(&mut self, hunk: &HunkId, at: &[usize]) -> Option<()> {
        let mut proposed = (*self.proposed).clone();
        let file = proposed.iter_mut().find(|file| file.hunks.iter().any(|own| own.id == *hunk))?;
        let place = file.hunks.iter().position(|own| own.id == *hunk)?;
        let mut parts = split(&file.hunks[place], at)?;
        let mut taken: BTreeSet<HunkId> =
            file.hunks.iter().map(|own| own.id.clone()).filter(|own| own != hunk).collect();
        for part in &mut parts {
            let content = part.content().to_owned();
            let mut number = 0;
            while !taken.insert(part.id.clone()) {
                number += 1;
                part.id = HunkId(format!("{content}-{number}"));
            }
        }
        let names: Vec<HunkId> = parts.iter().map(|part| part.id.clone()).collect();
        file.hunks.splice(place..=place, parts);
        self.proposed = Arc::new(proposed);
        self.verdicts.remove(hunk);
        self.set_refused(self.refused.clone());
        self.rehome(hunk, |own| names.contains(&own.id));
        Some(())
    }

    /// Splits hunks wherever two changes of theirs were hunks apart in `before`, which had the same changes but
    /// for those of `more`.
    fn split_as(&mut self, before: &Review, more: &Hunk) {
        type Change<'a> = (&'a RepoPath, &'a [Bytes], &'a [Bytes]);
        fn change<'a>(hunk: &'a Hunk, edit: &'a Edit) -> Change<'a> {
            (&hunk.path, &edit.old, &edit.new)
        }
        let mut of: HashMap<Change<'_>, Option<&HunkId>> = HashMap::new();
        for hunk in before.proposed.iter().flat_map(|file| &file.hunks).chain([more]) {
            for edit in hunk.edits() {
                // What was changed alike in two places says nothing of either.
                of.entry(change(hunk, edit)).and_modify(|known| *known = None).or_insert(Some(&hunk.id));
            }
        }
        let proposed = self.proposed.clone();
        for hunk in proposed.iter().flat_map(|file| &file.hunks) {
            let own: Vec<_> =
                hunk.edits().iter().map(|edit| of.get(&change(hunk, edit)).copied().flatten()).collect();
            let apart =
                |pair: &[Option<&HunkId>]| pair[0].is_some() && pair[1].is_some() && pair[0] != pair[1];
            let rows = split_rows(hunk).into_iter().zip(own.windows(2));
            let at: Vec<usize> = rows.filter(|(_, pair)| apart(pair)).map(|(row, _)| row).collect();
            if !at.is_empty() {
                let _parts = self.split(&hunk.id, &at);
            }
        }
    }

    /// Gives the comments on a hunk that is gone to the first of `heirs` that has their line, or else to
    /// the first.
    fn rehome(&mut self, gone: &HunkId, heirs: impl Fn(&Hunk) -> bool) {
        let files = self.files.clone();
        let heirs: Vec<&Hunk> =
            files.iter().flat_map(|file| &file.hunks).filter(|hunk| heirs(hunk)).collect();
        for comment in self.comments.iter_mut().filter(|comment| comment.hunk == *gone) {
            let has_line = |hunk: &&&Hunk| match comment.place {
                Place::Hunk => true,
                Place::Line { side, line } => hunk.has_line(side, line as usize),
            };
            match heirs.iter().find(has_line) {
                Some(heir) => comment.hunk = heir.id.clone(),
                None => {
                    comment.place = Place::Hunk;
                    if let Some(heir) = heirs.first() {
                        comment.hunk = heir.id.clone();
                    }
                }
            }
        }
    }

    /// The same review after the state that it is compared with has lost a hunk: `proposed` is the new
    /// difference. The hunks that come back are rejected; verdicts, comments and edits stay.
    pub(crate) fn with_taken_back(&self, taken: &Hunk, proposed: Vec<FileHunks>) -> Review {
        let refused: Vec<Reproposal> = {
            let still = |id: &HunkId| proposed.iter().any(|file| file.hunks.iter().any(|own| own.id == *id));
            self.refused.iter().filter(|refused| still(&refused.hunk)).cloned().collect()
        };
        let mut review = Review::new(self.subject, proposed, refused);
        review.split_as(self, taken);
        review.edited = self.edited.clone();
        review.comments = self.comments.clone();
        let known: BTreeSet<&HunkId> = self.hunks().map(|hunk| &hunk.id).collect();
        let files = review.files.clone();
        for hunk in files.iter().flat_map(|file| &file.hunks) {
            if known.contains(&hunk.id) {
                review.decide(hunk.id.clone(), self.verdict(&hunk.id));
            } else if is_part(hunk, taken) {
                review.decide(hunk.id.clone(), Some(Verdict::Rejected));
            }
        }
        for hunk in self.hunks().filter(|hunk| review.hunk(&hunk.id).is_none()).cloned().collect::<Vec<_>>() {
            review.rehome(&hunk.id, |heir| heir.path == hunk.path);
        }
        review
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
        self.outcome_of(|_| true)
    }

    /// What is told of the hunks that the user has commented on, before the review is finished.
    pub(crate) fn commented(&self) -> Outcome {
        let mut outcome = self.outcome_of(|hunk| self.comments_on(&hunk.id).next().is_some());
        outcome.files.retain(|file| !file.hunks.is_empty());
        for file in &mut outcome.files {
            file.reproposed.clear();
        }
        outcome
    }

    fn outcome_of(&self, told: impl Fn(&Hunk) -> bool) -> Outcome {
        let mut files: Vec<FileResult> = Vec::new();
        for file in self.proposed.iter() {
            let hunks = self.file(&file.path).map(|own| own.hunks.as_slice()).unwrap_or_default();
            let hunks =
                hunks.iter().zip(1..).filter(|(hunk, _)| told(hunk)).map(|(hunk, number)| HunkResult {
                    number,
                    what: hunk.what(),
                    decision: match self.verdict(&hunk.id) {
                        _ if self.edited.contains_key(&hunk.path) => Decision::Edited,
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

/// Whether all that `hunk` changes is of `whole`, wherever it lies.
fn is_part(hunk: &Hunk, whole: &Hunk) -> bool {
    let is_of_whole =
        |edit: &Edit| whole.edits().iter().any(|own| (&own.old, &own.new) == (&edit.old, &edit.new));
    hunk.path == whole.path
        && same_kind(hunk, whole)
        && match hunk.edits() {
            [] => hunk.changed_lines() == whole.changed_lines(),
            edits => edits.iter().all(is_of_whole),
        }
}

fn same_kind(one: &Hunk, other: &Hunk) -> bool {
    std::mem::discriminant(&one.item) == std::mem::discriminant(&other.item)
}

/// Why *Accept all* leaves a hunk out, where it does: its file runs on the user's machine, or says what does,
/// under its name or the one it had.
pub fn runs_on_your_machine(hunk: &Hunk) -> Option<&'static str> {
    runs_there(&hunk.path).or_else(|| runs_there(hunk.source()))
}

fn runs_there(path: &RepoPath) -> Option<&'static str> {
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
    fn what_runs_on_the_users_machine_is_marked_when_it_moves_away() {
        let file = || Some(File { mode: crate::file::Mode::Regular, bytes: crate::text::Bytes(b"x".into()) });
        let [path, old_path] = ["envrc.txt", ".envrc"].map(|path| RepoPath::new(path).unwrap());
        let change = crate::file::FileChange { path, old_path: Some(old_path), old: file(), new: file() };
        assert!(runs_on_your_machine(&crate::diff::hunks(&change).hunks[0]).is_some());
    }

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
            assert!(runs_there(&RepoPath::new(path).unwrap()).is_some(), "{path}");
        }
        for path in ["src/main.rs", "docs/build.rs.md", "src/hook.rs"] {
            assert!(runs_there(&RepoPath::new(path).unwrap()).is_none(), "{path}");
        }
    }
}
