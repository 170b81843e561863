use super::{
    Cause, Effect, Finish, GateResult, GateRun, GateTarget, Held, Input, Over, Phase, RedChoice, Refused,
    Resume, Tally, Turn, Unapplied,
};
use crate::{
    apply::FileReport,
    constraint::{Constraint, Standing, lifted_by, reproposals},
    diff::{Hunk, Item},
    id::{ConstraintId, HunkId, TreeId},
    message::{self, Closing, Decision, GateFailure, HunkResult, Outcome},
    refusal::cannot_be_accepted,
    review::{Place, Review, Verdict, runs_on_your_machine},
};

/// The next state and what is to be done, or why `input` changes nothing.
///
/// # Errors
/// [`Refused`] where the input does not fit the state, as the table of this module says.
pub fn step(turn: &Turn, input: Input) -> Result<(Turn, Vec<Effect>), Refused> {
    let mut next = turn.clone();
    let effects = next.take(input)?;
    Ok((next, effects))
}

impl Turn {
    fn take(&mut self, input: Input) -> Result<Vec<Effect>, Refused> {
        match input {
            Input::Restarted => Ok(self.restarted()),
            Input::Interrupt => self.interrupt(),
            Input::Lift(constraint) => self.lift(&constraint),
            Input::Failed { reason } => self.failed(reason),
            input => match std::mem::replace(&mut self.phase, Phase::Snapshot) {
                Phase::Snapshot => self.in_snapshot(input),
                Phase::Model => self.in_model(input),
                Phase::Held(held) => self.in_held(*held.from, held.cause, input),
                Phase::Reading => self.in_reading(input),
                Phase::Screening(review) => self.in_screening(review, input),
                Phase::Gates { review, tree, on } => self.in_gates(review, tree, on, input),
                Phase::Review(review) => self.in_review(review, input),
                Phase::Composing { review, how } => self.in_composing(review, how, input),
                Phase::AcceptedGates(on) => self.in_accepted_gates(on, input),
                Phase::Red => self.in_red(input),
                Phase::Apply => self.in_apply(input),
                Phase::Ended(_) => Err(Refused::NotNow),
            },
        }
    }

    fn in_snapshot(&mut self, input: Input) -> Result<Vec<Effect>, Refused> {
        let Input::Begun { base } = input else { return Err(Refused::NotNow) };
        self.accepted = base.clone();
        self.asked_on = base.clone();
        self.base = base;
        Ok(self.ask(self.asked.clone()))
    }

    fn in_model(&mut self, input: Input) -> Result<Vec<Effect>, Refused> {
        let Input::ModelStopped { words } = input else { return Err(Refused::NotNow) };
        self.words = words;
        Ok(self.read_worktree())
    }

    fn read_worktree(&mut self) -> Vec<Effect> {
        self.phase = Phase::Reading;
        self.effects_awaited()
    }

    fn in_held(&mut self, from: Phase, cause: Cause, input: Input) -> Result<Vec<Effect>, Refused> {
        let Input::Resume(how) = input else { return Err(Refused::NotNow) };
        match (how, from) {
            (Resume::Continue, Phase::Model) => {
                self.attempt += 1;
                // A model that failed never had the message; one that was cut off has it.
                let message = match cause {
                    Cause::Failed => self.asked.clone(),
                    Cause::CutOff => message::go_on(&self.constraints),
                };
                Ok(self.ask(message))
            }
            (Resume::Continue, from) => {
                self.phase = from;
                Ok(self.effects_awaited())
            }
            (Resume::Review, Phase::Model) => Ok(self.read_worktree()),
            (Resume::Review, Phase::Gates { review, .. } | Phase::Screening(review)) => Ok(self.open(review)),
            // The verdicts are as they were, and can be given anew.
            (Resume::Review, Phase::Composing { review, .. }) => Ok(self.open(review)),
            (Resume::Review, _) => Err(Refused::NotNow),
            (Resume::Discard, Phase::Apply) => {
                self.over.insert(Over::Failed);
                Ok(self.end(Some(Unapplied::NotWritten)))
            }
            // What no gate has seen is not applied by ending the turn, and not lost by it either.
            (Resume::Discard, Phase::AcceptedGates(_)) => {
                self.over.insert(Over::Failed);
                self.phase = Phase::Red;
                Ok(Vec::new())
            }
            (Resume::Discard, _) => {
                self.over.insert(Over::Failed);
                Ok(self.settle())
            }
        }
    }

