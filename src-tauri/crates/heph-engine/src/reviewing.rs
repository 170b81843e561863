//! The methods of a review beyond a verdict: split, the user's own text, taking back, a review of their own
//! tree.

use std::sync::Arc;

use heph_core::{
    compose::compose,
    diff::{self, is_text},
    file::{File, FileChange},
    id::HunkId,
    path::RepoPath,
    review::{Edited, Review, Subject},
    text::Bytes,
    turn::{self, Input, Opening, Phase, Turn},
};
use heph_wire::{
    AcceptedDiff, CallError, EditParams, Empty, ErrorKind, FileParams, FileText, OpenReviewParams, Revised,
    SplitHunks, SplitParams, StartedTurn, TakeBackParams, ViewParams, WirePath,
};

use crate::{
    calls::{Rest, with_rows},
    failure::{failed, internal},
    run::Loop,
    view,
};

impl Loop {
    pub(crate) fn review_split(&mut self, params: SplitParams) -> Result<SplitHunks, CallError> {
        let names = |me: &mut Loop| -> Result<Vec<HunkId>, CallError> {
            let review = me.session(&params.session)?.turn().and_then(|turn| turn.review());
            Ok(review.map(|review| review.hunks().map(|hunk| hunk.id.clone()).collect()).unwrap_or_default())
        };
        let before = names(self)?;
        let at = params.at.iter().map(|row| *row as usize).collect();
        let revision = self.give(&params.session, Input::Split { hunk: HunkId(params.hunk.clone()), at })?;
        let parts = names(self)?.into_iter().filter(|hunk| !before.contains(hunk));
        Ok(SplitHunks { hunks: parts.map(|hunk| hunk.to_string()).collect(), revision })
    }

    pub(crate) fn review_file(&mut self, params: FileParams) -> Result<FileText, CallError> {
        let file = self.reviewed_file(&params.session, &params.path)?;
        let content = String::from_utf8(file.shown().bytes.0.clone()).map_err(|_| not_text(&file.path))?;
        Ok(FileText { content, edited: file.edited.is_some() })
    }

    pub(crate) fn review_edit(&mut self, params: EditParams) -> Result<Revised, CallError> {
        let content = params.content.map(String::into_bytes);
        let revision = self.edit(&params.session, &params.path, content)?;
        Ok(Revised { revision })
    }

    /// Takes `content` as the user's own text of a proposed file. Text that is as proposed is no edit.
    pub(crate) fn edit(
        &mut self,
        session: &str,
        path: &WirePath,
        content: Option<Vec<u8>>,
    ) -> Result<u64, CallError> {
        let file = self.reviewed_file(session, path)?;
        let edited = content.filter(|content| *content != file.proposed.bytes.0).map(|content| {
            let own = diff::edits(&file.proposed.bytes.0, &content);
            let new = File { mode: file.proposed.mode, bytes: Bytes(content) };
            let change = FileChange { new: Some(new.clone()), ..file.change };
            Edited {
                file: new,
                hunks: diff::hunks(&change).hunks,
                own: own.iter().map(diff::Edit::new_range).collect(),
            }
        });
        self.give(session, Input::Edit { path: file.path, edited })
    }

    /// A text file of the open review.
    pub(crate) fn reviewed_file(&mut self, session: &str, path: &WirePath) -> Result<Reviewed, CallError> {
        let path = RepoPath::new(&path.0).map_err(internal)?;
        let private = self.workplace(session)?.private;
        let (turn, review) = self.open_review(session)?;
        if review.subject() == Subject::Tree {
            let message = "These files are your own: change them where they are, and open the review again.";
            return Err(CallError::new(ErrorKind::Refused, message));
        }
        let hunks = review.files().iter().find(|file| file.path == path).map(|file| file.hunks.as_slice());
        let Some([first, ..]) = hunks else {
            let message = format!("{} is no part of the review; it has changed.", path.display());
            return Err(CallError::new(ErrorKind::Stale, message));
        };
        let accepted = turn.accepted().clone();
        let (place, old_path) = review.place_of(&path);
        let source = first.source().clone();
        let all: Vec<diff::Hunk> = hunks.unwrap_or_default().to_vec();
        let edited = review.edited(&path).map(|edited| edited.file.clone());
        let old = private.file(&accepted, &source).map_err(internal)?;
        let proposed = compose(old.as_ref(), &all.iter().collect::<Vec<_>>()).map_err(internal)?;
        let proposed = proposed.filter(is_text).ok_or_else(|| not_text(&path))?;
        let change = FileChange { path: place, old_path, old, new: None };
        Ok(Reviewed { path, change, proposed, edited })
    }

