//! The loop: every event, one at a time.

use std::{
    collections::HashMap,
    fs::File,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use heph_agent::{Agent, AgentEvent, Stop, Stopped};
use heph_core::turn::{Effect, GateTarget, Input, Phase, Refused, Setup, Turn, Written};
use heph_wire::{CallError, ErrorKind, GateEvent, Notification, PhaseName, ToolCall};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Places,
    colours::Colours,
    failure::{failed, internal},
    model,
    outside::OutsideEdit,
    repos::Repos,
    session::{Latest, NotTaken, Report, Session, Taken, Undone},
    store::{Store, StoreError},
    view,
    work::{GateProgress, WorkError, Workplace},
};

/// After so long the store is given again what it did not take.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// What reaches the loop.
pub enum Event {
    /// A front end asks for a method.
    Call {
        /// Its name.
        method: String,
        /// Its params.
        params: Value,
        /// Takes the answer.
        reply: oneshot::Sender<Result<Value, CallError>>,
    },
    /// Something of a session's turn happened.
    Turn {
        /// The session.
        session: String,
        /// The turn's number: what a task reports of an earlier one is dropped.
        turn: u32,
        /// What.
        event: TurnEvent,
    },
    /// What the store did not take of this session is given to it again.
    Again(String),
    /// What a turn applied was taken back, or could not be.
    Undone {
        /// The session.
        session: String,
        /// The turn's number.
        turn: u32,
        /// What came of it.
        outcome: Result<Undone, CallError>,
        /// Takes the answer.
        reply: oneshot::Sender<Result<Value, CallError>>,
    },
    /// The user's own editor has closed.
    EditedOutside {
        /// The session.
        session: String,
        /// The edit, or why there is none.
        outcome: Result<OutsideEdit, CallError>,
    },
    /// Stop, and say so.
    Shutdown(oneshot::Sender<()>),
}

/// What a task reports.
pub enum TurnEvent {
    /// Work was done.
    Done(Result<Input, WorkError>),
    /// The model said something, or a tool has done its work.
    Agent(AgentEvent),
    /// The model is at rest again.
    AgentDone(Box<Agent>, Result<Stopped, Stop>),
    /// The setup printed this.
    SettingUp(String),
    /// A gate does something.
    Gate(GateTarget, String, GateProgress),
}

/// All state, and the one place where it changes.
pub struct Loop {
    pub(crate) places: Places,
    _lock: File,
    pub(crate) store: Store,
    pub(crate) repos: Repos,
    pub(crate) sessions: HashMap<String, Session>,
    pub(crate) colours: Arc<Colours>,
    pub(crate) tasks: TaskTracker,
    pub(crate) events: mpsc::UnboundedSender<Event>,
    notify: Arc<dyn Fn(Notification) + Send + Sync>,
}

impl Loop {
    /// A loop over what is kept in `places`.
    pub fn new(
        places: Places,
        lock: File,
        events: mpsc::UnboundedSender<Event>,
        notify: Arc<dyn Fn(Notification) + Send + Sync>,
    ) -> Result<Loop, CallError> {
        let store = Store::open(&places.data.join("heph.db")).map_err(internal)?;
        let repos = Repos::new(&places.data, &places.config);
        let colours = Arc::new(Colours::default());
        let (sessions, tasks) = (HashMap::new(), TaskTracker::new());
        Ok(Loop { places, _lock: lock, store, repos, sessions, colours, tasks, events, notify })
    }

    /// Takes events until a shutdown.
    pub async fn run(mut self, mut events: mpsc::UnboundedReceiver<Event>) {
        while let Some(event) = events.recv().await {
            match event {
                Event::Call { method, params, reply } => self.answer(&method, params, reply),
                Event::Turn { session, turn, event } => self.on_turn_event(&session, turn, event),
                Event::Again(session) => self.on_again(session),
                Event::Undone { session, turn, outcome, reply } => {
                    drop(reply.send(self.on_undone(&session, turn, outcome)));
                }
                Event::EditedOutside { session, outcome } => self.on_edited_outside(&session, outcome),
                Event::Shutdown(done) => {
                    self.sessions.values().for_each(|session| session.cancel.cancel());
                    self.tasks.close();
                    self.tasks.wait().await;
                    let _ = done.send(());
                    return;
                }
            }
        }
    }

    pub(crate) fn notify(&self, notification: Notification) {
        (self.notify)(notification);
    }

