//! The real app in its real webview, on a desktop of its own.
//!
//! What is seen on the way is kept as pictures in `test-output/`, in both themes and two sizes of the window.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod desk;
mod endings;
mod tree;
mod wd;

use std::{
    fs,
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, Instant},
};

use desk::Desk;
use serde_json::{Value, json};
use tree::Tree;
use wd::{Element, Window};

/// How long anything may take on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);

/// Asks until `ready` gives something; `None` when it never does.
fn poll<T>(mut ready: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        if let Some(value) = ready() {
            return Some(value);
        }
        if start.elapsed() > PATIENCE {
            return None;
        }
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_rejection_with_a_comment_gets_an_answer_and_what_was_accepted_is_on_disk() {
    let desk = Desk::start();
    let window = desk.open(&["--demo"]);
    window.wait("a suggested prompt", || text_of(&window.find(&id("composer"))));
    picture(&window, "1-prompt");
    let root = demo_root(&window);
    let before = Tree::read(&root);

    window.find(&id("send")).click();
    window.find(&id("brief"));
    picture(&window, "2-brief");
    window.find(&id("start-review")).click();
    let first = window.find(&hunk(0));
    picture(&window, "3-review");

    first.find(&id("comment")).click();
    first.find(&id("comment-text")).enter("put it in the config file instead, not the environment");
    picture(&window, "4-comment");
    first.find(&id("reject-with-comment")).click();
    accept_the_rest(&window);
    let mut expected = before.clone();
    expected.accept(&review(&window));
    assert_eq!(Tree::read(&root), before, "a review changes nothing of the user's");
    window.find(&id("finish")).click();

    window.wait("round 2", || window.find(&id("round")).text().contains("Round 2").then_some(()));
    window.find(&id("brief"));
    picture(&window, "5-brief-of-round-2");
    window.find(&id("start-review")).click();
    window.find(&hunk(0));
    picture(&window, "6-review-of-round-2");
    accept_the_rest(&window);
    expected.accept(&review(&window));
    assert_eq!(Tree::read(&root), before, "a review changes nothing of the user's");
    window.find(&id("finish")).click();

    window.find(&id("ended"));
    window.wait("the ending", || window.find(&id("status")).text().contains("Applied").then_some(()));
    picture(&window, "7-applied");
    assert_eq!(Tree::read(&root), expected, "what was accepted, and nothing else, is on disk");
    assert_ne!(expected, before);
}

#[test]
fn a_rejected_change_that_comes_back_is_refused_before_the_review_and_can_be_asked_about() {
    let desk = Desk::start();
    let window = desk.open(&["--demo"]);
    window.wait("a suggested prompt", || text_of(&window.find(&id("composer"))));
    window.find(&id("send")).click();
    window.find(&id("brief"));
    window.find(&id("start-review")).click();

    let first = window.find(&hunk(0));
    first.find(&id("comment")).click();
    first.find(&id("comment-text")).enter("put it in the config file instead, not the environment");
    first.find(&id("reject-with-comment")).click();
    window.find(&format!("{}[data-verdict=reject]", hunk(0)));
    window.find(&hunk(1)).find(&id("reject")).click();
    window.find(&format!("{}[data-verdict=reject]", hunk(1)));
    accept_the_rest(&window);
    window.find(&id("finish")).click();

    window.wait("round 2", || window.find(&id("round")).text().contains("Round 2").then_some(()));
    window.find(&id("brief"));
    let refused = window.find(&id("reproposed"));
    assert!(refused.text().contains("[re-proposed (round 1); rejected]"), "{}", refused.text());
    picture(&window, "9-brief-with-a-re-proposal");
    let hunks = || {
        let review = review(&window);
        review["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|file| file["hunks"].as_array().unwrap().len())
            .sum::<usize>()
    };
    let before = hunks();
    window.find(&id("ask")).click();
    window.wait("the hunk in the review", || (hunks() == before + 1).then_some(()));
    window.wait("the count taken back", || {
        window
            .run("return document.body.innerText", json!([]))
            .as_str()?
            .contains("re-proposed 0 of 2")
            .then_some(())
    });
    picture(&window, "10-asked-about");
    accept_the_rest(&window);
    window.find(&id("finish")).click();
    window.find(&id("ended"));
    window.wait("the ending", || window.find(&id("status")).text().contains("Applied").then_some(()));
}

#[test]
fn a_folder_that_is_no_repository_is_said_to_be_none() {
    let desk = Desk::start();
    let folder = desk.home().join("letters");
    fs::create_dir(&folder).unwrap();
    let window = desk.open(&[folder.to_str().unwrap()]);
    let error = window.wait("an error", || text_of(&window.find(&id("error"))));
    assert!(error.contains("letters"), "{error}");
    picture(&window, "8-no-repository");
}

#[test]
fn nobody_drives_a_window_that_was_started_without_automation() {
    let mut desk = Desk::start();
    let app = desk.start_app(&[]);
    let environment = PathBuf::from(format!("/proc/{app}/environ"));
    let variable = b"TAURI_WEBVIEW_AUTOMATION=";
    // The list is empty for a moment while one program takes the other's place.
    let settled = poll(|| {
        let environment = fs::read(&environment).ok().filter(|environment| !environment.is_empty())?;
        (!environment.windows(variable.len()).any(|part| part == variable)).then_some(())
    });
    assert!(settled.is_some(), "{}", desk.log());
}

fn id(name: &str) -> String {
    format!("[data-testid={name}]")
}

fn hunk(index: u32) -> String {
    format!("[data-testid=hunk][data-index=\"{index}\"]")
}

/// What is written in a field, or else stands in an element; nothing while it is empty.
fn text_of(element: &Element<'_>) -> Option<String> {
    let text = element.property("value").as_str().map_or_else(|| element.text(), str::to_owned);
    (!text.is_empty()).then_some(text)
}

/// Accepts one undecided hunk after the other, until every hunk of the review has a verdict.
fn accept_the_rest(window: &Window) {
    // Only the hunks near the one in view are in the page; the review moves on to the next undecided one.
    let undecided = format!("[data-testid=hunk][data-verdict=undecided] {}", id("accept"));
    window.wait("the last verdict", || {
        // One may lie under the file's head, or fold between the look and the click: then another is tried.
        window.all(&undecided).iter().any(Element::try_click);
        let review = review(window);
        let mut hunks = review["files"].as_array()?.iter().flat_map(|file| file["hunks"].as_array().unwrap());
        hunks.all(|hunk| !hunk["verdict"].is_null()).then_some(())
    });
}

/// The open review, as the engine gives it to the page.
fn review(window: &Window) -> Value {
    let repo = window.call("repo/open", json!({"path": demo_root(window)}));
    let sessions = window.call("session/list", json!({"repo": repo["repo"]}));
    window.call("review/get", json!({"session": sessions["sessions"][0]["session"]}))
}

fn demo_root(window: &Window) -> PathBuf {
    let recent = window.call("repo/recent", json!({}));
    PathBuf::from(recent["repos"][0]["root"].as_str().unwrap())
}

/// Keeps what the window shows now, in both themes and two sizes.
fn picture(window: &Window, name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-output");
    fs::create_dir_all(&folder).unwrap();
    for size in [(900, 600), (1280, 800)] {
        window.resize(size);
        for theme in ["dark", "light"] {
            window.run("document.documentElement.dataset.theme = arguments[0]", json!([theme]));
            let (width, height) = size;
            window.screenshot(&folder.join(format!("{name}-{theme}-{width}x{height}.png")));
        }
    }
}
