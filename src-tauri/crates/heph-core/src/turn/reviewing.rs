//! The review: what the user says of each hunk, and what follows once it is finished.

use super::{
    Effect, Finish, GateTarget, Input, Over, Phase, Refused, TakenOut, Tally, Turn, Unapplied, Untold,
};
use crate::{
    constraint::{Constraint, Standing, lifted_by},
    diff::{Edit, Hunk, Item},
    id::{ConstraintId, HunkId},
    message::{Decision, FileResult, HunkResult, Outcome},
    path::RepoPath,
    refusal::cannot_be_accepted,
    review::{Comment, Place, Review, Subject, Verdict, runs_on_your_machine},
};

impl Turn {
    pub(super) fn in_review(&mut self, mut review: Review, input: Input) -> Result<Vec<Effect>, Refused> {
        match input {
            Input::Decide { hunk, verdict } => {
                let found = review.hunk(&hunk).ok_or(Refused::Stale)?;
                if review.edited(&found.path).is_some() {
                    return Err(Refused::EditedByUser);
                }
                if let (Some(Verdict::Accepted), Some(reason)) = (verdict, cannot_be_accepted(found)) {
                    return Err(Refused::Unacceptable { reason });
                }
                review.decide(hunk, verdict);
            }
            Input::Split { hunk, at } => {
                let found = review.hunk(&hunk).ok_or(Refused::Stale)?;
                if review.edited(&found.path).is_some() {
                    return Err(Refused::EditedByUser);
                }
                review.split(&hunk, &at).ok_or(Refused::CannotSplit)?;
            }
            // What they would edit is their own file, and lies where they can.
            Input::Edit { .. } if review.subject() == Subject::Tree => return Err(Refused::NotNow),
            Input::Edit { path, edited } => {
                review.file(&path).ok_or(Refused::Stale)?;
                review.edit(path, edited);
            }
            Input::TakenBack { hunk, accepted, files } => {
                if review.subject() != Subject::Round {
                    return Err(Refused::NotNow);
                }
                if review.edited(&hunk.path).is_some() {
                    return Err(Refused::EditedByUser);
                }
                self.take_back(&hunk);
                self.accepted = accepted;
                review = review.with_taken_back(&hunk, files);
            }
            Input::Comment(comment) => take_comment(&mut review, comment)?,
            Input::Uncomment(id) => review.uncomment(&id).then_some(()).ok_or(Refused::Stale)?,
            Input::Ask(hunk) => {
                let asked = review.ask_about(&hunk).ok_or(Refused::Stale)?;
                let still_refused = review.refused().any(|(other, _)| other.constraint == asked.constraint);
                if !still_refused && self.counted.remove(&asked.constraint) {
                    self.reproposals -= 1;
                    self.check_floor();
                    for constraint in &mut self.constraints {
                        constraint.reproposed &= constraint.id != asked.constraint;
                    }
                }
            }
            Input::Finish(how) => return self.finish(review, how),
            _ => return Err(Refused::NotNow),
        }
        self.phase = Phase::Review(review);
        Ok(Vec::new())
    }

    /// What the accepted state knows by lines and counts, after it has lost a hunk.
    fn take_back(&mut self, hunk: &Hunk) {
        if let Some(count) = self.accepted_so_far.get_mut(&hunk.path) {
            *count -= 1;
            if *count == 0 {
                self.accepted_so_far.remove(&hunk.path);
            }
        }
        let back: Vec<Edit> = hunk.edits().iter().map(Edit::reversed).collect();
        self.move_lines(&hunk.path, &back);
        if hunk.item == Item::Rename {
            self.rename_lines(&hunk.path, hunk.source());
        }
    }

    /// Moves what is known by lines of a file of the accepted state to where they lie after `edits`.
    fn move_lines(&mut self, path: &RepoPath, edits: &[Edit]) {
        for lines in self.own_lines.get_mut(path).into_iter().flatten() {
            *lines = moved(lines.start, edits)..moved(lines.end, edits);
        }
    }

    /// Has what is known by lines go with a file to another name.
    fn rename_lines(&mut self, from: &RepoPath, to: &RepoPath) {
        if let Some(own) = self.own_lines.remove(from) {
            self.own_lines.insert(to.clone(), own);
        }
    }

