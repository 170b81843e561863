use std::{path::Path, sync::mpsc as std_mpsc};

use heph_agent::{Entry, Response};
use rusqlite::Connection;
use serde_json::json;

use super::*;

/// A loop whose events a test hands on one by one, over a repository and a model that writes a file.
struct House {
    folder: tempfile::TempDir,
    me: Loop,
    events: mpsc::UnboundedReceiver<Event>,
    heard: std_mpsc::Receiver<Notification>,
    repo: Value,
    session: String,
}

const SCRIPT: &str = r#"
[[reply]]
text = "It is written now."
[[reply.step]]
tool = "write"
path = "b.txt"
content = "b\n"
rationale = "Asked for."
"#;

impl House {
    fn new() -> House {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("repository");
        heph_git::create_repository(&root, &[(Path::new("a.txt"), &b"a\n"[..])]).unwrap();
        let script = folder.path().join("model.replay.toml");
        std::fs::write(&script, SCRIPT).unwrap();
        let places = Places { data: folder.path().join("data"), config: folder.path().join("config.toml") };
        std::fs::create_dir(&places.data).unwrap();
        let lock = File::create(places.data.join("lock")).unwrap();
        let (sender, events) = mpsc::unbounded_channel();
        let (notify, heard) = std_mpsc::channel();
        let notify = std::sync::Mutex::new(notify);
        let notify = move |notification| drop(notify.lock().unwrap().send(notification));
        let me = Loop::new(places, lock, sender, Arc::new(notify)).unwrap();
        let (repo, session) = (Value::Null, String::new());
        let mut house = House { folder, me, events, heard, repo, session };
        house.repo = house.call("repo/open", json!({ "path": root }))["repo"].clone();
        house.session = house.new_session(json!({ "provider": "replay", "file": script }));
        house
    }

    fn new_session(&mut self, model: Value) -> String {
        let new = self.call("session/new", json!({ "repo": self.repo, "model": model }));
        new["session"].as_str().unwrap().to_owned()
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        let (reply, mut answer) = oneshot::channel();
        self.me.answer(method, params, reply);
        answer.try_recv().expect("an answer at once").unwrap()
    }

    fn prompt(&mut self) {
        self.call("turn/start", json!({ "session": self.session, "prompt": "Write." }));
    }

    /// The next event.
    async fn next(&mut self) -> Event {
        self.events.recv().await.unwrap()
    }

    fn hand_on(&mut self, event: Event) {
        match event {
            Event::Turn { session, turn, event } => self.me.on_turn_event(&session, turn, event),
            Event::Again(session) => self.me.on_again(session),
            Event::Call { .. } | Event::Shutdown(_) | Event::Undone { .. } | Event::EditedOutside { .. } => {
                panic!("nothing else is sent here")
            }
        }
    }

    /// Hands events on until the review is open.
    async fn review(&mut self) {
        while self.phase() != PhaseName::Review {
            let event = self.next().await;
            self.hand_on(event);
        }
    }

    fn phase(&self) -> PhaseName {
        view::phase(self.me.sessions[&self.session].turn().unwrap().phase())
    }

    fn complaints(&self) -> Vec<String> {
        let said = self.heard.try_iter();
        let complaint = |said| match said {
            Notification::Error { message, .. } => Some(message),
            _ => None,
        };
        said.filter_map(complaint).collect()
    }

    /// The database, as another program has it open.
    fn database(&self) -> Connection {
        Connection::open(self.folder.path().join("data/heph.db")).unwrap()
    }
}

#[tokio::test]
async fn what_the_database_cannot_take_is_kept_and_given_to_it_again() {
    let mut house = House::new();
    house
        .database()
        .execute_batch(
            "CREATE TRIGGER full BEFORE INSERT ON note BEGIN SELECT RAISE(ABORT, 'the disk is full'); END;",
        )
        .unwrap();
    house.prompt();
    let mut tries = 0;
    while tries < 2 {
        let event = house.next().await;
        tries += u32::from(matches!(event, Event::Again(_)));
        house.hand_on(event);
    }
    let complaints = house.complaints();
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert!(complaints[0].contains("the disk is full"), "{complaints:?}");
    house.database().execute_batch("DROP TRIGGER full").unwrap();
    house.review().await;
    let hunk =
        house.me.sessions[&house.session].turn().unwrap().review().unwrap().files()[0].hunks[0].clone();
    assert_eq!(hunk.rationale.as_deref(), Some("Asked for."), "{hunk:?}");
    assert_eq!(house.complaints(), Vec::<String>::new());
}