    pub(crate) fn complain(&self, session: &str, message: String) {
        tracing::error!("{message}");
        self.notify(Notification::Error { session: Some(session.to_owned()), message });
    }

    /// A session, loaded if it is not yet. An open turn that was going on when the program stopped is
    /// taken up again here, as far as it may be.
    pub(crate) fn session(&mut self, id: &str) -> Result<&mut Session, CallError> {
        if !self.sessions.contains_key(id) {
            let row = self.store.session(id).map_err(internal)?;
            let row = row.ok_or_else(|| CallError::new(ErrorKind::NotFound, "There is no such session."))?;
            let session = Session::load(&self.store, row).map_err(internal)?;
            let is_open = session.turn().is_some();
            self.sessions.insert(id.to_owned(), session);
            if is_open && let Err(error) = self.pass(id, Input::Restarted) {
                // Its turn would wait for a task that does not run.
                self.sessions.remove(id);
                return Err(not_taken(error));
            }
        }
        self.sessions
            .get_mut(id)
            .ok_or_else(|| CallError::new(ErrorKind::NotFound, "There is no such session."))
    }

    /// Gives an input to a session's turn, and does what follows. Returns the session's revision.
    pub(crate) fn give(&mut self, id: &str, input: Input) -> Result<u64, CallError> {
        self.session(id)?;
        self.pass(id, input).map_err(not_taken)
    }

    fn pass(&mut self, id: &str, input: Input) -> Result<u64, NotTaken> {
        let asked = matches!(input, Input::Interrupt);
        let Loop { store, sessions, .. } = self;
        let session = sessions.get_mut(id).ok_or(Refused::NotNow)?;
        let before = session.turn().map(standing);
        let Taken { effects, ended } = session.take(store, input, now())?;
        let revision = session.revision;
        let after = session.turn().map(standing);
        if asked {
            session.cancel.cancel();
        }
        if after != before && after.is_some() {
            self.notify_phase(id);
        }
        for effect in effects {
            self.carry_out(id, effect);
        }
        self.notify(Notification::SessionChanged { session: id.to_owned(), revision });
        if let Some(ended) = ended {
            self.notify_phase(id);
            self.notify(Notification::TurnEnded { session: id.to_owned(), ended });
        }
        Ok(revision)
    }

    pub(crate) fn notify_phase(&self, id: &str) {
        let Some(session) = self.sessions.get(id) else { return };
        let (turn, round, attempt, phase) = match &session.latest {
            Latest::None => return,
            Latest::Open { number, turn, .. } => {
                (*number, turn.round().0, turn.attempt(), view::phase(turn.phase()))
            }
            Latest::Ended { number, ending, .. } => (*number, ending.rounds, 1, PhaseName::Ended),
        };
        self.notify(Notification::Phase { session: id.to_owned(), turn, round, attempt, phase });
    }

    fn on_turn_event(&mut self, id: &str, turn: u32, event: TurnEvent) {
        let current = self.sessions.get(id).is_some_and(|session| session.latest.number() == turn);
        if !current {
            return;
        }
        let report = match event {
            TurnEvent::Done(Ok(input)) => Report::Input(input),
            TurnEvent::Done(Err(error)) if error.has_written() => {
                Report::Input(Input::ApplyStopped { reason: error.sentence() })
            }
            TurnEvent::Done(Err(error)) => Report::Input(Input::Failed { reason: error.sentence() }),
            TurnEvent::Agent(event) => Report::Heard(event),
            TurnEvent::AgentDone(agent, outcome) => self.at_rest(id, *agent, outcome),
            TurnEvent::SettingUp(output) => {
                return self.notify(Notification::Setup { session: id.to_owned(), output });
            }
            TurnEvent::Gate(on, name, progress) => return self.on_gate(id, on, name, progress),
        };
        let Some(session) = self.sessions.get_mut(id) else { return };
        session.unrecorded.push_back((turn, report));
        // Behind one that the store did not take it waits for its turn.
        if session.unrecorded.len() == 1
            && let Err(error) = self.record_reports(id)
        {
            let again = "Nothing is lost, and it is tried again until it succeeds.";
            self.complain(id, format!("{} {again}", failed(error)));
            self.try_again(id.to_owned());
        }
    }

