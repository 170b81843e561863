//! The methods, each answered from the loop's state.

use std::{borrow::Cow, path::PathBuf, sync::Arc};

use heph_core::{
    id::{CommentId, ConstraintId, HunkId, TreeId},
    path::RepoPath,
    rationale::EditNote,
    review::{self, Comment, Place, Verdict},
    turn::{self, Input, Opening, Phase, Turn},
};
use heph_wire::*;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::{
    colours::Colours,
    demo,
    failure::internal,
    reviewing::no_review,
    rows::Sides,
    run::{Loop, SkipLast, now},
    session::{Latest, Session},
    settings::Gate,
    view::{self, WithRows},
    work::Workplace,
};

type Reply = oneshot::Sender<Result<Value, CallError>>;

/// An answer that is there, or one that a task gives.
enum Answer {
    Now(Result<Value, CallError>),
    Later(Box<dyn FnOnce() -> Result<Value, CallError> + Send>),
}

impl Loop {
    pub(crate) fn answer(&mut self, method: &str, params: Value, reply: Reply) {
        // Its answer comes with an event, since what it does changes the session.
        if method == TurnUndo::NAME {
            return match params_of::<TurnUndo>(params) {
                Ok(params) => self.turn_undo(params, reply),
                Err(error) => drop(reply.send(Err(error))),
            };
        }
        match self.dispatch(method, params) {
            Answer::Now(answer) => drop(reply.send(answer)),
            Answer::Later(work) => drop(self.tasks.spawn_blocking(move || reply.send(work()))),
        }
    }