    fn ask(&mut self, message: String) -> Vec<Effect> {
        self.asked.clone_from(&message);
        self.phase = Phase::Model;
        vec![Effect::AskModel { message }]
    }

    /// What the present phase waits for, to be asked for again.
    fn effects_awaited(&self) -> Vec<Effect> {
        let accepted = || self.accepted.clone();
        let effect = match &self.phase {
            Phase::Snapshot => Effect::Begin,
            Phase::Model => Effect::AskModel { message: self.asked.clone() },
            Phase::Reading => Effect::ReadWorktree { accepted: accepted() },
            Phase::Screening(review) => {
                let kept = review.hunks().filter(|hunk| cannot_be_accepted(hunk).is_none());
                Effect::Compose { onto: accepted(), hunks: kept.cloned().collect() }
            }
            Phase::Gates { tree, on, .. } => self.run_gates(*on, tree),
            Phase::Composing { review, .. } => {
                let hunks = review.with_verdict(Verdict::Accepted).cloned().collect();
                Effect::Compose { onto: accepted(), hunks }
            }
            Phase::AcceptedGates(on) => self.run_gates(*on, &self.accepted),
            Phase::Apply => Effect::Apply { base: self.base.clone(), accepted: accepted() },
            Phase::Held(_) | Phase::Review(_) | Phase::Red | Phase::Ended(_) => return Vec::new(),
        };
        vec![effect]
    }

    /// All gates on `tested`, or, on the base, those that are red on `tested`.
    fn run_gates(&self, on: GateTarget, tested: &TreeId) -> Effect {
        let (tree, names) = match on {
            GateTarget::Base => (self.base.clone(), self.unknown_on_base(tested)),
            GateTarget::Proposed | GateTarget::Accepted => (tested.clone(), self.settings.gates.clone()),
        };
        Effect::RunGates { on, tree, names }
    }

    fn in_reading(&mut self, input: Input) -> Result<Vec<Effect>, Refused> {
        let Input::Read { tree, files, ignored } = input else { return Err(Refused::NotNow) };
        self.ignored = ignored;
        if tree == self.asked_on && self.asked_for_gate {
            self.declined = true;
        }
        let found = reproposals(&files, &self.constraints, self.round, self.settings.threshold);
        for reproposal in &found {
            if self.counted.insert(reproposal.constraint.clone()) {
                self.reproposals += 1;
            }
            for constraint in &mut self.constraints {
                constraint.reproposed |= constraint.id == reproposal.constraint;
            }
        }
        self.check_floor();
        let screened = !found.is_empty();
        let review = Review::new(files, found);
        if screened {
            self.phase = Phase::Screening(review);
            Ok(self.effects_awaited())
        } else {
            Ok(self.test(review, tree))
        }
    }

    fn check_floor(&mut self) {
        if self.reproposals >= self.settings.floor {
            self.over.insert(Over::Floor);
        } else {
            self.over.remove(&Over::Floor);
        }
    }

    fn in_screening(&mut self, review: Review, input: Input) -> Result<Vec<Effect>, Refused> {
        let Input::Composed { tree } = input else { return Err(Refused::NotNow) };
        Ok(self.test(review, tree))
    }

    /// Gates on what is proposed, where they have not seen it; then the review.
    fn test(&mut self, review: Review, tree: TreeId) -> Vec<Effect> {
        if review.hunks().next().is_none() {
            // An interrupt that leaves nothing new still asks about what was accepted before.
            if self.is_interrupted() && self.accepted != self.base {
                return self.open(review);
            }
            self.note_review(&review);
            return self.settle();
        }
        let interrupted = self.is_interrupted();
        if interrupted || self.settings.gates.is_empty() || self.results.contains_key(&tree) {
            return self.tested(review, tree);
        }
        self.phase = Phase::Gates { review, tree, on: GateTarget::Proposed };
        self.effects_awaited()
    }