    /// Takes what tasks reported, in order, as far as the store lets it.
    fn record_reports(&mut self, id: &str) -> Result<(), StoreError> {
        while let Some((session, (turn, report))) =
            self.sessions.get(id).and_then(|session| Some((session, session.unrecorded.front()?.clone())))
        {
            let written = match &report {
                Report::Input(Input::Applied { written, .. }) => written.clone(),
                _ => None,
            };
            let outcome = match report {
                _ if turn != session.latest.number() => Ok(()),
                Report::Input(input) => self.pass(id, input).map(|_| ()),
                Report::CutShort => {
                    let words = session.streaming.clone();
                    self.pass(id, Input::ModelStopped { words }).map(|_| ())
                }
                Report::Heard(event) => self.on_agent_event(id, event).map_err(NotTaken::from),
            };
            match outcome {
                Ok(()) => {}
                Err(NotTaken::Refused(refusal)) => self.complain(id, refused(refusal).message),
                Err(NotTaken::Store(error)) => return Err(error),
            }
            written.iter().for_each(|written| self.forget_apply(id, written));
            if let Some(session) = self.sessions.get_mut(id) {
                session.unrecorded.pop_front();
            }
        }
        Ok(())
    }

    /// What an apply did is in the store: the journal of it may go.
    pub(crate) fn forget_apply(&mut self, id: &str, written: &Written) {
        if let Ok(place) = self.workplace(id)
            && let Err(error) = place.private.forget_apply(&written.before, &written.after)
        {
            tracing::warn!("the journal of an apply stays: {error}");
        }
    }

    fn on_again(&mut self, session: String) {
        if self.record_reports(&session).is_err() {
            self.try_again(session);
        }
    }

    fn try_again(&self, session: String) {
        let events = self.events.clone();
        tokio::spawn(async move {
            tokio::time::sleep(AGAIN_AFTER).await;
            let _ = events.send(Event::Again(session));
        });
    }

    fn on_agent_event(&mut self, id: &str, event: AgentEvent) -> Result<(), StoreError> {
        let Loop { store, sessions, .. } = self;
        let Some(session) = sessions.get_mut(id) else { return Ok(()) };
        let call = session.hear(store, &event, now())?;
        let revision = session.revision;
        if let AgentEvent::Text(text) = event {
            self.notify(Notification::ModelText { session: id.to_owned(), text });
        }
        if let Some(call) = call {
            let (name, summary) = (call.name.clone(), summary(&call));
            self.notify(Notification::ModelTool { session: id.to_owned(), name, summary, call });
            self.notify(Notification::SessionChanged { session: id.to_owned(), revision });
        }
        Ok(())
    }

    /// Takes the model back, and says what its stop means to the turn.
    fn at_rest(&mut self, id: &str, agent: Agent, outcome: Result<Stopped, Stop>) -> Report {
        if let Some(session) = self.sessions.get_mut(id) {
            session.agent = Some(agent);
        }
        match outcome {
            Ok(stopped) => Report::Input(Input::ModelStopped { words: stopped.text }),
            Err(Stop::Cancelled) => Report::CutShort,
            Err(failure) => Report::Input(Input::Failed { reason: failed(failure) }),
        }
    }

    fn on_gate(&mut self, id: &str, on: GateTarget, name: String, progress: GateProgress) {
        let on = match on {
            GateTarget::Proposed => heph_wire::GateTarget::Proposed,
            GateTarget::Accepted => heph_wire::GateTarget::Accepted,
            GateTarget::Base => heph_wire::GateTarget::Base,
        };
        let (event, output, result, seconds) = match progress {
            GateProgress::Start => (GateEvent::Start, None, None, None),
            GateProgress::Output(text) => (GateEvent::Output, Some(text), None, None),
            GateProgress::End(run) => (GateEvent::End, None, Some(view::run_result(&run)), Some(run.seconds)),
        };
        if let (GateEvent::Start, Some(session)) = (event, self.sessions.get_mut(id)) {
            session.gate_runs(&name);
        }
        let session = id.to_owned();
        self.notify(Notification::Gate { session, name, on, event, output, result, seconds });
    }

    pub(crate) fn carry_out(&mut self, id: &str, effect: Effect) {
        if let Err(error) = self.start_work(id, effect) {
            // The phase waits for an answer, and this is one.
            self.send(id, TurnEvent::Done(Err(WorkError::CannotStart(error.message))));
        }
    }