#[tokio::test]
async fn a_stopped_model_has_said_what_was_shown_of_it() {
    let mut house = House::new();
    house.prompt();
    loop {
        match house.next().await {
            Event::Turn { session, turn, event: TurnEvent::AgentDone(agent, _) } => {
                let event = TurnEvent::AgentDone(agent, Err(Stop::Cancelled));
                house.hand_on(Event::Turn { session, turn, event });
                break;
            }
            event => house.hand_on(event),
        }
    }
    let said = Entry::Model(Response { text: "It is written now.".into(), calls: Vec::new() });
    assert_eq!(house.me.store.told(&house.session).unwrap().last(), Some(&said));
    house.review().await;
    assert_eq!(house.me.sessions[&house.session].turn().unwrap().words(), "It is written now.");
}

#[tokio::test]
async fn a_list_starts_nothing_and_leaves_out_what_cannot_be_read() {
    let mut house = House::new();
    house.prompt();
    while house.phase() != PhaseName::Model {
        let event = house.next().await;
        house.hand_on(event);
    }
    let unreadable = house.new_session(Value::Null);
    house.database().execute("UPDATE session SET model = '{' WHERE id = ?1", [&unreadable]).unwrap();
    // As after a restart.
    house.me.sessions.clear();
    let logged = house.me.store.inputs(&house.session, 1).unwrap();
    let list = house.call("session/list", json!({ "repo": house.repo }));
    let listed = list["sessions"].as_array().unwrap();
    assert_eq!(listed.len(), 1, "{list}");
    assert_eq!((&listed[0]["session"], &listed[0]["held"]), (&json!(house.session), &json!(true)), "{list}");
    assert!(house.me.sessions.is_empty());
    assert_eq!(house.me.store.inputs(&house.session, 1).unwrap(), logged);
}

#[tokio::test]
async fn what_was_written_in_an_editor_for_another_text_does_not_take_its_place() {
    let mut house = House::new();
    house.prompt();
    house.review().await;
    let path = heph_wire::WirePath(b"b.txt".to_vec());
    let saved = |before: &str, after: &str| {
        let folder = tempfile::tempdir().unwrap();
        let (before, after) = (before.as_bytes().to_vec(), after.as_bytes().to_vec());
        Ok(OutsideEdit { path: path.clone(), before, after, folder })
    };
    let session = house.session.clone();
    house.me.on_edited_outside(&session, saved("b of another round\n", "mine, of then\n"));
    let complaints = house.complaints();
    let kept =
        complaints[0].strip_prefix("b.txt is not as it was when you opened it. What you wrote is kept in ");
    std::fs::remove_dir_all(kept.unwrap().trim_end_matches('.')).unwrap();
    let shown = json!({ "session": session, "path": "b.txt" });
    assert_eq!(house.call("review/file", shown.clone())["content"], "b\n");
    house.me.on_edited_outside(&session, saved("b\n", "mine\n"));
    assert_eq!(house.call("review/file", shown)["content"], "mine\n");
}

#[tokio::test]
async fn a_turn_that_would_begin_during_an_undo_waits_for_it_and_is_told_of_it() {
    let mut house = House::new();
    house.prompt();
    house.review().await;
    house.call("review/finish", json!({ "session": house.session, "how": "accept_all" }));
    while house.me.sessions[&house.session].turn().is_some() {
        let event = house.next().await;
        house.hand_on(event);
    }
    let ask = |house: &mut House, method: &str, params: Value| {
        let (reply, answer) = oneshot::channel();
        house.me.answer(method, params, reply);
        answer
    };
    let undo = json!({ "session": house.session, "turn": 1 });
    let again = json!({ "session": house.session, "prompt": "Again." });
    let mut undone = ask(&mut house, "turn/undo", undo.clone());
    for (method, params) in [("turn/start", again.clone()), ("turn/undo", undo)] {
        let error = ask(&mut house, method, params).try_recv().unwrap().unwrap_err();
        assert!(error.message.starts_with("An undo is still at work"), "{error:?}");
    }
    assert_eq!(house.me.sessions[&house.session].row.draft, "Again.", "the prompt is kept");
    let Event::Undone { session, turn, outcome, reply } = house.next().await else { panic!("undone") };
    drop(reply.send(house.me.on_undone(&session, turn, outcome)));
    assert!(undone.try_recv().unwrap().is_ok());
    assert!(!house.folder.path().join("repository/b.txt").exists());
    house.call("turn/start", again);
    while house.phase() != PhaseName::Model {
        let event = house.next().await;
        house.hand_on(event);
    }
    let told = house.me.store.told(&house.session).unwrap();
    assert!(matches!(told.last(), Some(Entry::User(told)) if told.starts_with("The user undid")), "{told:?}");
}

