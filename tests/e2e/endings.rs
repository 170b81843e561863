//! Every ending, read from the status bar of the real window.

use std::fs;

use heph_testkit::Repository;
use serde_json::json;

use crate::{
    Desk, Tree, accept_the_rest, hunk, id, picture,
    wd::{Element, Window},
};

/// Thirty numbered lines, as the repository has them at first.
fn lines() -> String {
    (1..=30).map(|n| format!("line {n}\n")).collect()
}

/// One reply that writes the file with these lines changed.
fn reply(when: &str, changes: &[(u32, &str)]) -> String {
    let text = changes
        .iter()
        .fold(lines(), |text, (n, new)| text.replace(&format!("line {n}\n"), &format!("{new}\n")));
    let when = if when.is_empty() { String::new() } else { format!("when = {when:?}\n") };
    format!(
        "[[reply]]\n{when}text = \"It is done.\"\n[[reply.step]]\ntool = \"write\"\npath = \"src/a.txt\"\n\
         content = {text:?}\nrationale = \"It was asked for.\"\n"
    )
}

/// A repository, a model that plays `script`, the user's `settings`, and the window on them.
struct Stage {
    desk: Desk,
    repository: Repository,
    before: Tree,
}

impl Stage {
    fn set(script: &str, settings: &str) -> Stage {
        let repository = Repository::new(&[("src/a.txt", &lines())]);
        let model = repository.beside("model.replay.toml");
        fs::write(&model, script).unwrap();
        let desk = Desk::start();
        let config = desk.home().join("config/heph");
        fs::create_dir_all(&config).unwrap();
        let model =
            format!("[model]\nprovider = \"replay\"\nfile = {:?}\n{settings}", model.display().to_string());
        fs::write(config.join("config.toml"), model).unwrap();
        let before = Tree::read(&repository.root());
        Stage { desk, repository, before }
    }

    fn open(&self) -> Window {
        self.desk.open(&[self.repository.root().to_str().unwrap()])
    }

    /// The window, after the user has asked for a change.
    fn begin(&self) -> Window {
        let window = self.open();
        prompt(&window, "Change it.");
        window
    }

    fn assert_untouched(&self) {
        assert_eq!(Tree::read(&self.repository.root()), self.before, "nothing was written");
    }

    fn text(&self) -> String {
        self.repository.read("src/a.txt")
    }
}

fn prompt(window: &Window, text: &str) {
    window.find(&id("composer")).enter(text);
    window.find(&id("send")).click();
}

fn start_review(window: &Window) {
    window.find(&id("brief"));
    window.find(&id("start-review")).click();
    window.find(&hunk(0));
}

fn reject_the_first(window: &Window) {
    window.find(&hunk(0)).find(&id("reject")).click();
    window.find(&format!("{}[data-verdict=reject]", hunk(0)));
}

/// Presses a key where the focus is.
fn press(window: &Window, key: &str) {
    window.run(
        "const target = document.activeElement ?? document.body;
         target.dispatchEvent(new KeyboardEvent('keydown', { key: arguments[0], bubbles: true, cancelable: true }))",
        json!([key]),
    );
}

/// Presses a button that ends the review at its brief. One that has just come up takes no press for a moment.
fn end_at_the_brief(window: &Window, button: &str) {
    window.find(&id("brief"));
    window.wait("the end of the brief", || {
        window.all(&id(button)).iter().any(Element::try_click);
        window.all(&id("brief")).is_empty().then_some(())
    });
}

fn status_says(window: &Window, words: &str) {
    window.wait(words, || (window.find(&id("status")).text() == words).then_some(()));
}

#[test]
fn answered() {
    let stage = Stage::set("[[reply]]\ntext = \"There is nothing to change.\"\n", "");
    let window = stage.open();
    prompt(&window, "Is it right?");
    status_says(&window, "Answered, nothing was changed");
    stage.assert_untouched();
}

