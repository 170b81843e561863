//! Dispatch, and the phases up to the review.

use std::collections::BTreeSet;

use super::{
    Cause, Effect, GateResult, GateRun, GateTarget, Held, Index, Input, Opening, Over, Phase, Refused,
    Resume, Setup, SetupResult, Turn, Unapplied,
    reviewing::{take_comment, taken_out},
};
use crate::{
    constraint::{Standing, reproposals},
    id::{ConstraintId, TreeId},
    message::{self, GateFailure, GateReport},
    refusal::cannot_be_accepted,
    review::{Review, Subject, Verdict},
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
                Phase::Setup => self.in_setup(input),
                Phase::Model => self.in_model(input),
                Phase::Held(held) => self.in_held(*held.from, held.cause, input),
                Phase::Reading => self.in_reading(input),
                Phase::Screening(review) => self.in_screening(review, input),
                Phase::Gates { review, tree, on } => self.in_gates(review, tree, on, input),
                Phase::Review(review) => self.in_review(review, input),
                Phase::Composing { review, how } => self.in_composing(review, how, input),
                Phase::AcceptedGates(on) => self.in_accepted_gates(on, input),
                Phase::Red => self.in_red(input),
                Phase::Reopening => self.in_reopening(input),
                Phase::Apply => self.in_apply(input),
                Phase::Ended(_) => Err(Refused::NotNow),
            },
        }
    }

    fn in_snapshot(&mut self, input: Input) -> Result<Vec<Effect>, Refused> {
        match (input, &self.opening) {
            (Input::Begun { base }, Opening::Prompt(_)) => {
                self.accepted = base.clone();
                self.asked_on = base.clone();
                self.base = base;
                if self.is_interrupted() {
                    return Ok(self.settle());
                }
                if self.settings.setup == Setup::default() {
                    return Ok(self.ask(self.asked.clone()));
                }
                self.phase = Phase::Setup;
                Ok(self.effects_awaited())
            }
            (Input::TreeRead { against, tree, files }, Opening::Tree { .. }) => {
                self.accepted = against;
                self.base = tree;
                let review = Review::new(Subject::Tree, files, Vec::new());
                if self.is_interrupted() || review.hunks().next().is_none() {
                    return Ok(self.end(None));
                }
                Ok(self.open(review))
            }
            _ => Err(Refused::NotNow),
        }
    }

    fn in_setup(&mut self, input: Input) -> Result<Vec<Effect>, Refused> {
        let Input::SetUp(result) = input else { return Err(Refused::NotNow) };
        match result {
            _ if self.is_interrupted() => Ok(self.settle()),
            SetupResult::Done => Ok(self.ask(self.asked.clone())),
            SetupResult::Failed { reason, output } => {
                self.phase = Phase::Setup;
                self.hold(reason, Cause::Setup { output });
                Ok(Vec::new())
            }
            SetupResult::Stopped => {
                self.phase = Phase::Setup;
                self.hold("The setup was stopped.".into(), Cause::Setup { output: String::new() });
                Ok(Vec::new())
            }
        }
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
                    Cause::Failed | Cause::PartWritten | Cause::Setup { .. } => self.asked.clone(),
                    Cause::CutOff => message::go_on(),
                };
                Ok(self.ask(message))
            }
            (Resume::Continue, from) => {
                self.phase = from;
                Ok(self.effects_awaited())
            }
            (Resume::Skip, Phase::Setup) => Ok(self.ask(self.asked.clone())),
            (Resume::Skip, _) => Err(Refused::NotNow),
            (Resume::Review, Phase::Model) => Ok(self.read_worktree()),
            (Resume::Review, Phase::Gates { review, .. } | Phase::Screening(review)) => Ok(self.open(review)),
            // The verdicts are as they were, and can be given anew.
            (Resume::Review, Phase::Composing { review, .. }) => Ok(self.open(review)),
            (Resume::Review, _) => Err(Refused::NotNow),
            // Its journal completes it some time, and an ended turn would not know.
            (Resume::Discard, Phase::Apply) if cause == Cause::PartWritten => Err(Refused::PartWritten),
            (Resume::Discard, Phase::Apply) => {
                self.over.insert(Over::Failed);
                Ok(self.end(Some(Unapplied::NotWritten)))
            }
            // A review of the user's own tree changes nothing unless it is finished.
            (Resume::Discard, _) if matches!(self.opening, Opening::Tree { .. }) => {
                self.over.insert(Over::Failed);
                Ok(self.end(None))
            }
            // What no gate has seen is not applied by ending the turn, and not lost by it either.
            (Resume::Discard, from) => {
                self.over.insert(Over::Failed);
                if self.is_unseen() || matches!(from, Phase::AcceptedGates(_) | Phase::Reopening) {
                    self.phase = Phase::Red;
                    return Ok(Vec::new());
                }
                Ok(self.settle())
            }
        }
    }

    /// Asks the model to work. What it must not propose again is told as it stands now.
    pub(super) fn ask(&mut self, message: String) -> Vec<Effect> {
        self.asked = message;
        self.phase = Phase::Model;
        self.effects_awaited()
    }

    /// What the present phase waits for, to be asked for again.
    pub(super) fn effects_awaited(&self) -> Vec<Effect> {
        let accepted = || self.accepted.clone();
        let effect = match &self.phase {
            Phase::Snapshot => match &self.opening {
                Opening::Prompt(_) => Effect::Begin,
                Opening::Tree { rev } => Effect::ReadTree { rev: rev.clone() },
            },
            Phase::Setup => Effect::SetUp(self.settings.setup.clone()),
            Phase::Model => {
                Effect::AskModel { message: message::with_constraints(&self.asked, &self.constraints) }
            }
            Phase::Reading => Effect::ReadWorktree { accepted: accepted() },
            Phase::Screening(review) => {
                let kept = review.hunks().filter(|hunk| cannot_be_accepted(hunk).is_none());
                Effect::Compose { onto: accepted(), hunks: kept.cloned().collect(), edited: Vec::new() }
            }
            Phase::Gates { tree, on, .. } => self.run_gates(*on, tree),
            Phase::Composing { review, .. } if review.subject() == Subject::Tree => {
                let (against, tree) = (accepted(), self.base.clone());
                Effect::TakeOut { against, tree, files: taken_out(review) }
            }
            Phase::Composing { review, .. } => {
                let hunks = review.with_verdict(Verdict::Accepted).cloned().collect();
                let edited = review.edited_files().map(|(file, _)| file).collect();
                Effect::Compose { onto: accepted(), hunks, edited }
            }
            Phase::AcceptedGates(on) => self.run_gates(*on, &self.accepted),
            Phase::Reopening => Effect::Reopen { base: self.base.clone(), accepted: accepted() },
            Phase::Apply => {
                let index = match self.opening {
                    Opening::Prompt(_) => Index::Untouched,
                    Opening::Tree { .. } => Index::Follows,
                };
                Effect::Apply { base: self.base.clone(), accepted: accepted(), index }
            }
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
            self.refused_earlier.retain(|(earlier, _)| earlier.constraint != reproposal.constraint);
            for constraint in &mut self.constraints {
                constraint.reproposed |= constraint.id == reproposal.constraint;
            }
        }
        self.check_floor();
        let screened = !found.is_empty();
        let review = Review::new(Subject::Round, files, found);
        if screened {
            self.phase = Phase::Screening(review);
            Ok(self.effects_awaited())
        } else {
            Ok(self.test(review, tree))
        }
    }

    pub(super) fn check_floor(&mut self) {
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
        mut review: Review,
        tree: TreeId,
        on: GateTarget,
        input: Input,
    ) -> Result<Vec<Effect>, Refused> {
        match (on, input) {
            (GateTarget::Base, Input::GatesRan { tree: ran_on, runs }) if ran_on == self.base => {
                self.keep_base_results(runs);
                Ok(self.open(review))
            }
            (GateTarget::Proposed, Input::GatesRan { tree: ran_on, runs }) if ran_on == tree => {
                self.keep_results(&tree, runs);
                Ok(self.tested(review, tree))
            }
            (_, Input::Comment(comment)) => {
                take_comment(&mut review, comment)?;
                self.phase = Phase::Gates { review, tree, on };
                Ok(Vec::new())
            }
            (_, Input::Uncomment(id)) => {
                review.uncomment(&id).then_some(()).ok_or(Refused::Stale)?;
                self.phase = Phase::Gates { review, tree, on };
                Ok(Vec::new())
            }
            _ => Err(Refused::NotNow),
        }
    }

    pub(super) fn keep_results(&mut self, tree: &TreeId, runs: Vec<GateRun>) {
        self.latest = runs.clone();
        // What the user stopped has not seen the tree.
        if runs.iter().all(|run| run.result != GateResult::Stopped) {
            self.results.insert(tree.clone(), runs);
        }
    }

    /// Shows what gates said of a tree that they have seen before.
    pub(super) fn recall_results(&mut self, tree: &TreeId) {
        if let Some(runs) = self.results.get(tree) {
            self.latest.clone_from(runs);
        }
    }

    fn tested(&mut self, review: Review, tree: TreeId) -> Vec<Effect> {
        self.recall_results(&tree);
        let failed = self.failures(&tree);
        if failed.is_empty() || self.is_interrupted() {
            return self.open(review);
        }
        let may_try = self.attempt < self.settings.attempts && !self.declined && self.over.is_empty();
        if may_try {
            self.attempt += 1;
            let report = GateReport { failed, red_before: self.tell_red_before() };
            self.asked_on = tree;
            self.asked_for_gate = true;
            self.refused_earlier.extend(review.refused().map(|(found, hunk)| (found.clone(), hunk.clone())));
            return self.ask(message::gates_failed(&report, &review.commented()));
        }
        if self.unknown_on_base(&tree).is_empty() {
            return self.open(review);
        }
        self.phase = Phase::Gates { review, tree, on: GateTarget::Base };
        self.effects_awaited()
    }

    /// The gates that are red on `tree`, and have not been run on the base.
    pub(super) fn unknown_on_base(&self, tree: &TreeId) -> Vec<String> {
        let names = self.failures(tree).into_iter().map(|failure| failure.name);
        names.filter(|name| !self.run_on_base.contains(name)).collect()
    }

    pub(super) fn keep_base_results(&mut self, runs: Vec<GateRun>) {
        for run in runs {
            if let GateResult::Red { .. } = run.result {
                self.red_before.insert(run.name.clone());
                self.untold_red_before.insert(run.name.clone());
            }
            self.run_on_base.insert(run.name);
        }
    }

    /// The gates that are red on `tree`, but for those that were red before the turn.
    pub(super) fn failures(&self, tree: &TreeId) -> Vec<GateFailure> {
        let runs = self.results.get(tree).map(Vec::as_slice).unwrap_or_default();
        runs.iter().filter(|run| !self.red_before.contains(&run.name)).filter_map(failure).collect()
    }

    /// The gates that were red before the turn and of which the model has not been told. It is told now.
    pub(super) fn tell_red_before(&mut self) -> Vec<GateFailure> {
        let untold = std::mem::take(&mut self.untold_red_before);
        let (told, untold) = untold.into_iter().partition::<BTreeSet<_>, _>(|name| {
            self.latest.iter().any(|run| run.name == *name && failure(run).is_some())
        });
        self.untold_red_before = untold;
        self.latest.iter().filter(|run| told.contains(&run.name)).filter_map(failure).collect()
    }

    pub(super) fn open(&mut self, review: Review) -> Vec<Effect> {
        for constraint in &mut self.constraints {
            if constraint.answered.is_none() && constraint.round < self.round {
                constraint.answered = Some(self.round);
            }
        }
        let hunks = review.hunks().count();
        self.phase = Phase::Review(review);
        vec![Effect::OpenReview { hunks }]
    }

    fn interrupt(&mut self) -> Result<Vec<Effect>, Refused> {
        let effects = match self.phase {
            Phase::Model => vec![Effect::StopModel],
            Phase::Setup | Phase::Gates { .. } | Phase::AcceptedGates(_) => vec![Effect::StopCommands],
            // Nothing runs that could be stopped, but no attempt and no round follows.
            Phase::Snapshot | Phase::Reading | Phase::Screening(_) => Vec::new(),
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

    /// What had not been reported is asked for again; model and commands wait for the user's word.
    fn restarted(&mut self) -> Vec<Effect> {
        let interrupted = self.is_interrupted();
        let reason = match &self.phase {
            Phase::Setup if interrupted => return self.settle(),
            Phase::Model if interrupted => return self.read_worktree(),
            Phase::Gates { review, .. } if interrupted => {
                let review = review.clone();
                return self.open(review);
            }
            Phase::AcceptedGates(_) if interrupted => {
                self.phase = Phase::Red;
                return Vec::new();
            }
            Phase::Setup => "Heph was closed while the worktree was set up.",
            Phase::Model => "Heph was closed while the model worked. What it changed is kept.",
            Phase::Gates { .. } | Phase::AcceptedGates(_) => "Heph was closed while the gates ran.",
            _ => return self.effects_awaited(),
        };
        self.hold(reason.into(), Cause::CutOff);
        Vec::new()
    }

    pub(super) fn hold(&mut self, reason: String, cause: Cause) {
        let from = Box::new(std::mem::replace(&mut self.phase, Phase::Snapshot));
        self.phase = Phase::Held(Held { reason, cause, from });
    }

    /// Something that was asked for could not be done: the turn waits as it is.
    fn failed(&mut self, reason: String) -> Result<Vec<Effect>, Refused> {
        match &self.phase {
            // A model that fails while it is being stopped has stopped, and so has a setup.
            Phase::Model if self.is_interrupted() => return Ok(self.read_worktree()),
            Phase::Setup if self.is_interrupted() => return Ok(self.settle()),
            Phase::Held(_) | Phase::Review(_) | Phase::Red | Phase::Ended(_) => return Err(Refused::NotNow),
            // However the next try failed, the part is there.
            Phase::Apply if self.part_written => self.hold(reason, Cause::PartWritten),
            _ => self.hold(reason, Cause::Failed),
        }
        Ok(Vec::new())
    }
}

fn failure(run: &GateRun) -> Option<GateFailure> {
    let GateResult::Red { exit } = run.result else { return None };
    Some(GateFailure { name: run.name.clone(), exit, seconds: run.seconds, output: run.output.clone() })
}