    fn dispatch(&mut self, method: &str, params: Value) -> Answer {
        match method {
            RepoOpen::NAME => self.at_once::<RepoOpen>(params, |me, it| me.repo_open(it)),
            RepoDemo::NAME => self.at_once::<RepoDemo>(params, |me, _| me.repo_demo()),
            RepoRecent::NAME => self.at_once::<RepoRecent>(params, |me, _| me.repo_recent()),
            RepoTrust::NAME => self.at_once::<RepoTrust>(params, |me, it| {
                me.repos.trust(&me.store, &it.repo, &it.digest).map(|()| Empty {})
            }),
            RepoAddGates::NAME => self
                .at_once::<RepoAddGates>(params, |me, it| me.repos.add_gates(&me.store, &it.repo, &it.gates)),
            SessionNew::NAME => self.at_once::<SessionNew>(params, |me, it| me.session_new(it)),
            SessionList::NAME => self.at_once::<SessionList>(params, |me, it| me.session_list(it)),
            SessionLoad::NAME => self.later::<SessionLoad>(params, |me, it| me.session_load(it)),
            SessionDraft::NAME => self.at_once::<SessionDraft>(params, |me, it| me.session_draft(it)),
            TurnStart::NAME => self.at_once::<TurnStart>(params, |me, it| me.turn_start(it)),
            TurnInterrupt::NAME => self.at_once::<TurnInterrupt>(params, |me, it| {
                me.give(&it.session, Input::Interrupt).map(|_| Empty {})
            }),
            TurnResume::NAME => self.at_once::<TurnResume>(params, |me, it| {
                let how = match it.how {
                    Resume::Continue => turn::Resume::Continue,
                    Resume::Review => turn::Resume::Review,
                    Resume::Discard => turn::Resume::Discard,
                    Resume::Skip => turn::Resume::Skip,
                };
                me.give(&it.session, Input::Resume(how)).map(|_| Empty {})
            }),
            ReviewGet::NAME => self.later::<ReviewGet>(params, |me, it| me.review_get(it)),
            ReviewRows::NAME => self.later::<ReviewRows>(params, |me, it| me.review_rows(it)),
            ReviewDecide::NAME => self.at_once::<ReviewDecide>(params, |me, it| {
                let verdict = it.verdict.map(|verdict| match verdict {
                    VerdictName::Accept => Verdict::Accepted,
                    VerdictName::Reject => Verdict::Rejected,
                });
                me.revise(&it.session, Input::Decide { hunk: HunkId(it.hunk), verdict })
            }),
            ReviewComment::NAME => self.at_once::<ReviewComment>(params, |me, it| me.review_comment(it)),
            ReviewUncomment::NAME => self.at_once::<ReviewUncomment>(params, |me, it| {
                me.revise(&it.session, Input::Uncomment(CommentId(it.comment)))
            }),
            ReviewSplit::NAME => self.at_once::<ReviewSplit>(params, |me, it| me.review_split(it)),
            ReviewFile::NAME => self.at_once::<ReviewFile>(params, |me, it| me.review_file(it)),
            ReviewEdit::NAME => self.at_once::<ReviewEdit>(params, |me, it| me.review_edit(it)),
            ReviewEditOutside::NAME => {
                self.at_once::<ReviewEditOutside>(params, |me, it| me.review_edit_outside(it))
            }
            ReviewAccepted::NAME => self.later::<ReviewAccepted>(params, |me, it| me.review_accepted(it)),
            ReviewTakeBack::NAME => self.at_once::<ReviewTakeBack>(params, |me, it| me.review_take_back(it)),
            ReviewOpen::NAME => self.at_once::<ReviewOpen>(params, |me, it| me.review_open(it)),
            TurnSetAside::NAME => self.at_once::<TurnSetAside>(params, |me, it| me.turn_set_aside(it)),
            ReviewFinish::NAME => self.at_once::<ReviewFinish>(params, |me, it| {
                let how = match it.how {
                    Finish::Finish => turn::Finish::Decided,
                    Finish::AcceptAll => turn::Finish::AcceptAll,
                    Finish::RefuseAll => turn::Finish::RefuseAll,
                    Finish::RefuseRest => turn::Finish::RefuseRest,
                    Finish::Stop => turn::Finish::Stop,
                    Finish::ApplyAnyway => turn::Finish::ApplyAnyway,
                };
                me.give(&it.session, Input::Finish(how)).map(|_| Empty {})
            }),
            ReviewAsk::NAME => self.at_once::<ReviewAsk>(params, |me, it| {
                let hunk = it.reproposed;
                me.give(&it.session, Input::Ask(HunkId(hunk.clone()))).map(|_| AskedHunk { hunk })
            }),
            ReviewLift::NAME => self.at_once::<ReviewLift>(params, |me, it| {
                me.give(&it.session, Input::Lift(ConstraintId(it.constraint))).map(|_| Empty {})
            }),
            RedChoose::NAME => self.at_once::<RedChoose>(params, |me, it| {
                let choice = match it.choice {
                    RedChoice::ApplyAnyway => turn::RedChoice::ApplyAnyway,
                    RedChoice::RunAgain => turn::RedChoice::RunAgain,
                    RedChoice::Discard => turn::RedChoice::Discard,
                    RedChoice::Edit => turn::RedChoice::Edit,
                };
                me.give(&it.session, Input::Choose(choice)).map(|_| Empty {})
            }),
            unknown => {
                let message = format!("There is no method `{unknown}`.");
                Answer::Now(Err(CallError::new(ErrorKind::UnknownMethod, message)))
            }
        }
    }

    fn at_once<M: Method>(
        &mut self,
        params: Value,
        method: impl FnOnce(&mut Loop, M::Params) -> Result<M::Result, CallError>,
    ) -> Answer {
        let answer = params_of::<M>(params).and_then(|params| method(self, params));
        Answer::Now(answer.and_then(|result| to_value(&result)))
    }

