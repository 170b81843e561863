//! A session as the loop holds it: the latest turn, the conversation, and what runs for it.

use std::collections::VecDeque;

use heph_agent::{Agent, AgentEvent, ToolDone};
use heph_core::{
    path::RepoPath,
    turn::{self, Effect, Ending, Input, Opening, Phase, Turn, Written},
};
use heph_wire::{Counts, GateResult, GateView, Message, ToolCall};
use tokio_util::sync::CancellationToken;

use crate::{
    settings::Gate,
    store::{Change, SessionRow, Speaker, Store, StoreError, TurnRow, Untold},
    view,
};

/// A session's title is cut to so many characters.
const TITLE: usize = 60;

/// A session.
pub struct Session {
    /// Its row in the store.
    pub row: SessionRow,
    /// Its latest turn.
    pub latest: Latest,
    /// Counts every change of the view.
    pub revision: u64,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// Words of the model that are not yet an entry of the conversation.
    pub streaming: String,
    /// The latest results of the turn's gates.
    pub gates: Vec<GateView>,
    /// The model at rest: it is with its task while it works, and made anew after a restart.
    pub agent: Option<Agent>,
    /// Stops the task that runs for the session.
    pub cancel: CancellationToken,
    /// Whether what a turn applied is being taken back.
    pub undo: Undo,
    /// What tasks reported and the store has not taken yet, oldest first, each with its turn's number.
    pub unrecorded: VecDeque<(u32, Report)>,
}

/// What a task reported, and the store is to take.
#[derive(Clone)]
pub enum Report {
    /// An input of the turn.
    Input(Input),
    /// What the working model does.
    Heard(AgentEvent),
    /// The model was stopped; what it has said is what was shown of it.
    CutShort,
}

/// The latest turn of a session.
pub enum Latest {
    /// There was none yet.
    None,
    /// It is open.
    Open {
        /// Its number, from 1.
        number: u32,
        /// Its gates, as the user's tree defined them at its start.
        gates: Vec<Gate>,
        /// Its state.
        turn: Box<Turn>,
    },
    /// It has ended.
    Ended {
        /// Its number, from 1.
        number: u32,
        /// What held for it.
        settings: turn::Settings,
        /// How it ended.
        ending: Ending,
    },
}

impl Latest {
    /// The turn's number; 0 before the first.
    pub fn number(&self) -> u32 {
        match self {
            Latest::None => 0,
            Latest::Open { number, .. } | Latest::Ended { number, .. } => *number,
        }
    }
}

/// Whether an undo works on the user's tree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Undo {
    /// None does.
    AtRest,
    /// One does: no turn begins, and no other undo, before it is told.
    Running,
}

/// What an undo did.
pub struct Undone {
    /// Files that are as they were before the apply.
    pub restored: Vec<RepoPath>,
    /// Files in which something of it stays, and why, in words for the user.
    pub left: Vec<(RepoPath, String)>,
    /// What was written.
    pub wrote: Vec<Written>,
}

/// What an input brought about, already written.
pub struct Taken {
    /// What is to be done now.
    pub effects: Vec<Effect>,
    /// The turn's ending, where it has ended.
    pub ended: Option<heph_wire::TurnEnded>,
}

