//! The loop.

use std::sync::{Arc, Mutex};

use heph_agent::{Agent, AgentEvent, Entry, ModelError, Response, Stop, ToolResult};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::play::{Scripted, bytes, calls, replaying, text_of, tools_of, work, worktree};

#[tokio::test]
async fn the_model_hears_each_result_and_its_last_words_are_the_closing_words() {
    let tree = worktree(&[("a", b"one\n")]);
    let closing = Response { text: "All done.".into(), calls: Vec::new() };
    let asked = calls(&[("read", json!({"path": "a"})), ("fly", json!({}))]);
    let mut agent = Agent::new(Box::new(Scripted([asked.clone(), Ok(closing.clone())].into())), Vec::new());
    let (stopped, heard) = work(&mut agent, tree.path(), "look").await;
    assert_eq!(stopped.unwrap().text, "All done.");
    assert_eq!(tools_of(&heard).len(), 2);
    let results = [
        ("call-0", "    1  one\n", false),
        (
            "call-1",
            "there is no tool `fly`; the tools are list, find, search, read, edit, write, move, delete, run",
            true,
        ),
    ]
    .map(|(id, content, failed)| ToolResult { id: id.into(), content: content.into(), failed });
    let expected = [
        Entry::User("look".into()),
        Entry::Model(asked.unwrap()),
        Entry::Results(results.into()),
        Entry::Model(closing),
    ];
    assert_eq!(agent.history(), expected);
}

#[tokio::test]
async fn an_edit_that_missed_may_be_tried_again_in_the_same_reply() {
    let tree = worktree(&[("a", b"one\none\n")]);
    let script = r#"
        [[reply]]
        text = "Fixed."
        [[reply.step]]
        tool = "edit"
        path = "a"
        old = "two"
        new = "three"
        rationale = "First try."
        [[reply.step]]
        tool = "edit"
        path = "a"
        old = "one"
        new = "three"
        rationale = "Second try."
        [[reply.step]]
        tool = "edit"
        path = "a"
        old = "one\none"
        new = "one\nthree"
        rationale = "Third try."
    "#;
    let (stopped, heard) = work(&mut replaying(script, &[]), tree.path(), "go").await;
    assert_eq!(stopped.unwrap().text, "Fixed.");
    let failed: Vec<_> = tools_of(&heard).iter().map(|done| done.failed).collect();
    assert_eq!(failed, [true, true, false]);
    assert_eq!(bytes(&tree, "a"), b"one\nthree\n");
}

#[tokio::test]
async fn cancelling_kills_the_running_command_and_no_further_call_runs() {
    let tree = worktree(&[]);
    let asked = calls(&[
        ("run", json!({"command": "exec 9>lock; flock 9; mv lock held; (sleep 1000; true) & wait"})),
        ("write", json!({"path": "late", "content": "", "rationale": "Too late."})),
    ]);
    let mut agent = Agent::new(Box::new(Scripted([asked].into())), Vec::new());
    let cancel = CancellationToken::new();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let mut events = |event| heard.lock().unwrap().push(event);
    let stop_when_held = async {
        while !tree.path().join("held").exists() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (stopped, ()) =
        tokio::join!(agent.work("go".into(), tree.path(), &mut events, &cancel), stop_when_held);
    assert!(matches!(stopped, Err(Stop::Cancelled)), "{stopped:?}");
    // Whoever held the lock is dead: else this would hang.
    std::fs::File::open(tree.path().join("held")).unwrap().lock().unwrap();
    assert!(!tree.path().join("late").exists());
    let heard = heard.lock().unwrap();
    let [AgentEvent::Tool(done)] = &heard[..] else { panic!("{heard:?}") };
    assert_eq!((done.name.as_str(), done.outcome.as_str()), ("run", "stopped by the user"));
    // Every call has a result all the same: no provider takes a history without.
    let Some(Entry::Results(results)) = agent.history().last() else { panic!("no results") };
    assert_eq!(results.iter().map(|result| result.failed).collect::<Vec<_>>(), [true, true]);
}

#[tokio::test]
async fn cancelling_between_steps_does_not_wait_for_the_delay() {
    let tree = worktree(&[]);
    let script =
        "[[reply]]\ndelay_ms = 100_000_000\n[[reply.step]]\ntool = \"run\"\ncommand = \"touch ran\"\n";
    let cancel = CancellationToken::new();
    cancel.cancel();
    let stopped = replaying(script, &[]).work("go".into(), tree.path(), &mut |_| {}, &cancel).await;
    assert!(matches!(stopped, Err(Stop::Cancelled)), "{stopped:?}");
    assert!(!tree.path().join("ran").exists());
}

#[tokio::test]
async fn a_message_that_the_model_failed_to_answer_can_be_given_again() {
    let tree = worktree(&[]);
    let answers = [
        Err(ModelError("no answer within 60 s".into())),
        Ok(Response { text: "Hello.".into(), calls: vec![] }),
    ];
    let mut agent = Agent::new(Box::new(Scripted(answers.into())), Vec::new());
    let (stopped, _) = work(&mut agent, tree.path(), "hello").await;
    assert!(matches!(stopped, Err(Stop::Failed(ref error)) if error.to_string() == "no answer within 60 s"));
    let (stopped, _) = work(&mut agent, tree.path(), "hello").await;
    assert_eq!(stopped.unwrap().text, "Hello.");
    assert_eq!(agent.history().len(), 2);
}

#[tokio::test]
async fn a_worktree_that_is_gone_is_an_error_that_names_it() {
    let tree = worktree(&[]);
    let gone = tree.path().join("gone");
    let (stopped, heard) = work(&mut replaying("", &[]), &gone, "go").await;
    assert!(stopped.unwrap_err().to_string().contains(gone.to_str().unwrap()));
    assert_eq!(text_of(&heard), "");
}