    fn in_gates(
        &mut self,
        review: Review,
        tree: TreeId,
        on: GateTarget,
        input: Input,
    ) -> Result<Vec<Effect>, Refused> {
        let Input::GatesRan { tree: ran_on, runs } = input else { return Err(Refused::NotNow) };
        match on {
            GateTarget::Base if ran_on == self.base => {
                self.keep_base_results(runs);
                Ok(self.open(review))
            }
            GateTarget::Proposed if ran_on == tree => {
                self.keep_results(&tree, runs);
                Ok(self.tested(review, tree))
            }
            _ => Err(Refused::NotNow),
        }
    }

    fn keep_results(&mut self, tree: &TreeId, runs: Vec<GateRun>) {
        self.latest = runs.clone();
        // What the user stopped has not seen the tree.
        if runs.iter().all(|run| run.result != GateResult::Stopped) {
            self.results.insert(tree.clone(), runs);
        }
    }

    /// Shows what gates said of a tree that they have seen before.
    fn recall_results(&mut self, tree: &TreeId) {
        if let Some(runs) = self.results.get(tree) {
            self.latest.clone_from(runs);
        }
    }

    fn tested(&mut self, review: Review, tree: TreeId) -> Vec<Effect> {
        let red = self.failures(&tree);
        self.recall_results(&tree);
        if red.is_empty() || self.is_interrupted() {
            return self.open(review);
        }
        let may_try = self.attempt < self.settings.attempts && !self.declined && self.over.is_empty();
        if may_try {
            self.attempt += 1;
            self.asked_on = tree;
            self.asked_for_gate = true;
            return self.ask(message::gates_failed(&red, &self.constraints));
        }
        if self.unknown_on_base(&tree).is_empty() {
            return self.open(review);
        }
        self.phase = Phase::Gates { review, tree, on: GateTarget::Base };
        self.effects_awaited()
    }

    /// The gates that are red on `tree`, and have not been run on the base.
    fn unknown_on_base(&self, tree: &TreeId) -> Vec<String> {
        let names = self.failures(tree).into_iter().map(|failure| failure.name);
        names.filter(|name| !self.run_on_base.contains(name)).collect()
    }

    fn keep_base_results(&mut self, runs: Vec<GateRun>) {
        for run in runs {
            if let GateResult::Red { .. } = run.result {
                self.red_before.insert(run.name.clone());
            }
            self.run_on_base.insert(run.name);
        }
    }

    /// The gates that are red on `tree`, but for those that were red before the turn.
    fn failures(&self, tree: &TreeId) -> Vec<GateFailure> {
        let runs = self.results.get(tree).map(Vec::as_slice).unwrap_or_default();
        runs.iter()
            .filter(|run| !self.red_before.contains(&run.name))
            .filter_map(|run| match run.result {
                GateResult::Red { exit } => Some(GateFailure {
                    name: run.name.clone(),
                    exit,
                    seconds: run.seconds,
                    output: run.output.clone(),
                }),
                _ => None,
            })
            .collect()
    }

    fn open(&mut self, review: Review) -> Vec<Effect> {
        for constraint in &mut self.constraints {
            if constraint.answered.is_none() && constraint.round < self.round {
                constraint.answered = Some(self.round);
            }
        }
        let hunks = review.hunks().count();
        self.phase = Phase::Review(review);
        vec![Effect::OpenReview { hunks }]
    }

