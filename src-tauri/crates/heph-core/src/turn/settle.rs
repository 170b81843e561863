//! What follows a review: gates on what was accepted, another round, the Red choice, apply, the end.

use super::{
    Cause, Effect, GateResult, GateRun, GateTarget, Input, Over, Phase, RedChoice, Refused, Turn, Unapplied,
    Untold,
};
use crate::{
    apply::FileReport,
    message::{self, Closing, Decision, GateFailure, GateReport, HunkResult},
};

impl Turn {
    pub(super) fn test_accepted(&mut self, on: GateTarget) -> Vec<Effect> {
        self.phase = Phase::AcceptedGates(on);
        self.effects_awaited()
    }

    pub(super) fn in_accepted_gates(&mut self, on: GateTarget, input: Input) -> Result<Vec<Effect>, Refused> {
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
    pub(super) fn settle(&mut self) -> Vec<Effect> {
        let changed = self.accepted != self.base;
        if changed && !self.is_interrupted() && !self.unknown_on_base(&self.accepted).is_empty() {
            return self.test_accepted(GateTarget::Base);
        }
        let failures = if changed { self.failures(&self.accepted) } else { Vec::new() };
        let stopped = self.is_unseen() && self.latest.iter().any(|run| run.result == GateResult::Stopped);
        let red = !failures.is_empty() || stopped;
        let wants_answer = self.untold.as_ref().is_some_and(|untold| untold.wants_answer);
        let wants_round = wants_answer || (red && !self.declined);
        if wants_round && self.over.is_empty() && self.round.0 >= self.settings.max_rounds {
            self.over.insert(Over::OutOfRounds);
        }
        if wants_round && self.over.is_empty() {
            return self.next_round(failures, &[]);
        }
        // Who stops the gates then is asked once more.
        if red && self.over.contains(&Over::Anyway) && !self.is_interrupted() {
            return self.apply_anyway();
        }
        if red {
            self.phase = Phase::Red;
            return Vec::new();
        }
        if changed { self.apply() } else { self.end(None) }
    }

    /// Whether the accepted state is one that no gate has seen, although there are some.
    pub(super) fn is_unseen(&self) -> bool {
        let is_known = self.accepted == self.base || self.results.contains_key(&self.accepted);
        !is_known && !self.settings.gates.is_empty()
    }

    fn next_round(&mut self, failed: Vec<GateFailure>, aside: &[FileReport]) -> Vec<Effect> {
        self.asked_for_gate = !failed.is_empty();
        let gates = GateReport { failed, red_before: self.tell_red_before() };
        let outcome = self.untold.take().map(|untold| untold.outcome).unwrap_or_default();
        let message = message::reviewed(&outcome, &gates, aside, &Closing::Work);
        self.round = self.round.next();
        self.attempt = 1;
        self.asked_on = self.accepted.clone();
        self.declined = false;
        self.counted.clear();
        self.ask(message)
    }

    fn apply(&mut self) -> Vec<Effect> {
        self.phase = Phase::Apply;
        self.effects_awaited()
    }

    /// Applies a red state on the user's word, which the ending tells.
    fn apply_anyway(&mut self) -> Vec<Effect> {
        self.anyway = self.failing();
        self.apply()
    }

    /// The gates that keep what was last tested from being applied.
    pub(super) fn failing(&self) -> Vec<String> {
        let fails = |run: &&GateRun| match run.result {
            GateResult::Red { .. } => !self.red_before.contains(&run.name),
            GateResult::Stopped => true,
            GateResult::Green | GateResult::CouldNotRun { .. } => false,
        };
        self.latest.iter().filter(fails).map(|run| run.name.clone()).collect()
    }

    pub(super) fn in_red(&mut self, input: Input) -> Result<Vec<Effect>, Refused> {
        let Input::Choose(choice) = input else { return Err(Refused::NotNow) };
        match choice {
            RedChoice::ApplyAnyway => Ok(self.apply_anyway()),
            RedChoice::Edit => {
                self.phase = Phase::Reopening;
                Ok(self.effects_awaited())
            }
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

    pub(super) fn in_apply(&mut self, input: Input) -> Result<Vec<Effect>, Refused> {
        match input {
            Input::Applied { files, base, written } => {
                self.accepted = base.clone();
                self.base = base;
                self.accepted_so_far.clear();
                self.own_lines.clear();
                self.written.extend(written);
                self.part_written = false;
                let aside: Vec<FileReport> =
                    files.iter().filter(|file| file.set_aside.is_some()).cloned().collect();
                self.applied.extend(files);
                if aside.is_empty() || !self.over.is_empty() {
                    return Ok(self.end_told(None, &aside, EndsBy::Itself));
                }
                if self.round.0 >= self.settings.max_rounds {
                    self.over.insert(Over::OutOfRounds);
                    return Ok(self.end_told(None, &aside, EndsBy::Itself));
                }
                Ok(self.next_round(Vec::new(), &aside))
            }
            Input::ApplyStopped { reason } => {
                self.phase = Phase::Apply;
                self.part_written = true;
                self.hold(reason, Cause::PartWritten);
                Ok(Vec::new())
            }
            _ => Err(Refused::NotNow),
        }
    }

    pub(super) fn end(&mut self, unapplied: Option<Unapplied>) -> Vec<Effect> {
        self.end_told(unapplied, &[], EndsBy::Itself)
    }

    /// The user closes a review of their own tree, and nothing is taken out.
    pub(super) fn close(&mut self) -> Vec<Effect> {
        let said = |hunk: &HunkResult| hunk.decision != Decision::Undecided || !hunk.comments.is_empty();
        let anything = |untold: &Untold| untold.outcome.files.iter().any(|file| file.hunks.iter().any(said));
        self.untold = self.untold.take().filter(anything);
        self.end_told(None, &[], EndsBy::Closing)
    }

    /// Ends the turn. What no round answered, and what is not in place although the model was told that
    /// it was accepted, the model reads with the next prompt.
    fn end_told(&mut self, unapplied: Option<Unapplied>, aside: &[FileReport], by: EndsBy) -> Vec<Effect> {
        let mut effects = Vec::new();
        let told =
            self.untold.take().filter(|_| !self.over.is_empty() || unapplied.is_some() || !aside.is_empty());
        if told.is_some() || unapplied.is_some() || !aside.is_empty() {
            let closing = match (&unapplied, by) {
                (Some(why), _) => Closing::NotApplied { why: why.to_string(), before: self.has_applied() },
                (None, EndsBy::Itself) => Closing::TurnEnds,
                (None, EndsBy::Closing) => Closing::Closed,
            };
            let outcome = told.map(|untold| untold.outcome).unwrap_or_default();
            let gates = GateReport { failed: Vec::new(), red_before: self.tell_red_before() };
            let message = message::reviewed(&outcome, &gates, aside, &closing);
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

    pub(super) fn discard(&mut self, why: Unapplied) -> Vec<Effect> {
        self.accepted = self.base.clone();
        self.accepted_so_far.clear();
        self.own_lines.clear();
        self.end(Some(why))
    }
}

/// How a turn comes to its end.
#[derive(Clone, Copy)]
enum EndsBy {
    /// Nothing more is to be done.
    Itself,
    /// The user closed a review of their own tree.
    Closing,
}