    fn start_work(&mut self, id: &str, effect: Effect) -> Result<(), CallError> {
        match effect {
            Effect::Begin => self.blocking(id, |place, _| place.begin())?,
            Effect::ReadWorktree { accepted } => {
                let (number, round) = self.numbers(id);
                let notes = self.store.notes(id, number, round).map_err(internal)?;
                self.blocking(id, move |place, turn| place.read(turn.base(), &accepted, &notes))?;
            }
            Effect::Compose { onto, hunks, edited } => {
                self.blocking(id, move |place, turn| place.compose(turn.base(), &onto, &hunks, &edited))?;
            }
            Effect::Apply { base, accepted, index } => {
                self.blocking(id, move |place, _| place.apply(&base, &accepted, index))?
            }
            Effect::SetUp(setup) => self.set_up(id, setup)?,
            Effect::ReadTree { rev } => {
                self.blocking(id, move |place, _| place.read_tree(rev.as_deref()))?;
            }
            Effect::TakeOut { against, tree, files } => {
                self.blocking(id, move |place, _| place.take_out(&against, &tree, &files))?;
            }
            Effect::Reopen { base, accepted } => {
                let (number, _) = self.numbers(id);
                let notes = self.store.notes(id, number, 1).map_err(internal)?;
                self.blocking(id, move |place, _| place.reopen(&base, &accepted, &notes))?;
            }
            Effect::AskModel { message } => self.ask_model(id, message)?,
            Effect::RunGates { on, tree, names } => self.run_gates(id, on, tree, &names)?,
            Effect::OpenReview { hunks } => {
                let (_, round) = self.numbers(id);
                let hunks = hunks as u32;
                self.notify(Notification::ReviewReady { session: id.to_owned(), round, hunks });
            }
            Effect::TellNext { .. } | Effect::Reviewed(_) | Effect::End(_) => {}
            // The token was cancelled as the interrupt was taken.
            Effect::StopModel | Effect::StopCommands => {}
        }
        Ok(())
    }

    pub(crate) fn numbers(&self, id: &str) -> (u32, u32) {
        let session = self.sessions.get(id);
        let turn = session.and_then(|session| session.turn());
        (session.map_or(0, |session| session.latest.number()), turn.map_or(0, |turn| turn.round().0))
    }

    fn send(&self, id: &str, event: TurnEvent) {
        let (turn, _) = self.numbers(id);
        // The loop itself receives, so it is there.
        let _ = self.events.send(Event::Turn { session: id.to_owned(), turn, event });
    }

    pub(crate) fn workplace(&mut self, id: &str) -> Result<Workplace, CallError> {
        let repo = self.session(id)?.row.repo.clone();
        let private = self.repos.get(&self.store, &repo, now())?.private.clone();
        Ok(Workplace { private, session: id.to_owned() })
    }

    /// Reports of a task, for the present turn of a session.
    fn reporter(&self, id: &str) -> Reporter {
        let (turn, _) = self.numbers(id);
        Reporter { events: self.events.clone(), session: id.to_owned(), turn }
    }

    fn blocking(
        &mut self,
        id: &str,
        work: impl FnOnce(&Workplace, &Turn) -> Result<Input, WorkError> + Send + 'static,
    ) -> Result<(), CallError> {
        let place = self.workplace(id)?;
        let Some(turn) = self.session(id)?.turn().cloned() else { return Ok(()) };
        let report = self.reporter(id);
        self.tasks.spawn_blocking(move || report.tell(TurnEvent::Done(work(&place, &turn))));
        Ok(())
    }

    /// A token that stops what is started now, and nothing that was started before.
    fn fresh_token(&mut self, id: &str) -> Result<CancellationToken, CallError> {
        let session = self.session(id)?;
        session.cancel = CancellationToken::new();
        Ok(session.cancel.clone())
    }

    fn ask_model(&mut self, id: &str, message: String) -> Result<(), CallError> {
        let place = self.workplace(id)?;
        let worktree = place.private.worktree(id).map_err(internal)?;
        let mut agent = match self.session(id)?.agent.take() {
            Some(agent) => agent,
            // The message that is given now is in the store already.
            None => self.new_agent(id, SkipLast::Yes)?,
        };
        let cancel = self.fresh_token(id)?;
        let report = self.reporter(id);
        self.notify(Notification::ModelTold { session: id.to_owned(), message: message.clone() });
        self.tasks.spawn(async move {
            let mut hear = |event| report.tell(TurnEvent::Agent(event));
            let outcome = agent.work(message, worktree.path(), &mut hear, &cancel).await;
            report.tell(TurnEvent::AgentDone(Box::new(agent), outcome));
        });
        Ok(())
    }