    pub(crate) fn review_accepted(&mut self, params: ViewParams) -> Result<Rest<AcceptedDiff>, CallError> {
        let place = self.workplace(&params.session)?;
        let (number, _) = self.numbers(&params.session);
        let notes = self.store.notes(&params.session, number, 1).map_err(internal)?;
        let colours = Arc::clone(&self.colours);
        let turn = self.session(&params.session)?.turn().cloned().ok_or_else(no_turn)?;
        if turn.accepted() == turn.base() {
            return Ok(Box::new(|| Ok(AcceptedDiff { files: Vec::new() })));
        }
        let rows = with_rows(params.rows);
        Ok(Box::new(move || {
            let files = place
                .compare(turn.base(), turn.accepted(), &notes)
                .map_err(|error| CallError::new(ErrorKind::Internal, error.sentence()))?;
            let old_file = |path: &RepoPath| place.old_file(turn.base(), path).map_err(internal);
            Ok(AcceptedDiff { files: view::accepted(&turn, files, rows, &colours, old_file)? })
        }))
    }

    /// The turn and its review while it is being decided on.
    fn open_review(&mut self, session: &str) -> Result<(&Turn, &Review), CallError> {
        let turn = self.session(session)?.turn().filter(|turn| matches!(turn.phase(), Phase::Review(_)));
        let turn = turn.ok_or_else(no_review)?;
        Ok((turn, turn.review().ok_or_else(no_review)?))
    }

    pub(crate) fn review_take_back(&mut self, params: TakeBackParams) -> Result<Revised, CallError> {
        let id = &params.session;
        let place = self.workplace(id)?;
        let (number, _) = self.numbers(id);
        let notes = self.store.notes(id, number, 1).map_err(internal)?;
        let (turn, review) = self.open_review(id)?;
        let proposed: Vec<diff::Hunk> =
            review.proposed().iter().flat_map(|file| file.hunks.clone()).collect();
        let states = (turn.base(), turn.accepted());
        let taken = place.take_back(states, &proposed, &HunkId(params.hunk), &notes).map_err(internal)?;
        let taken = taken.ok_or_else(|| {
            CallError::new(ErrorKind::Stale, "That is no longer part of what was accepted; it has changed.")
        })?;
        Ok(Revised { revision: self.give(id, taken)? })
    }

    pub(crate) fn review_open(&mut self, params: OpenReviewParams) -> Result<StartedTurn, CallError> {
        let id = params.session;
        if self.session(&id)?.turn().is_some() {
            return Err(CallError::new(
                ErrorKind::TurnOpen,
                "A turn is open in this session. Finish it first, or review in another session.",
            ));
        }
        self.check_undo(&id)?;
        let place = self.workplace(&id)?;
        place
            .private
            .check_revision(params.rev.as_deref())
            .map_err(|error| CallError::new(ErrorKind::Refused, failed(error) + " Nothing was changed."))?;
        let typed = match &params.rev {
            Some(rev) => format!("/review {rev}"),
            None => "/review".to_owned(),
        };
        let opening = Opening::Tree { rev: params.rev };
        self.open(&id, turn::Settings::default(), Vec::new(), opening, &typed)
    }

    /// `E`: the user's own editor on a proposed file.
    pub(crate) fn review_edit_outside(&mut self, params: FileParams) -> Result<Empty, CallError> {
        let file = self.reviewed_file(&params.session, &params.path)?;
        self.edit_outside(params.session, params.path, file.shown().clone())?;
        Ok(Empty {})
    }
}

/// A file of the open review.
pub(crate) struct Reviewed {
    path: RepoPath,
    /// The change of the accepted state, its new side left out.
    change: FileChange,
    proposed: File,
    edited: Option<File>,
}

impl Reviewed {
    /// The user's own text of it, or else what is proposed.
    pub(crate) fn shown(&self) -> &File {
        self.edited.as_ref().unwrap_or(&self.proposed)
    }
}

fn not_text(path: &RepoPath) -> CallError {
    let message = format!("{} is no text that can be edited here. Nothing was changed.", path.display());
    CallError::new(ErrorKind::Refused, message)
}

pub(crate) fn no_review() -> CallError {
    CallError::new(ErrorKind::Refused, "No review is open in this session.")
}

fn no_turn() -> CallError {
    CallError::new(ErrorKind::Refused, "No turn is open in this session.")
}