    fn in_review(&mut self, mut review: Review, input: Input) -> Result<Vec<Effect>, Refused> {
        match input {
            Input::Decide { hunk, verdict } => {
                let found = review.hunk(&hunk).ok_or(Refused::Stale)?;
                if let (Some(Verdict::Accepted), Some(reason)) = (verdict, cannot_be_accepted(found)) {
                    return Err(Refused::Unacceptable { reason });
                }
                review.decide(hunk, verdict);
            }
            Input::Comment(comment) => {
                let found = review.hunk(&comment.hunk).ok_or(Refused::Stale)?;
                if let Place::Line { side, line } = comment.place
                    && !found.has_line(side, line as usize)
                {
                    return Err(Refused::NoSuchLine { line });
                }
                review.comment(comment);
            }
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

    fn finish(&mut self, mut review: Review, how: Finish) -> Result<Vec<Effect>, Refused> {
        match how {
            Finish::Decided | Finish::Stop => {}
            Finish::AcceptAll => review.decide_rest(Verdict::Accepted, |hunk| {
                runs_on_your_machine(&hunk.path).is_none() && cannot_be_accepted(hunk).is_none()
            }),
            Finish::RefuseAll => {
                let all: Vec<HunkId> = review.hunks().map(|hunk| hunk.id.clone()).collect();
                all.into_iter().for_each(|hunk| review.decide(hunk, Some(Verdict::Rejected)));
            }
            Finish::RefuseRest => review.decide_rest(Verdict::Rejected, |_| true),
        }
        if review.undecided() > 0 && how != Finish::Stop {
            return Err(Refused::Undecided { count: review.undecided() });
        }
        // Nothing is taken over before the state is composed: should that fail, the review can be
        // opened again with its verdicts.
        self.phase = Phase::Composing { review, how };
        Ok(self.effects_awaited())
    }

    fn in_composing(&mut self, review: Review, how: Finish, input: Input) -> Result<Vec<Effect>, Refused> {
        let Input::Composed { tree } = input else { return Err(Refused::NotNow) };
        match how {
            Finish::RefuseAll => drop(self.over.insert(Over::Refused)),
            Finish::Stop => drop(self.over.insert(Over::Stopped { undecided: review.undecided() })),
            Finish::Decided | Finish::AcceptAll | Finish::RefuseRest => {}
        }
        let mut effects = vec![Effect::Reviewed(self.note_review(&review))];
        if review.hunks().next().is_none() && how == Finish::RefuseAll {
            // The brief of an interrupted turn without new hunks offers to discard what was accepted.
            effects.extend(self.discard(Unapplied::Discarded));
            return Ok(effects);
        }
        self.accepted = tree;
        let seen = self.results.contains_key(&self.accepted);
        if self.accepted == self.base || seen || self.settings.gates.is_empty() {
            self.recall_results(&self.accepted.clone());
            effects.extend(self.settle());
        } else {
            effects.extend(self.test_accepted(GateTarget::Accepted));
        }
        Ok(effects)
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
            comments,
            standing: Standing::Holds,
            answered: None,
            reproposed: false,
            place,
        });
    }

    fn discard(&mut self, why: Unapplied) -> Vec<Effect> {
        self.accepted = self.base.clone();
        self.accepted_so_far.clear();
        self.end(Some(why))
    }

    /// Takes over what a review decided: constraints, what it accepts, and what is to be told.
    fn note_review(&mut self, review: &Review) -> Tally {
        let accepted: Vec<&Hunk> = review.with_verdict(Verdict::Accepted).collect();
        let rejected: Vec<&Hunk> = review.with_verdict(Verdict::Rejected).collect();
        let lifted = lifted_by(&self.constraints, &accepted, self.settings.threshold);
        for constraint in self.constraints.iter_mut().filter(|constraint| lifted.contains(&constraint.id)) {
            constraint.standing = Standing::Lifted;
        }
        for hunk in &accepted {
            *self.accepted_so_far.entry(hunk.path.clone()).or_insert(0) += 1;
        }
        for hunk in &rejected {
            let comments = review.comments_on(&hunk.id).map(|comment| comment.text.clone()).collect();
            self.constrain(hunk, comments, &accepted);
        }
        let mut outcome = review.outcome();
        let stopped = self.over.iter().any(|over| matches!(over, Over::Stopped { .. }));
        outcome.not_reached = (stopped && review.undecided() > 0).then(|| review.undecided());
        if !outcome.files.is_empty() {
            self.untold = Some(outcome);
        }
        Tally {
            accepted: accepted.len(),
            rejected: rejected.len(),
            undecided: review.undecided(),
            comments: review.comments().len(),
            reproposed: review.refused().count(),
        }
    }

    fn test_accepted(&mut self, on: GateTarget) -> Vec<Effect> {
        self.phase = Phase::AcceptedGates(on);
        self.effects_awaited()
    }

    fn in_accepted_gates(&mut self, on: GateTarget, input: Input) -> Result<Vec<Effect>, Refused> {
        match input {
            Input::GatesRan { tree, runs } if on == GateTarget::Base && tree == self.base => {
                self.keep_base_results(runs);
                Ok(self.settle())
            }
            Input::GatesRan { tree, runs } if on != GateTarget::Base && tree == self.accepted => {
                self.keep_results(&tree, runs);
                Ok(self.settle())
            }
            _ => Err(Refused::NotNow),
        }
    }