    fn finish(&mut self, mut review: Review, how: Finish) -> Result<Vec<Effect>, Refused> {
        match how {
            Finish::Decided | Finish::Stop => {}
            Finish::ApplyAnyway if self.failing().is_empty() => return Err(Refused::NotNow),
            Finish::AcceptAll | Finish::ApplyAnyway => {
                let own = review.subject() == Subject::Tree;
                review.decide_rest(Verdict::Accepted, |hunk| {
                    own || runs_on_your_machine(hunk).is_none() && cannot_be_accepted(hunk).is_none()
                });
            }
            // The user's own tree stays as it is, unless they take something out hunk by hunk.
            Finish::RefuseAll | Finish::RefuseRest if review.subject() == Subject::Tree => {}
            Finish::RefuseAll => {
                let all: Vec<HunkId> = review.hunks().map(|hunk| hunk.id.clone()).collect();
                all.into_iter().for_each(|hunk| review.decide(hunk, Some(Verdict::Rejected)));
                review.withdraw_edits();
            }
            Finish::RefuseRest => review.decide_rest(Verdict::Rejected, |_| true),
        }
        if review.subject() == Subject::Tree {
            return self.finish_own_tree(review, how);
        }
        if review.undecided() > 0 && how != Finish::Stop {
            return Err(Refused::Undecided { count: review.undecided() });
        }
        // Nothing is taken over before the state is composed: should that fail, the review can be
        // opened again with its verdicts.
        self.phase = Phase::Composing { review, how };
        Ok(self.effects_awaited())
    }

    fn finish_own_tree(&mut self, review: Review, how: Finish) -> Result<Vec<Effect>, Refused> {
        let closes = !matches!(how, Finish::Decided | Finish::AcceptAll);
        if !closes && review.undecided() > 0 {
            return Err(Refused::Undecided { count: review.undecided() });
        }
        if closes || review.with_verdict(Verdict::Rejected).next().is_none() {
            let mut effects = vec![Effect::Reviewed(self.note_review(&review))];
            self.accepted = self.base.clone();
            effects.extend(if closes { self.close() } else { self.end(None) });
            return Ok(effects);
        }
        self.phase = Phase::Composing { review, how };
        Ok(self.effects_awaited())
    }

    pub(super) fn in_composing(
        &mut self,
        review: Review,
        how: Finish,
        input: Input,
    ) -> Result<Vec<Effect>, Refused> {
        let Input::Composed { tree } = input else { return Err(Refused::NotNow) };
        match how {
            Finish::RefuseAll => drop(self.over.insert(Over::Refused)),
            Finish::Stop => drop(self.over.insert(Over::Stopped { undecided: review.undecided() })),
            Finish::ApplyAnyway => drop(self.over.insert(Over::Anyway)),
            Finish::Decided | Finish::AcceptAll | Finish::RefuseRest => {}
        }
        let mut effects = vec![Effect::Reviewed(self.note_review(&review))];
        if review.hunks().next().is_none() && how == Finish::RefuseAll {
            // The brief of an interrupted turn without new hunks offers to discard what was accepted.
            effects.extend(self.discard(Unapplied::Discarded));
            return Ok(effects);
        }
        self.accepted = tree;
        if self.is_unseen() {
            effects.extend(self.test_accepted(GateTarget::Accepted));
        } else {
            self.recall_results(&self.accepted.clone());
            effects.extend(self.settle());
        }
        Ok(effects)
    }

    pub(super) fn in_reopening(&mut self, input: Input) -> Result<Vec<Effect>, Refused> {
        let Input::Reopened { files } = input else { return Err(Refused::NotNow) };
        let mut review = Review::new(Subject::Accepted, files, Vec::new());
        review.decide_rest(Verdict::Accepted, |_| true);
        self.accepted = self.base.clone();
        self.accepted_so_far.clear();
        self.own_lines.clear();
        Ok(self.open(review))
    }

    /// Makes a rejected hunk a constraint, or says more of the constraint that it already is.
    fn constrain(&mut self, hunk: &Hunk, comments: Vec<String>, accepted: &[&Hunk]) {
        let place = place(hunk, accepted);
        let same = |known: &&mut Constraint| {
            known.standing == Standing::Holds && known.path() == &hunk.path && known.hunk.item == hunk.item
        };
        if let Some(known) = self.constraints.iter_mut().find(same) {
            if !comments.is_empty() {
                known.answered = None;
            }
            known.comments.extend(comments);
            known.place = place;
            return;
        }
        self.constraints.push(Constraint {
            id: ConstraintId(format!("{}-{}", self.round, hunk.id)),
            round: self.round,
            hunk: hunk.clone(),
            paths: Constraint::names_of(hunk),
            comments,
            standing: Standing::Holds,
            answered: None,
            reproposed: false,
            place,
        });
    }