    /// The session's model, made from its settings and all that was said.
    pub(crate) fn new_agent(&mut self, id: &str, skip_last: SkipLast) -> Result<Agent, CallError> {
        let (repo, own) = {
            let row = &self.session(id)?.row;
            (row.repo.clone(), row.model.clone())
        };
        let root = self.repos.get(&self.store, &repo, now())?.user.root().to_owned();
        let settings = match own {
            Some(own) => Some(own),
            None => self.repos.default_model(&repo)?,
        };
        let settings = settings.ok_or_else(|| {
            let file = self.places.config.display();
            CallError::new(
                ErrorKind::Settings,
                format!("No model is chosen. Set one under [model] in {file}."),
            )
        })?;
        let mut told = self.store.told(id).map_err(internal)?;
        if skip_last == SkipLast::Yes {
            told.pop();
        }
        model::agent(&settings, &root, told)
    }

    fn set_up(&mut self, id: &str, setup: Setup) -> Result<(), CallError> {
        let place = self.workplace(id)?;
        let Some(base) = self.session(id)?.turn().map(|turn| turn.base().clone()) else { return Ok(()) };
        let cancel = self.fresh_token(id)?;
        let report = self.reporter(id);
        self.tasks.spawn(async move {
            let output = |text| report.tell(TurnEvent::SettingUp(text));
            let outcome = place.set_up(base, setup, output, cancel).await;
            report.tell(TurnEvent::Done(outcome));
        });
        Ok(())
    }

    fn run_gates(
        &mut self,
        id: &str,
        on: GateTarget,
        tree: heph_core::id::TreeId,
        names: &[String],
    ) -> Result<(), CallError> {
        let place = self.workplace(id)?;
        let Latest::Open { gates, turn, .. } = &self.session(id)?.latest else { return Ok(()) };
        let gates = gates.iter().filter(|gate| names.contains(&gate.name)).cloned().collect();
        let base = turn.base().clone();
        // Also after gates on the base: it is there that the model works on.
        let standing = match turn.phase() {
            Phase::Gates { tree, .. } => tree.clone(),
            _ => turn.accepted().clone(),
        };
        let cancel = self.fresh_token(id)?;
        let report = self.reporter(id);
        self.tasks.spawn(async move {
            let progress = |name: &str, progress| report.tell(TurnEvent::Gate(on, name.to_owned(), progress));
            let outcome = place.run_gates(base, tree, standing, gates, progress, cancel).await;
            report.tell(TurnEvent::Done(outcome));
        });
        Ok(())
    }
}

/// What a task tells the loop with. One that panics has failed, and says so.
struct Reporter {
    events: mpsc::UnboundedSender<Event>,
    session: String,
    turn: u32,
}

impl Reporter {
    fn tell(&self, event: TurnEvent) {
        let _ = self.events.send(Event::Turn { session: self.session.clone(), turn: self.turn, event });
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        // Nothing of a task can panic after its last word.
        if std::thread::panicking() {
            self.tell(TurnEvent::Done(Err(WorkError::Panicked)));
        }
    }
}

/// Whether the latest thing said is left out of a history, since it is about to be said again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SkipLast {
    /// It is.
    Yes,
    /// It is not.
    No,
}

fn standing(turn: &Turn) -> (u32, u32, PhaseName, bool) {
    (turn.round().0, turn.attempt(), view::phase(turn.phase()), view::held(turn.phase()).is_some())
}

fn summary(call: &ToolCall) -> String {
    format!("{} {}: {}", call.name, call.target, call.outcome)
}

fn not_taken(error: NotTaken) -> CallError {
    match error {
        NotTaken::Refused(refusal) => refused(refusal),
        NotTaken::Store(error) => internal(error),
    }
}

fn refused(refused: Refused) -> CallError {
    match refused {
        Refused::Stale => {
            CallError::new(ErrorKind::Stale, "That is no longer part of the review; it has changed.")
        }
        Refused::Undecided { count } => {
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            CallError::new(
                ErrorKind::Undecided { count },
                match count {
                    1 => "1 hunk has no verdict yet. Decide it first.".to_owned(),
                    _ => format!("{count} hunks have no verdict yet. Decide them first."),
                },
            )
        }
        refusal @ (Refused::PartWritten
        | Refused::Unacceptable { .. }
        | Refused::NoSuchLine { .. }
        | Refused::EditedByUser
        | Refused::CannotSplit) => {
            CallError::new(ErrorKind::Refused, failed(&refusal) + " Nothing was changed.")
        }
        Refused::NotNow => {
            CallError::new(ErrorKind::Refused, "That cannot be done now. Nothing was changed.")
        }
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