/// Why an input was not taken. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub enum NotTaken {
    /// The turn refuses it.
    #[error(transparent)]
    Refused(#[from] turn::Refused),
    /// It could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Session {
    /// A new session, just added to the store.
    pub fn new(row: SessionRow) -> Session {
        Session {
            row,
            latest: Latest::None,
            revision: 0,
            messages: Vec::new(),
            streaming: String::new(),
            gates: Vec::new(),
            agent: None,
            cancel: CancellationToken::new(),
            undo: Undo::AtRest,
            unrecorded: VecDeque::new(),
        }
    }

    /// A session as the store has it: an open turn is replayed from its log.
    pub fn load(store: &Store, row: SessionRow) -> Result<Session, StoreError> {
        let messages = store.messages(&row.id)?;
        let mut session = Session { messages, ..Session::new(row) };
        session.revision = session.messages.len() as u64;
        let undone: Vec<u32> = session
            .messages
            .iter()
            .filter_map(|message| match message {
                Message::Undone { turn, .. } => Some(*turn),
                _ => None,
            })
            .collect();
        undone.into_iter().for_each(|turn| session.mark_undone(turn));
        let Some(latest) = store.latest_turn(&session.row.id)? else { return Ok(session) };
        session.latest = match latest.ending {
            Some(ending) => Latest::Ended { number: latest.number, settings: latest.settings, ending },
            None => {
                let (mut turn, _) = Turn::start(latest.settings, latest.opening);
                for input in store.inputs(&session.row.id, latest.number)? {
                    session.revision += 1;
                    // An input that this version refuses was taken by the one that logged it: the state
                    // it led to cannot be had, and the one before it is the nearest that can.
                    match turn::step(&turn, input) {
                        Ok((next, _)) => turn = next,
                        Err(refused) => tracing::warn!("an input of the log is refused: {refused}"),
                    }
                }
                Latest::Open { number: latest.number, gates: latest.gates, turn: Box::new(turn) }
            }
        };
        session.show_gates();
        Ok(session)
    }

    /// A session as the store has it, for a list: a turn that the end of the program cut off is shown as
    /// held, and nothing is written or taken up again.
    pub fn peek(store: &Store, row: SessionRow) -> Result<Session, StoreError> {
        let mut session = Session::load(store, row)?;
        if let Latest::Open { turn, .. } = &mut session.latest
            && let Ok((held, _)) = turn::step(turn, Input::Restarted)
        {
            **turn = held;
        }
        Ok(session)
    }

    /// The open turn.
    pub fn turn(&self) -> Option<&Turn> {
        match &self.latest {
            Latest::Open { turn, .. } => Some(turn),
            _ => None,
        }
    }

    /// Opens a turn; `prompt` is what the user typed for it. Returns what starts it.
    pub fn open_turn(
        &mut self,
        store: &mut Store,
        settings: turn::Settings,
        gates: Vec<Gate>,
        opening: Opening,
        prompt: &str,
        now: i64,
    ) -> Result<Vec<Effect>, StoreError> {
        let (turn, effects) = Turn::start(settings.clone(), opening.clone());
        let number = self.latest.number() + 1;
        let message = Message::Prompt { turn: number, text: prompt.to_owned() };
        let mut row = self.row.clone();
        if row.title.is_empty() {
            row.title = title(prompt);
        }
        (row.draft, row.changed_at) = (String::new(), now);
        let turn_row = TurnRow { number, opening, settings, gates, ending: None };
        store.open_turn(&row, &turn_row, &message)?;
        self.row = row;
        self.messages.push(message);
        self.latest = Latest::Open { number, gates: turn_row.gates, turn: Box::new(turn) };
        self.gates = self.turn().map(view::gates_not_run).unwrap_or_default();
        self.revision += 1;
        Ok(effects)
    }

    /// What the model is told first of a prompt: what it has not been told yet goes before.
    pub fn opening(&self, prompt: &str) -> Opening {
        Opening::Prompt(heph_core::message::prompt(self.row.untold.as_deref(), prompt))
    }

    /// Notes that what a turn applied was taken back.
    pub fn undone(
        &mut self,
        store: &mut Store,
        turn: u32,
        undone: &Undone,
        now: i64,
    ) -> Result<(), StoreError> {
        let paths = |files: &[RepoPath]| u32::try_from(files.len()).unwrap_or(u32::MAX);
        let left: Vec<RepoPath> = undone.left.iter().map(|(path, _)| path.clone()).collect();
        let told = heph_core::message::undone(&undone.restored, &left);
        let untold = heph_core::message::prompt(self.row.untold.as_deref(), &told);
        let message = Message::Undone { turn, restored: paths(&undone.restored), left: paths(&left) };
        let change = Change {
            messages: vec![message.clone()],
            untold: Untold::Left(untold.clone()),
            ..Change::default()
        };
        store.record(&self.row.id, turn, now, &change)?;
        self.row.untold = Some(untold);
        self.row.changed_at = now;
        self.messages.push(message);
        self.mark_undone(turn);
        self.revision += 1;
        Ok(())
    }

    fn mark_undone(&mut self, undone: u32) {
        for message in &mut self.messages {
            if let Message::Ended(ended) = message
                && ended.turn == undone
            {
                ended.can_undo = false;
            }
        }
    }

    /// Whether what the turn applied was taken back.
    pub fn is_undone(&self, turn: u32) -> bool {
        self.messages
            .iter()
            .any(|message| matches!(message, Message::Undone { turn: undone, .. } if *undone == turn))
    }

    /// Gives an input to the open turn, and writes all that it brings about before anyone sees it.
    ///
    /// # Errors
    /// Where the turn refuses it, or the store cannot be written.
    pub fn take(&mut self, store: &mut Store, input: Input, now: i64) -> Result<Taken, NotTaken> {
        let Latest::Open { number, turn, gates } = &self.latest else {
            return Err(turn::Refused::NotNow.into());
        };
        let (number, round) = (*number, turn.round().0);
        let (next, effects) = turn::step(turn, input.clone())?;
        if next == **turn && effects.is_empty() {
            return Ok(Taken { effects, ended: None });
        }
        let mut change = Change { input: Some(&input), ..Change::default() };
        let mut ended = None;
        if let Input::ModelStopped { words } = &input
            && !words.is_empty()
        {
            change.told.push((Speaker::Model, words.clone()));
        }
        if !matches!(next.phase(), Phase::Model) && !self.streaming.is_empty() {
            change.messages.push(Message::Model { turn: number, round, text: self.streaming.clone() });
        }
        let opens_turn = matches!(input, Input::Begun { .. });
        let starts_model =
            opens_turn || matches!(turn.phase(), Phase::Setup) || view::is_held_setup(turn.phase());
        if opens_turn {
            change.untold = Untold::Told;
        }
        for effect in &effects {
            match effect {
                Effect::AskModel { message } => {
                    change.told.push((Speaker::User, message.clone()));
                    if !starts_model {
                        change.messages.push(Message::Told { turn: number, round, text: message.clone() });
                    }
                }
                Effect::TellNext { message } => {
                    // A turn that ends before it has begun leaves what was untold before it as well.
                    let before = self.row.untold.as_deref();
                    change.untold = Untold::Left(heph_core::message::prompt(before, message));
                    change.messages.push(Message::Told { turn: number, round, text: message.clone() });
                }
                Effect::Reviewed(tally) => change.messages.push(view::reviewed(number, round, tally)),
                Effect::End(ending) => {
                    let line = view::turn_ended(number, ending);
                    change.messages.push(Message::Ended(line.clone()));
                    change.ending = Some(ending.clone());
                    ended = Some(line);
                }
                _ => {}
            }
        }
        store.record(&self.row.id, number, now, &change)?;
        if !matches!(next.phase(), Phase::Model) {
            self.streaming.clear();
        }
        let Change { messages, untold, ending, .. } = change;
        self.messages.extend(messages);
        self.row.changed_at = now;
        match untold {
            Untold::Kept => {}
            Untold::Told => self.row.untold = None,
            Untold::Left(message) => self.row.untold = Some(message),
        }
        let gates_ran = matches!(input, Input::GatesRan { .. });
        self.latest = match ending {
            Some(ending) => Latest::Ended { number, settings: next.settings().clone(), ending },
            None => Latest::Open { number, gates: gates.clone(), turn: Box::new(next) },
        };
        if gates_ran {
            self.show_gates();
        }
        self.revision += 1;
        Ok(Taken { effects, ended })
    }

    /// Takes over what the working model does.
    pub fn hear(
        &mut self,
        store: &mut Store,
        event: &AgentEvent,
        now: i64,
    ) -> Result<Option<ToolCall>, StoreError> {
        let Latest::Open { number, turn, .. } = &self.latest else { return Ok(None) };
        let (number, round) = (*number, turn.round().0);
        match event {
            AgentEvent::Text(text) => {
                self.streaming.push_str(text);
                Ok(None)
            }
            AgentEvent::Tool(done) => {
                let call = tool_call(number, round, done);
                let mut messages = Vec::new();
                if !self.streaming.is_empty() {
                    messages.push(Message::Model { turn: number, round, text: self.streaming.clone() });
                }
                messages.push(Message::Tool(call.clone()));
                let notes = done.notes.iter().map(|note| (round, note.clone())).collect();
                let change = Change { messages: messages.clone(), notes, ..Change::default() };
                store.record(&self.row.id, number, now, &change)?;
                self.streaming.clear();
                self.messages.extend(messages);
                self.revision += 1;
                Ok(Some(call))
            }
        }
    }

    fn show_gates(&mut self) {
        let Some(turn) = self.turn() else { return };
        self.gates = view::gates(turn);
    }

    /// Notes that a gate runs now.
    pub fn gate_runs(&mut self, name: &str) {
        if let Some(gate) = self.gates.iter_mut().find(|gate| gate.name == name) {
            gate.result = GateResult::Running;
            gate.output.clear();
            gate.seconds = None;
        }
    }
}