    /// Takes over what a review decided: constraints, what it accepts, and what is to be told.
    pub(super) fn note_review(&mut self, review: &Review) -> Tally {
        let accepted: Vec<&Hunk> = review.with_verdict(Verdict::Accepted).collect();
        let rejected: Vec<&Hunk> = review.with_verdict(Verdict::Rejected).collect();
        let edited: Vec<_> = review.edited_files().collect();
        // What the user wrote is as good as accepted.
        let written = edited.iter().flat_map(|(_, edited)| &edited.hunks);
        let taken: Vec<&Hunk> = accepted.iter().copied().chain(written).collect();
        let lifted = lifted_by(&self.constraints, &taken, self.settings.threshold);
        for constraint in self.constraints.iter_mut().filter(|constraint| lifted.contains(&constraint.id)) {
            constraint.standing = Standing::Lifted;
        }
        for constraint in &mut self.constraints {
            taken.iter().for_each(|hunk| constraint.follow(hunk));
        }
        for hunk in &taken {
            *self.accepted_so_far.entry(hunk.path.clone()).or_insert(0) += 1;
        }
        for file in review.files().iter() {
            let of_file = accepted.iter().filter(|hunk| hunk.path == file.path);
            let edits: Vec<Edit> = of_file.flat_map(|hunk| hunk.edits().iter().cloned()).collect();
            if let Some(hunk) = file.hunks.first() {
                self.move_lines(hunk.source(), &edits);
            }
        }
        for hunk in accepted.iter().filter(|hunk| hunk.item == Item::Rename) {
            self.rename_lines(hunk.source(), &hunk.path);
        }
        for (file, edited) in edited {
            self.own_lines.insert(file.path, edited.own.clone());
        }
        for hunk in &rejected {
            let comments = review.comments_on(&hunk.id).map(|comment| comment.text.clone()).collect();
            self.constrain(hunk, comments, &accepted);
        }
        let mut outcome = review.outcome();
        let wants_answer = asks_for_answer(&outcome);
        for (_, hunk) in std::mem::take(&mut self.refused_earlier) {
            outcome.reproposed(&hunk.path, hunk.what());
        }
        let stopped = self.over.iter().any(|over| matches!(over, Over::Stopped { .. }));
        outcome.not_reached = (stopped && review.undecided() > 0).then(|| review.undecided());
        self.leave_untold(Untold { outcome, wants_answer });
        Tally {
            accepted: taken.len(),
            rejected: rejected.len(),
            undecided: review.undecided(),
            comments: review.comments().len(),
            reproposed: review.refused().count(),
        }
    }

    /// Adds to what the model has not been told: a state that was reviewed once more has two results.
    fn leave_untold(&mut self, more: Untold) {
        if more.outcome.files.is_empty() {
            return;
        }
        match &mut self.untold {
            None => self.untold = Some(more),
            Some(untold) => {
                untold.outcome.files.extend(more.outcome.files);
                let not_reached = [untold.outcome.not_reached, more.outcome.not_reached];
                untold.outcome.not_reached =
                    not_reached.into_iter().flatten().reduce(|one, other| one + other);
                untold.wants_answer |= more.wants_answer;
            }
        }
    }
}

/// Adds a comment to the hunk that it is about.
pub(super) fn take_comment(review: &mut Review, comment: Comment) -> Result<(), Refused> {
    let found = review.hunk(&comment.hunk).ok_or(Refused::Stale)?;
    if let Place::Line { side, line } = comment.place
        && !found.has_line(side, line as usize)
    {
        return Err(Refused::NoSuchLine { line });
    }
    review.comment(comment);
    Ok(())
}

/// Whether a review leaves something for the model to answer.
fn asks_for_answer(outcome: &Outcome) -> bool {
    outcome.files.iter().any(|file: &FileResult| {
        let asks = |hunk: &HunkResult| hunk.decision == Decision::Rejected || !hunk.comments.is_empty();
        !file.reproposed.is_empty() || file.hunks.iter().any(asks)
    })
}

/// The files of a review of the user's own tree from which something is taken out.
pub(super) fn taken_out(review: &Review) -> Vec<TakenOut> {
    let is_out = |hunk: &&Hunk| review.verdict(&hunk.id) == Some(Verdict::Rejected);
    let parts = review.files().iter().map(|file| {
        let (out, kept): (Vec<Hunk>, Vec<Hunk>) = file.hunks.iter().cloned().partition(|hunk| is_out(&hunk));
        TakenOut { kept, out }
    });
    parts.filter(|file| !file.out.is_empty()).collect()
}

/// The line of the next accepted state at which a rejected hunk would lie, the accepted ones in place.
fn place(rejected: &Hunk, accepted: &[&Hunk]) -> usize {
    let start = rejected.edits().first().map_or(0, |edit| edit.old_start);
    let of_file = accepted.iter().filter(|hunk| hunk.path == rejected.path);
    moved(start, &of_file.flat_map(|hunk| hunk.edits().iter().cloned()).collect::<Vec<_>>())
}

/// Where a line lies after `edits` of its file; one that goes stays at the place of what comes instead.
fn moved(line: usize, edits: &[Edit]) -> usize {
    let above = edits.iter().filter(|edit| edit.old_start < line);
    let shift: isize = above
        .map(|edit| edit.new.len() as isize - (edit.old_range().end.min(line) - edit.old_start) as isize)
        .sum();
    line.saturating_add_signed(shift)
}
