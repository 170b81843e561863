//! Taking back what a turn applied, and telling what it set aside.

use heph_core::{
    apply::{FileReport, Reason},
    patch,
    path::RepoPath,
    turn::{Input, Written},
};
use heph_git::ApplyReport;
use heph_wire::{CallError, ErrorKind, LeftFile, PatchText, TurnParams};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::{
    failure::{failed, internal},
    run::{Event, Loop, now},
    session::{Latest, Undo, Undone},
    view,
    work::Workplace,
};

impl Loop {
    /// The work of `turn/undo`, whose answer waits for it.
    pub(crate) fn turn_undo(&mut self, params: TurnParams, reply: oneshot::Sender<Result<Value, CallError>>) {
        let (session, turn) = (params.session, params.turn);
        let work = match self.undo_work(&session, turn) {
            Ok(work) => work,
            Err(error) => return drop(reply.send(Err(error))),
        };
        if let Some(session) = self.sessions.get_mut(&session) {
            session.undo = Undo::Running;
        }
        let events = self.events.clone();
        self.tasks.spawn_blocking(move || {
            let _ = events.send(Event::Undone { session, turn, outcome: work(), reply });
        });
    }

    fn undo_work(
        &mut self,
        id: &str,
        turn: u32,
    ) -> Result<impl FnOnce() -> Result<Undone, CallError> + Send + use<>, CallError> {
        let place = self.workplace(id)?;
        let refused = |why: &str| CallError::new(ErrorKind::Refused, format!("{why} Nothing was changed."));
        self.check_undo(id)?;
        let session = self.session(id)?;
        if matches!(&session.latest, Latest::Open { .. }) {
            let why = "A turn is open in this session. Undo when it has ended.";
            return Err(CallError::new(ErrorKind::TurnOpen, why));
        }
        if session.is_undone(turn) {
            return Err(refused("That turn was undone already."));
        }
        let ending = self.store.ending(id, turn).map_err(internal)?;
        let written = ending.map(|ending| ending.written).unwrap_or_default();
        if written.is_empty() {
            return Err(refused("That turn has written nothing that could be undone."));
        }
        Ok(move || {
            let (mut files, mut wrote): (Vec<FileReport>, _) = (Vec::new(), Vec::new());
            for written in written.iter().rev() {
                let report = undo(&place, written)?;
                files.extend(report.files);
                files.extend(report.index);
                wrote.push(Written { before: report.before, after: report.after });
            }
            Ok(Undone { wrote, ..summed(files) })
        })
    }

    /// # Errors
    /// Where an undo works for the session: what begins now could not know of it.
    pub(crate) fn check_undo(&mut self, id: &str) -> Result<(), CallError> {
        match self.session(id)?.undo {
            Undo::AtRest => Ok(()),
            Undo::Running => {
                let message = "An undo is still at work. Try again when it is done. Nothing was changed.";
                Err(CallError::new(ErrorKind::Refused, message))
            }
        }
    }

    pub(crate) fn on_undone(
        &mut self,
        id: &str,
        turn: u32,
        outcome: Result<Undone, CallError>,
    ) -> Result<Value, CallError> {
        let Loop { store, sessions, .. } = self;
        let session = sessions.get_mut(id).ok_or_else(|| internal("the session is gone"))?;
        session.undo = Undo::AtRest;
        let undone = outcome?;
        session.undone(store, turn, &undone, now()).map_err(internal)?;
        let revision = session.revision;
        undone.wrote.iter().for_each(|written| self.forget_apply(id, written));
        self.notify(heph_wire::Notification::SessionChanged { session: id.to_owned(), revision });
        let result = heph_wire::Undone {
            restored: undone.restored.iter().map(view::wire_path).collect(),
            left: undone
                .left
                .into_iter()
                .map(|(path, reason)| LeftFile { path: view::wire_path(&path), reason })
                .collect(),
        };
        serde_json::to_value(result).map_err(internal)
    }

    pub(crate) fn turn_set_aside(&mut self, params: TurnParams) -> Result<PatchText, CallError> {
        self.session(&params.session)?;
        let inputs = self.store.inputs(&params.session, params.turn).map_err(internal)?;
        let mut text = String::new();
        for input in inputs {
            if let Input::Applied { files, .. } = input {
                files.iter().for_each(|file| text.push_str(&patch::set_aside(file)));
            }
        }
        Ok(PatchText { patch: text })
    }
}

fn undo(place: &Workplace, written: &Written) -> Result<ApplyReport, CallError> {
    let report = place.private.undo(&written.after, &written.before);
    report.map_err(|error| CallError::new(ErrorKind::Refused, failed(error)))
}

/// Each file once: what one undo left of it counts, whatever another restored.
fn summed(files: Vec<FileReport>) -> Undone {
    let mut undone = Undone { restored: Vec::new(), left: Vec::new(), wrote: Vec::new() };
    let is_left = |undone: &Undone, path: &RepoPath| undone.left.iter().any(|(left, _)| left == path);
    for FileReport { path, set_aside, .. } in files {
        undone.restored.retain(|restored| *restored != path);
        match set_aside {
            Some(aside) if !is_left(&undone, &path) => undone.left.push((path, since(aside.reason).into())),
            None if !is_left(&undone, &path) => undone.restored.push(path),
            Some(_) | None => {}
        }
    }
    undone
}

/// Why something of an apply stays.
fn since(reason: Reason) -> &'static str {
    match reason {
        Reason::Region => "you changed these lines since",
        Reason::Deleted => "you deleted the file since",
        Reason::TypeChanged => "something of another kind is there now",
        Reason::BinaryChanged => "you changed this binary file since",
        Reason::EncodingChanged => "you saved the file in another encoding since",
        Reason::Exists => "another file is there now",
        Reason::ChangedSince => "you changed the file since",
    }
}