    /// A method whose answer reads files: what it needs is taken here, the rest is done in a task.
    fn later<M: Method<Result: 'static>>(
        &mut self,
        params: Value,
        method: impl FnOnce(&mut Loop, M::Params) -> Result<Rest<M::Result>, CallError>,
    ) -> Answer {
        match params_of::<M>(params).and_then(|params| method(self, params)) {
            Ok(rest) => Answer::Later(Box::new(move || rest().and_then(|result| to_value(&result)))),
            Err(error) => Answer::Now(Err(error)),
        }
    }

    fn repo_open(&mut self, params: PathParams) -> Result<OpenedRepo, CallError> {
        let opened = self.repos.open(&self.store, &path_buf(&params.path), now())?;
        self.collect(&opened.repo, now());
        Ok(opened)
    }

    fn repo_demo(&mut self) -> Result<OpenedRepo, CallError> {
        let root = demo::make(&self.places.data).map_err(internal)?;
        self.repos.open(&self.store, &root, now())
    }

    fn repo_recent(&mut self) -> Result<RecentRepos, CallError> {
        let known = self.store.repos().map_err(internal)?;
        let repos = known.into_iter().map(|(_, root)| RecentRepo {
            name: root.file_name().unwrap_or(root.as_os_str()).to_string_lossy().into_owned(),
            exists: root.is_dir(),
            root: WirePath(root.as_os_str().as_encoded_bytes().to_vec()),
        });
        Ok(RecentRepos { repos: repos.collect() })
    }

    fn session_new(&mut self, params: NewSessionParams) -> Result<NewSession, CallError> {
        self.repos.get(&self.store, &params.repo, now())?;
        let row = self.store.new_session(&params.repo, params.model.as_ref(), now()).map_err(internal)?;
        let id = row.id.clone();
        self.sessions.insert(id.clone(), Session::new(row));
        if params.model.is_some() {
            // A fault in a replay file is said here, not after the first prompt was written.
            match self.new_agent(&id, SkipLast::No) {
                Ok(agent) => self.session(&id)?.agent = Some(agent),
                Err(error) => {
                    self.sessions.remove(&id);
                    self.store.forget_session(&id).map_err(internal)?;
                    return Err(error);
                }
            }
        }
        Ok(NewSession { session: id })
    }

    fn session_list(&mut self, params: RepoParams) -> Result<Sessions, CallError> {
        self.repos.get(&self.store, &params.repo, now())?;
        let mut sessions = Vec::new();
        for id in self.store.sessions(&params.repo).map_err(internal)? {
            if let Some(session) = self.sessions.get(&id) {
                sessions.push(session_line(session));
                continue;
            }
            let row = self.store.session(&id);
            match row.and_then(|row| row.map(|row| Session::peek(&self.store, row)).transpose()) {
                Ok(session) => sessions.extend(session.as_ref().map(session_line)),
                Err(error) => tracing::error!("session {id} is left out of the list: {error}"),
            }
        }
        Ok(Sessions { sessions })
    }

    fn session_draft(&mut self, params: DraftParams) -> Result<Empty, CallError> {
        self.session(&params.session)?.row.draft = params.text.clone();
        self.store.keep_draft(&params.session, &params.text).map_err(internal)?;
        Ok(Empty {})
    }

    fn turn_start(&mut self, params: PromptParams) -> Result<StartedTurn, CallError> {
        let id = params.session;
        let session = self.session(&id)?;
        let repo = session.row.repo.clone();
        let open = session.turn().is_some();
        let started = match open {
            true => Err(CallError::new(
                ErrorKind::TurnOpen,
                "A turn is open in this session. Your text is kept; send it when the turn has ended.",
            )),
            false => self.check_undo(&id).and_then(|()| self.open_turn(&id, &repo, &params.prompt)),
        };
        if started.is_err() {
            self.session_draft(DraftParams { session: id, text: params.prompt })?;
        }
        started
    }

    fn open_turn(&mut self, id: &str, repo: &str, prompt: &str) -> Result<StartedTurn, CallError> {
        if prompt.trim().is_empty() {
            return Err(CallError::new(ErrorKind::Refused, "The prompt is empty. Say what you want done."));
        }
        self.repos.get(&self.store, repo, now())?;
        let problems = self.repos.refresh(repo);
        let (settings, gates) = self.repos.for_turn(&self.store, repo)?;
        for problem in problems {
            self.notify(Notification::Error { session: Some(id.to_owned()), message: problem });
        }
        if self.session(id)?.agent.is_none() {
            let agent = self.new_agent(id, SkipLast::No)?;
            self.session(id)?.agent = Some(agent);
        }
        let opening = self.session(id)?.opening(prompt);
        self.open(id, settings, gates, opening, prompt)
    }

    /// Opens a turn; `typed` is what the user typed for it.
    pub(crate) fn open(
        &mut self,
        id: &str,
        settings: turn::Settings,
        gates: Vec<Gate>,
        opening: Opening,
        typed: &str,
    ) -> Result<StartedTurn, CallError> {
        let Loop { store, sessions, .. } = self;
        let session = sessions.get_mut(id).ok_or_else(|| internal("the session is gone"))?;
        let effects = session.open_turn(store, settings, gates, opening, typed, now()).map_err(internal)?;
        let (turn, revision) = (session.latest.number(), session.revision);
        self.notify_phase(id);
        self.notify(Notification::SessionChanged { session: id.to_owned(), revision });
        effects.into_iter().for_each(|effect| self.carry_out(id, effect));
        Ok(StartedTurn { turn })
    }

    fn revise(&mut self, session: &str, input: Input) -> Result<Revised, CallError> {
        self.give(session, input).map(|revision| Revised { revision })
    }

    fn review_comment(&mut self, params: CommentParams) -> Result<NewComment, CallError> {
        if params.text.trim().is_empty() {
            return Err(CallError::new(ErrorKind::Refused, "The comment is empty. Nothing was added."));
        }
        let side = match params.side {
            Some(Side::Old) => review::Side::Old,
            Some(Side::New) | None => review::Side::New,
        };
        let place = params.line.map_or(Place::Hunk, |line| Place::Line { side, line });
        let comment = self.store.new_name().map_err(internal)?;
        let (id, hunk) = (CommentId(comment.clone()), HunkId(params.hunk));
        let input = Input::Comment(Comment { id, hunk, text: params.text, place });
        let revision = self.give(&params.session, input)?;
        Ok(NewComment { comment, revision })
    }

    fn session_load(&mut self, params: ViewParams) -> Result<Rest<SessionView>, CallError> {
        let id = params.session;
        let repo = self.session(&id)?.row.repo.clone();
        // Fills the default model in, and says early where the folder has gone.
        let opened = self.repos.get(&self.store, &repo, now()).map(|_| ());
        let default_model = self.repos.default_model(&repo).ok().flatten();
        let review = match self.session(&id)?.turn().is_some_and(shows_review) {
            true => {
                opened?;
                Some(self.review_source(&id, with_rows(params.rows))?)
            }
            false => None,
        };
        let mut view = session_view(self.session(&id)?, default_model);
        Ok(Box::new(move || {
            view.review = review.map(|source| source.view()).transpose()?;
            Ok(view)
        }))
    }

    fn review_get(&mut self, params: ViewParams) -> Result<Rest<Review>, CallError> {
        let source = self.review_source(&params.session, with_rows(params.rows))?;
        Ok(Box::new(move || source.view()))
    }

    fn review_rows(&mut self, params: RowsParams) -> Result<Rest<Rows>, CallError> {
        let source = self.review_source(&params.session, WithRows::Yes)?;
        Ok(Box::new(move || source.rows(&HunkId(params.hunk), params.first as usize, params.last as usize)))
    }

    fn review_source(&mut self, id: &str, rows: WithRows) -> Result<ReviewSource, CallError> {
        let place = self.workplace(id)?;
        let (number, _) = self.numbers(id);
        let notes = self.store.notes(id, number, 1).map_err(internal)?;
        let colours = Arc::clone(&self.colours);
        let session = self.session(id)?;
        let turn = session.turn().filter(|turn| shows_review(turn)).cloned();
        let turn = turn.ok_or_else(no_review)?;
        Ok(ReviewSource { turn, revision: session.revision, rows, place, notes, colours })
    }
}