#[test]
fn refused() {
    let stage = Stage::set(&reply("", &[(5, "five"), (20, "twenty")]), "");
    let window = stage.begin();
    end_at_the_brief(&window, "refuse");
    status_says(&window, "Refused, nothing applied");
    stage.assert_untouched();
}

#[test]
fn stopped_partway() {
    let stage = Stage::set(&reply("", &[(5, "five"), (20, "twenty")]), "");
    let window = stage.begin();
    start_review(&window);
    window.find(&hunk(0)).find(&id("accept")).click();
    window.find(&format!("{}[data-verdict=accept]", hunk(0)));
    press(&window, "Escape");
    window.find(&id("yes")).click();
    status_says(&window, "Stopped partway, 1 undecided. Applied 1 hunk in 1 file");
    assert_eq!(stage.text(), lines().replace("line 5\n", "five\n"));
}

#[test]
fn floor() {
    let script = reply("", &[(5, "let a = 1;"), (20, "twenty")])
        + &reply("REJECTED", &[(5, "let a = 1;"), (20, "twenty")]);
    let stage = Stage::set(&script, "[review]\nreproposal_floor = 1\n");
    let window = stage.begin();
    start_review(&window);
    reject_the_first(&window);
    accept_the_rest(&window);
    window.find(&id("finish")).click();
    status_says(&window, "Floor: 1 re-proposal. Applied 1 hunk in 1 file");
    assert_eq!(stage.text(), lines().replace("line 20\n", "twenty\n"));
}

#[test]
fn interrupted() {
    let stage = Stage::set(
        "[[reply]]\ntext = \"Slowly.\"\ndelay_ms = 600000\n[[reply.step]]\ntool = \"list\"\npath = \".\"\n",
        "",
    );
    let window = stage.begin();
    window.find(&id("stop")).click();
    status_says(&window, "Interrupted in round 1, nothing applied");
    stage.assert_untouched();
}

#[test]
fn out_of_rounds() {
    let stage = Stage::set(&reply("", &[(5, "five"), (20, "twenty")]), "[review]\nmax_rounds = 1\n");
    let window = stage.begin();
    start_review(&window);
    reject_the_first(&window);
    accept_the_rest(&window);
    window.find(&id("finish")).click();
    status_says(&window, "Out of rounds (1). Applied 1 hunk in 1 file");
    assert_eq!(stage.text(), lines().replace("line 20\n", "twenty\n"));
}

#[test]
fn red_not_applied() {
    let settings =
        "[gates]\nattempts = 1\n[[gate]]\nname = \"words\"\nrun = \"! grep -n broken src/a.txt\"\n";
    let stage = Stage::set(&reply("", &[(5, "broken"), (20, "twenty")]), settings);
    let window = stage.begin();
    window.find(&id("brief"));
    picture(&window, "20-red-brief");
    end_at_the_brief(&window, "accept-all");
    window.find(&id("red"));
    picture(&window, "21-red-choice");
    window.find(&id("red-discard")).click();
    status_says(&window, "Red, not applied: gate words failed");
    stage.assert_untouched();
}

#[test]
fn red_and_edited_until_green() {
    let settings =
        "[gates]\nattempts = 1\n[[gate]]\nname = \"words\"\nrun = \"! grep -n broken src/a.txt\"\n";
    let stage = Stage::set(&reply("", &[(5, "broken"), (20, "twenty")]), settings);
    let window = stage.begin();
    end_at_the_brief(&window, "accept-all");
    window.find(&id("red-edit")).click();
    start_review(&window);
    press(&window, "e");
    window.find(&format!("{} .cm-content", id("editor")));
    let whole = lines().replace("line 5\n", "whole\n").replace("line 20\n", "twenty\n");
    write_in_editor(&window, &whole);
    picture(&window, "22-editor");
    window.find(&id("editor-save")).click();
    window.find(&format!("{}[data-verdict=edited]", hunk(0)));
    picture(&window, "23-edited");
    window.find(&id("finish")).click();
    status_says(&window, "Applied 2 hunks in 1 file");
    assert_eq!(stage.text(), whole);
}

