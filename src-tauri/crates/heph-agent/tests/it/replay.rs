//! The replay model and its script.

use heph_agent::{AgentEvent, replay::Script};

use crate::play::{replaying, text_of, tools_of, work, worktree};

const SCRIPT: &str = r#"
    [[reply]]
    text = "The secret now comes from the environment."
    [[reply.step]]
    tool = "list"
    path = "."

    [[reply]]
    when = "REJECTED"
    text = "From the file, then."

    [[reply]]
    when = "REJECTED"
    text = "I give in."

    [[reply]]
    when = "thanks"
    text = "You are welcome."
"#;

#[tokio::test]
async fn each_message_takes_the_first_unused_reply_whose_when_it_holds() {
    let tree = worktree(&[("a", b"")]);
    let mut agent = replaying(SCRIPT, &[]);
    let mut said = Vec::new();
    for message in ["go", "thanks a lot", "hunk 1: REJECTED", "hunk 1: REJECTED", "hunk 1: REJECTED", "go"] {
        let (stopped, heard) = work(&mut agent, tree.path(), message).await;
        assert_eq!(stopped.unwrap().text, text_of(&heard));
        assert_eq!(tools_of(&heard).len(), usize::from(said.is_empty()));
        said.push(text_of(&heard));
    }
    let expected = [
        "The secret now comes from the environment.",
        "You are welcome.",
        "From the file, then.",
        "I give in.",
        "Done.",
        "Done.",
    ];
    assert_eq!(said, expected);
}

#[tokio::test]
async fn a_replay_goes_on_after_a_restart_from_what_was_told() {
    let tree = worktree(&[]);
    let told = ["go".to_owned(), "hunk 1: REJECTED".to_owned()];
    let (stopped, _) = work(&mut replaying(SCRIPT, &told), tree.path(), "hunk 1: REJECTED").await;
    assert_eq!(stopped.unwrap().text, "I give in.");
}

#[tokio::test]
async fn the_closing_words_come_in_pieces_after_the_steps() {
    let tree = worktree(&[]);
    let (_, heard) = work(&mut replaying(SCRIPT, &[]), tree.path(), "go").await;
    assert!(matches!(heard[0], AgentEvent::Tool(_)) && heard.len() > 3, "{heard:?}");
}

#[tokio::test]
async fn a_call_in_a_script_has_its_tools_own_arguments() {
    let tree = worktree(&[("a", b"1\n2\n3\n")]);
    let script = "[[reply]]\nstep = [{ tool = \"read\", path = \"a\", first = 2, last = 2 }]";
    let (_, heard) = work(&mut replaying(script, &[]), tree.path(), "go").await;
    assert_eq!(tools_of(&heard)[0].detail, "    2  2\n");
}

#[test]
fn a_fault_in_a_script_names_file_line_and_field() {
    let edit = "[[reply]]\ntext = \"ok\"\n\n[[reply]]\n[[reply.step]]\ntool = \"edit\"\npath = \"a\"\n";
    let edit = |rest: &str| format!("{edit}{rest}");
    let cases = [
        (edit("old = \"x\"\nrationale = \"R.\"\n"), "demo.toml:5: reply 2, step 1: `new` is missing"),
        (edit("old = \"x\"\nnew = \"y\"\n"), "demo.toml:5: reply 2, step 1: `rationale` is missing"),
        (
            edit("old = 3\nnew = \"y\"\nrationale = \"R.\"\n"),
            "demo.toml:8: reply 2, step 1: `old`: invalid type: integer `3`, expected a string",
        ),
        (
            edit("old = \"x\"\nnew = \"y\"\nrationale = \"\"\n"),
            "demo.toml:10: reply 2, step 1: `rationale` is empty: say in one sentence why you make this change",
        ),
        (
            edit("colour = 1\n"),
            "demo.toml:8: reply 2, step 1: unknown field `colour`, expected one of `path`, `old`, `new`, `rationale`",
        ),
        (
            "[[reply]]\n[[reply.step]]\ntool = \"fly\"\n".into(),
            "demo.toml:3: reply 1, step 1: `tool`: there is no tool `fly`",
        ),
        (
            "[[reply]]\n[[reply.step]]\npath = \"a\"\n".into(),
            "demo.toml:2: reply 1, step 1: `tool` is missing",
        ),
        (
            "[[reply]]\n[[reply.step]]\ntool = 1\n".into(),
            "demo.toml:3: reply 1, step 1: `tool`: a string is expected, not integer",
        ),
        (
            "[[reply]]\nwhenn = \"x\"\n".into(),
            "demo.toml:2: reply 1: unknown field `whenn`, expected one of `when`, `text`, `delay_ms`, `fail`, `step`",
        ),
        (
            "[[reply]]\n\ndelay_ms = \"1\"\n".into(),
            "demo.toml:3: reply 1: `delay_ms`: invalid type: string \"1\", expected u64",
        ),
        ("[[replies]]\n".into(), "demo.toml:1: unknown key `replies`, expected `[[reply]]`"),
        ("reply = 3\n".into(), "demo.toml:1: `[[reply]]` is expected, not integer"),
        (
            "[[reply]]\n[reply.step]\ntool = \"list\"\n".into(),
            "demo.toml:2: reply 1: `[[reply.step]]` is expected, not table",
        ),
    ];
    for (source, expected) in cases {
        assert_eq!(Script::parse(&source, "demo.toml").unwrap_err().to_string(), expected);
    }
    let error = Script::parse("[[reply]]\ntext = \"open\n", "demo.toml").unwrap_err();
    assert_eq!((error.file.as_str(), error.line), ("demo.toml", 2), "{error}");
}