/// Whether there is something to review, or, where the accepted state is red, to look at.
fn shows_review(turn: &Turn) -> bool {
    turn.review().is_some() || *turn.phase() == Phase::Red
}

/// The part of an answer that a task gives.
pub(crate) type Rest<T> = Box<dyn FnOnce() -> Result<T, CallError> + Send>;

/// What a view of a review is made of.
struct ReviewSource {
    turn: Turn,
    revision: u64,
    rows: WithRows,
    place: Workplace,
    notes: Vec<EditNote>,
    colours: Arc<Colours>,
}

impl ReviewSource {
    /// The open review, or all that was accepted where that is red; and the state that it is compared with.
    fn review(&self) -> Result<(Cow<'_, review::Review>, &TreeId), CallError> {
        if let Some(review) = self.turn.review() {
            return Ok((Cow::Borrowed(review), self.turn.accepted()));
        }
        let files = self.place.compare(self.turn.base(), self.turn.accepted(), &self.notes);
        let files = files.map_err(|error| CallError::new(ErrorKind::Internal, error.sentence()))?;
        let review = review::Review::new(review::Subject::Accepted, files, Vec::new());
        Ok((Cow::Owned(review), self.turn.base()))
    }

    fn view(&self) -> Result<Review, CallError> {
        let (review, old) = self.review()?;
        let old_file = |path: &RepoPath| self.place.old_file(old, path).map_err(internal);
        view::review(&self.turn, &review, self.revision, self.rows, &self.colours, old_file)
    }