    /// The rule of section 2: another round, the Red choice, the end, or apply.
    fn settle(&mut self) -> Vec<Effect> {
        let changed = self.accepted != self.base;
        if changed && !self.is_interrupted() && !self.unknown_on_base(&self.accepted).is_empty() {
            return self.test_accepted(GateTarget::Base);
        }
        let failures = if changed { self.failures(&self.accepted) } else { Vec::new() };
        let unseen = changed && !self.settings.gates.is_empty() && !self.results.contains_key(&self.accepted);
        let stopped = unseen && self.latest.iter().any(|run| run.result == GateResult::Stopped);
        let red = !failures.is_empty() || stopped;
        let wants_round = self.untold.as_ref().is_some_and(asks_for_answer) || (red && !self.declined);
        if wants_round && self.over.is_empty() && self.round.0 >= self.settings.max_rounds {
            self.over.insert(Over::OutOfRounds);
        }
        if wants_round && self.over.is_empty() {
            return self.next_round(&failures, &[]);
        }
        if red {
            self.phase = Phase::Red;
            return Vec::new();
        }
        if changed { self.apply() } else { self.end(None) }
    }

    fn next_round(&mut self, failures: &[GateFailure], aside: &[FileReport]) -> Vec<Effect> {
        let outcome = self.untold.take().unwrap_or_default();
        let message = message::reviewed(&outcome, failures, aside, &Closing::Work, &self.constraints);
        self.round = self.round.next();
        self.attempt = 1;
        self.asked_on = self.accepted.clone();
        self.asked_for_gate = !failures.is_empty();
        self.declined = false;
        self.counted.clear();
        self.ask(message)
    }

    fn apply(&mut self) -> Vec<Effect> {
        self.phase = Phase::Apply;
        self.effects_awaited()
    }

    fn in_red(&mut self, input: Input) -> Result<Vec<Effect>, Refused> {
        let Input::Choose(choice) = input else { return Err(Refused::NotNow) };
        match choice {
            RedChoice::ApplyAnyway => Ok(self.apply()),
            RedChoice::RunAgain => {
                self.results.remove(&self.accepted);
                Ok(self.test_accepted(GateTarget::Accepted))
            }
            RedChoice::Discard => {
                let failed = self.failures(&self.accepted).into_iter().map(|failure| failure.name).next();
                let stopped = || {
                    let stopped = self.latest.iter().find(|run| run.result == GateResult::Stopped);
                    stopped.map(|run| &run.name).or(self.settings.gates.first()).cloned().unwrap_or_default()
                };
                let why = failed.map_or_else(|| Unapplied::GateStopped(stopped()), Unapplied::GateFailed);
                Ok(self.discard(why))
            }
        }
    }

    fn in_apply(&mut self, input: Input) -> Result<Vec<Effect>, Refused> {
        match input {
            Input::Applied { files, base } => {
                self.accepted = base.clone();
                self.base = base;
                self.accepted_so_far.clear();
                let aside: Vec<FileReport> =
                    files.iter().filter(|file| file.set_aside.is_some()).cloned().collect();
                self.applied.extend(files);
                if aside.is_empty() || !self.over.is_empty() {
                    return Ok(self.end_told(None, &aside));
                }
                if self.round.0 >= self.settings.max_rounds {
                    self.over.insert(Over::OutOfRounds);
                    return Ok(self.end_told(None, &aside));
                }
                Ok(self.next_round(&[], &aside))
            }
            _ => Err(Refused::NotNow),
        }
    }

    fn end(&mut self, unapplied: Option<Unapplied>) -> Vec<Effect> {
        self.end_told(unapplied, &[])
    }