fn tool_call(turn: u32, round: u32, done: &ToolDone) -> ToolCall {
    let edits = !done.notes.is_empty();
    ToolCall {
        turn,
        round,
        name: done.name.clone(),
        target: done.target.clone(),
        outcome: done.outcome.clone(),
        failed: done.failed,
        rationale: done.rationale.clone(),
        counts: edits.then_some(Counts { added: done.added, removed: done.removed }),
        detail: done.detail.clone(),
        millis: u32::try_from(done.elapsed.as_millis()).unwrap_or(u32::MAX),
    }
}

/// The first line of a prompt, cut at a word.
fn title(prompt: &str) -> String {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if line.chars().count() <= TITLE {
        return line.to_owned();
    }
    let cut: String = line.chars().take(TITLE).collect();
    let end = cut.rfind(' ').unwrap_or(cut.len());
    format!("{}…", &cut[..end])
}

#[cfg(test)]
mod tests {
    use heph_core::{id::TreeId, turn::Resume};

    use super::*;

    #[test]
    fn what_was_untold_is_told_by_the_first_turn_that_begins() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("heph.db")).unwrap();
        store.open_repo("r", folder.path(), 0).unwrap();
        let id = store.new_session("r", None, 0).unwrap().id;
        let stored = |store: &Store| store.session(&id).unwrap().unwrap();
        let untold = Change { untold: Untold::Left("You were refused.".into()), ..Change::default() };
        store.record(&id, 0, 0, &untold).unwrap();
        let mut session = Session::load(&store, stored(&store)).unwrap();
        let open = |session: &mut Session, store: &mut Store, prompt: &str| {
            let opening = session.opening(prompt);
            session.open_turn(store, turn::Settings::default(), Vec::new(), opening, prompt, 0).unwrap();
        };

        open(&mut session, &mut store, "First.");
        session.take(&mut store, Input::Failed { reason: "The disk is full.".into() }, 0).unwrap();
        session.take(&mut store, Input::Resume(Resume::Discard), 0).unwrap();
        assert!(matches!(session.latest, Latest::Ended { .. }));
        assert_eq!(stored(&store).untold.as_deref(), Some("You were refused."));

        open(&mut session, &mut store, "Second.");
        session.take(&mut store, Input::Begun { base: TreeId("0".repeat(40)) }, 0).unwrap();
        let told = store.told(&id).unwrap();
        assert_eq!(told, [heph_agent::Entry::User("You were refused.\n\nSecond.".into())]);
        assert_eq!(stored(&store).untold, None);
    }
}