#[test]
fn a_task_that_panics_says_so() {
    let (events, mut received) = mpsc::unbounded_channel();
    let reporter = Reporter { events, session: "s".into(), turn: 1 };
    let task = std::thread::spawn(move || {
        reporter.tell(TurnEvent::Agent(AgentEvent::Text("Well".into())));
        panic!("a fault of the program");
    });
    assert!(task.join().is_err());
    received.try_recv().unwrap();
    let last = received.try_recv().unwrap();
    let Event::Turn { event: TurnEvent::Done(Err(error)), .. } = last else { panic!("no failure") };
    assert!(error.sentence().contains("Heph itself failed"));
}

const DAY: i64 = 24 * 60 * 60;

impl House {
    fn worktree(&self) -> std::path::PathBuf {
        let repos = std::fs::read_dir(self.folder.path().join("data/repos")).unwrap();
        repos.map(|home| home.unwrap().path().join("worktrees").join(&self.session)).next().unwrap()
    }

    /// Collects `days` from now, and says whether the worktree is still there.
    fn collected_after(&mut self, days: i64) -> bool {
        let repo = self.repo.as_str().unwrap().to_owned();
        self.me.collect(&repo, now() + days * DAY);
        !self.worktree().exists()
    }

    async fn end(&mut self, how: &str) {
        self.call("review/finish", json!({ "session": self.session, "how": how }));
        while self.me.sessions[&self.session].turn().is_some() {
            let event = self.next().await;
            self.hand_on(event);
        }
    }
}

#[tokio::test]
async fn the_worktree_of_a_session_at_rest_is_collected_and_made_anew_for_a_prompt() {
    let mut house = House::new();
    house.prompt();
    house.review().await;
    assert!(!house.collected_after(1000), "a review is open on it");
    house.end("refuse_all").await;
    assert!(!house.collected_after(13));
    assert!(house.collected_after(15));
    let said = house.call("session/list", json!({ "repo": house.repo }));
    assert_eq!(said["sessions"][0]["turns"], 1, "the conversation stays");
    let script = house.folder.path().join("model.replay.toml");
    std::fs::write(script, SCRIPT.repeat(2)).unwrap();
    // As after a restart: the model is made anew.
    house.me.sessions.clear();
    house.prompt();
    house.review().await;
    assert_eq!(std::fs::read_to_string(house.worktree().join("b.txt")).unwrap(), "b\n");
}

#[tokio::test]
async fn the_worktree_stays_while_a_change_of_the_last_turn_is_set_aside() {
    let mut house = House::new();
    house.prompt();
    house.review().await;
    std::fs::write(house.folder.path().join("repository/b.txt"), "the user's\n").unwrap();
    house.end("accept_all").await;
    let Latest::Ended { ending, .. } = &house.me.sessions[&house.session].latest else { panic!() };
    assert_eq!(ending.set_aside.len(), 1);
    assert!(!house.collected_after(1000));
}

#[tokio::test]
async fn how_long_a_worktree_is_kept_is_a_setting() {
    let mut house = House::new();
    std::fs::write(house.folder.path().join("config.toml"), "[worktree]\nkeep_days = 2\n").unwrap();
    house.call("repo/open", json!({ "path": house.folder.path().join("repository") }));
    house.prompt();
    house.review().await;
    house.end("refuse_all").await;
    assert!(!house.collected_after(1));
    assert!(house.collected_after(3));
}