    fn rows(&self, hunk: &HunkId, first: usize, last: usize) -> Result<Rows, CallError> {
        let (review, old) = self.review()?;
        for file in review.files().iter() {
            if let Some(hunk) = file.hunks.iter().find(|own| own.id == *hunk) {
                let old_file = self.place.old_file(old, hunk.source()).map_err(internal)?;
                let sides = Sides::of(&self.colours, file, &old_file);
                return Ok(Rows { rows: sides.rows(hunk, first, last) });
            }
        }
        Err(CallError::new(ErrorKind::Stale, "That hunk is no longer part of the review; it has changed."))
    }
}

fn session_line(session: &Session) -> SessionLine {
    let (phase, round, held, ended) = match &session.latest {
        Latest::None => (PhaseName::Idle, 0, false, None),
        Latest::Open { turn, .. } => {
            let phase = turn.phase();
            (view::phase(phase), turn.round().0, view::held(phase).is_some(), None)
        }
        Latest::Ended { number, ending, .. } => {
            (PhaseName::Ended, ending.rounds, false, Some(view::turn_ended(*number, ending)))
        }
    };
    SessionLine {
        session: session.row.id.clone(),
        title: session.row.title.clone(),
        phase,
        turns: session.latest.number(),
        round,
        held,
        ended,
        at: session.row.changed_at,
    }
}

/// The view without its review.
fn session_view(session: &Session, default_model: Option<ModelSettings>) -> SessionView {
    let mut messages = session.messages.clone();
    let default = turn::Settings::default();
    let (phase, round, attempt, reproposals, held, settings) = match &session.latest {
        Latest::None => (PhaseName::Idle, 0, 0, 0, None, &default),
        Latest::Open { turn, .. } => {
            let phase = turn.phase();
            let round = turn.round().0;
            if !session.streaming.is_empty() {
                let (turn, text) = (session.latest.number(), session.streaming.clone());
                messages.push(Message::Model { turn, round, text });
            }
            (
                view::phase(phase),
                round,
                turn.attempt(),
                turn.reproposals(),
                view::held(phase),
                turn.settings(),
            )
        }
        Latest::Ended { ending, settings, .. } => {
            (PhaseName::Ended, ending.rounds, 0, ending.reproposals, None, settings)
        }
    };
    SessionView {
        session: session.row.id.clone(),
        repo: session.row.repo.clone(),
        title: session.row.title.clone(),
        revision: session.revision,
        phase,
        turn: session.latest.number(),
        round,
        attempt,
        max_rounds: settings.max_rounds,
        reproposals,
        floor: settings.floor,
        held,
        model: session.row.model.clone().or(default_model),
        gates: session.gates.clone(),
        draft: session.row.draft.clone(),
        review: None,
        messages,
    }
}

pub(crate) fn with_rows(rows: Option<bool>) -> WithRows {
    match rows {
        Some(false) => WithRows::No,
        Some(true) | None => WithRows::Yes,
    }
}

fn params_of<M: Method>(params: Value) -> Result<M::Params, CallError> {
    let params = if params.is_null() { Value::Object(Default::default()) } else { params };
    serde_json::from_value(params).map_err(|error| {
        CallError::new(ErrorKind::InvalidParams, format!("The parameters of {}: {error}.", M::NAME))
    })
}

fn to_value(result: &impl serde::Serialize) -> Result<Value, CallError> {
    serde_json::to_value(result).map_err(internal)
}

fn path_buf(path: &WirePath) -> PathBuf {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        std::ffi::OsStr::from_bytes(&path.0).into()
    }
    #[cfg(not(unix))]
    {
        path.display().into()
    }
}