/// Puts `text` in the place of all that the editor holds, as a user would who pastes it.
fn write_in_editor(window: &Window, text: &str) {
    window.run(
        "const content = document.querySelector('.cm-content');
         content.focus();
         document.execCommand('selectAll');
         const data = new DataTransfer();
         data.setData('text/plain', arguments[0]);
         content.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))",
        json!([text]),
    );
}

#[test]
fn failed() {
    let stage = Stage::set("[[reply]]\nfail = \"The network is down.\"\n", "");
    let window = stage.begin();
    window.find(&id("held"));
    picture(&window, "24-held");
    window.find(&id("held-end")).click();
    status_says(&window, "Failed, nothing applied");
    stage.assert_untouched();
}

#[test]
fn reviewed() {
    let stage = Stage::set("", "");
    let mine = lines().replace("line 5\n", "five\n").replace("line 20\n", "twenty\n");
    stage.repository.write("src/a.txt", &mine);
    let window = stage.open();
    prompt(&window, "/review");
    window.find(&id("brief"));
    picture(&window, "25-own-tree");
    start_review(&window);
    reject_the_first(&window);
    accept_the_rest(&window);
    assert_eq!(stage.text(), mine, "nothing is taken out before it was asked about");
    window.find(&id("finish")).click();
    window.find(&id("yes")).click();
    status_says(&window, "Reviewed. Took 1 hunk out of 1 file");
    assert_eq!(stage.text(), lines().replace("line 20\n", "twenty\n"));
}

#[test]
fn set_aside_and_undone() {
    let stage = Stage::set(&reply("", &[(5, "five"), (20, "twenty")]), "");
    let window = stage.begin();
    window.find(&id("brief"));
    let mine = lines().replace("line 5\n", "my five\n");
    stage.repository.write("src/a.txt", &mine);
    end_at_the_brief(&window, "accept-all");
    status_says(&window, "Applied 1 hunk in 1 file, 1 set aside in src/a.txt");
    assert_eq!(stage.text(), mine.replace("line 20\n", "twenty\n"), "the user's own text stands");
    picture(&window, "26-set-aside");
    window.find(&id("undo")).click();
    window.find(&id("yes")).click();
    window.find(&id("undone"));
    status_says(&window, "Applied 1 hunk in 1 file, 1 set aside in src/a.txt. Undone since");
    picture(&window, "27-undone");
    assert_eq!(stage.text(), mine, "what was applied is taken back, and nothing else");
}

#[test]
fn a_hunk_is_split_and_its_parts_are_decided_apart() {
    let stage = Stage::set(&reply("", &[(5, "five"), (9, "nine")]), "");
    let window = stage.begin();
    start_review(&window);
    let first = window.find(&hunk(0));
    first.find(&id("comment")).click();
    first.find(&id("comment-text")).enter("why this one?");
    picture(&window, "28-before-the-split");
    first.find(&id("comment-save")).click();
    window.find(&format!("{} .row.add .no.new", hunk(0))).click();
    window.find(&hunk(0)).find(&id("comment-text")).enter("a number, please");
    picture(&window, "30-line-comment");
    window.find(&hunk(0)).find(&id("comment-save")).click();
    window.wait("the comment on its line", || {
        let said = window.find(&hunk(0)).text();
        (said.contains("line 5") && said.contains("a number, please")).then_some(())
    });
    press(&window, "s");
    window.find(&hunk(1));
    picture(&window, "29-split");
    window.find(&hunk(0)).find(&id("reject")).click();
    accept_the_rest(&window);
    window.find(&id("finish")).click();
    window.find(&id("ended"));
    assert_eq!(stage.text(), lines().replace("line 9\n", "nine\n"));
}