    /// Ends the turn. What no round answered, and what is not in place although the model was told that
    /// it was accepted, the model reads with the next prompt.
    fn end_told(&mut self, unapplied: Option<Unapplied>, aside: &[FileReport]) -> Vec<Effect> {
        let mut effects = Vec::new();
        let told =
            self.untold.take().filter(|_| !self.over.is_empty() || unapplied.is_some() || !aside.is_empty());
        if told.is_some() || unapplied.is_some() || !aside.is_empty() {
            let closing = match &unapplied {
                None => Closing::TurnEnds,
                Some(why) => Closing::NotApplied { why: why.to_string(), before: self.has_applied() },
            };
            let message = message::reviewed(&told.unwrap_or_default(), &[], aside, &closing, &[]);
            effects.push(Effect::TellNext { message });
        }
        let ending = self.ending(unapplied);
        self.phase = Phase::Ended(ending.clone());
        effects.push(Effect::End(ending));
        effects
    }

    fn has_applied(&self) -> bool {
        self.applied.iter().any(|file| file.landed + file.already_there > 0)
    }

    fn interrupt(&mut self) -> Result<Vec<Effect>, Refused> {
        let effects = match self.phase {
            Phase::Model => vec![Effect::StopModel],
            Phase::Gates { .. } | Phase::AcceptedGates(_) => vec![Effect::StopGates],
            // Nothing runs that could be stopped, but no attempt and no round follows.
            Phase::Reading | Phase::Screening(_) => Vec::new(),
            _ => return Err(Refused::NotNow),
        };
        self.over.insert(Over::Interrupted);
        Ok(effects)
    }

    fn lift(&mut self, id: &ConstraintId) -> Result<Vec<Effect>, Refused> {
        let constraint =
            self.constraints.iter_mut().find(|constraint| constraint.id == *id).ok_or(Refused::Stale)?;
        constraint.standing = Standing::Lifted;
        Ok(Vec::new())
    }

    /// What had not been reported is asked for again; model and gates wait for the user's word.
    fn restarted(&mut self) -> Vec<Effect> {
        let interrupted = self.is_interrupted();
        let reason = match &self.phase {
            Phase::Model if interrupted => return self.read_worktree(),
            Phase::Gates { review, .. } if interrupted => {
                let review = review.clone();
                return self.open(review);
            }
            Phase::AcceptedGates(_) if interrupted => {
                self.phase = Phase::Red;
                return Vec::new();
            }
            Phase::Model => "Heph was closed while the model worked. What it changed is kept.",
            Phase::Gates { .. } | Phase::AcceptedGates(_) => "Heph was closed while the gates ran.",
            _ => return self.effects_awaited(),
        };
        self.hold(reason.into(), Cause::CutOff);
        Vec::new()
    }

    fn hold(&mut self, reason: String, cause: Cause) {
        let from = Box::new(std::mem::replace(&mut self.phase, Phase::Snapshot));
        self.phase = Phase::Held(Held { reason, cause, from });
    }

    /// Something that was asked for could not be done: the turn waits as it is.
    fn failed(&mut self, reason: String) -> Result<Vec<Effect>, Refused> {
        match &self.phase {
            // A model that fails while it is being stopped has stopped.
            Phase::Model if self.is_interrupted() => return Ok(self.read_worktree()),
            Phase::Held(_) | Phase::Review(_) | Phase::Red | Phase::Ended(_) => return Err(Refused::NotNow),
            _ => self.hold(reason, Cause::Failed),
        }
        Ok(Vec::new())
    }
}

/// Whether a review leaves something for the model to answer.
fn asks_for_answer(outcome: &Outcome) -> bool {
    outcome.files.iter().any(|file| {
        let asks = |hunk: &HunkResult| hunk.decision == Decision::Rejected || !hunk.comments.is_empty();
        !file.reproposed.is_empty() || file.hunks.iter().any(asks)
    })
}

/// The line of the next accepted state at which a rejected hunk would lie, the accepted ones in place.
fn place(rejected: &Hunk, accepted: &[&Hunk]) -> usize {
    let first_line = |hunk: &Hunk| match &hunk.item {
        Item::Lines { edits, .. } => edits.first().map_or(0, |edit| edit.old_start),
        _ => 0,
    };
    let start = first_line(rejected);
    let shift: isize = accepted
        .iter()
        .filter(|hunk| hunk.path == rejected.path && first_line(hunk) < start)
        .flat_map(|hunk| match &hunk.item {
            Item::Lines { edits, .. } => edits.as_slice(),
            _ => &[],
        })
        .map(|edit| edit.new.len() as isize - edit.old.len() as isize)
        .sum();
    start.saturating_add_signed(shift)
}
