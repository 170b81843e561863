//! Gates run only when agreed to, and what is red is not applied.

use heph_testkit::Repository;
use serde_json::{Value, json};

use crate::{Journey, hunks};

const GATES: &str = "[[gate]]\nname = \"words\"\nrun = \"! grep -rn broken src\"\n";

const SCRIPT: &str = r#"
[[reply]]
text = "Two files."
[[reply.step]]
tool = "write"
path = "src/a.txt"
content = "broken\n"
rationale = "First."
[[reply.step]]
tool = "write"
path = "src/b.txt"
content = "fine\n"
rationale = "Second."
[[reply]]
when = "gate words failed (exit 1,"
text = "Mended."
[[reply.step]]
tool = "edit"
path = "src/a.txt"
old = "broken"
new = "whole"
rationale = "Mend it."
"#;

fn repository() -> Repository {
    Repository::new(&[("heph.toml", GATES), ("src/base.txt", "base\n")])
}

fn results(gates: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    gates.as_array().unwrap().iter().map(|gate| (text(&gate["name"]), text(&gate["result"]))).collect()
}

#[test]
fn nothing_of_a_repository_runs_before_it_was_agreed_to_as_shown() {
    let mut journey = Journey::start(repository(), SCRIPT);
    let root = journey.repository.root();
    let opened = journey.client.call("repo/open", json!({ "path": root }));
    assert_eq!(opened["trusted"], false);
    assert_eq!(opened["commands"], json!(["! grep -rn broken src"]));
    journey.prompt("Write.");
    let review = journey.review(1);
    assert_eq!(review["brief"]["gates"], json!([]));
    assert_eq!(hunks(&review).len(), 2, "the turn works without gates");
    let stale = json!({ "repo": opened["repo"], "digest": "0" });
    let error = journey.client.try_call("repo/trust", stale).unwrap_err();
    assert_eq!(error["data"]["kind"], "stale");
}

#[test]
fn a_red_gate_sends_the_model_back_before_the_user_is_asked() {
    let mut journey = Journey::start(repository(), SCRIPT);
    let root = journey.repository.root();
    let opened = journey.client.call("repo/open", json!({ "path": root }));
    let agreed = json!({ "repo": opened["repo"], "digest": opened["digest"] });
    journey.client.call("repo/trust", agreed);
    journey.prompt("Write.");
    journey.client.wait("model/told");
    let told = journey.client.wait("model/told")["message"].as_str().unwrap().to_owned();
    assert!(told.contains("gate words failed (exit 1, ") && told.contains("  src/a.txt:1:broken"), "{told}");
    let review = journey.review(1);
    assert_eq!(results(&review["brief"]["gates"]), [("words".to_owned(), "green".to_owned())]);
    assert_eq!(review["brief"]["attempts"], 2);
    let proposed = hunks(&review);
    assert_eq!(proposed[0]["rationale"], "First. Mend it.");
    journey.call("review/finish", json!({ "how": "accept_all" }));
    assert_eq!(journey.ended()["message"], "Applied 2 hunks in 2 files");
    assert_eq!(journey.repository.read("src/a.txt"), "whole\n");
}

#[test]
fn a_gate_that_cannot_run_is_not_the_models_fault() {
    let gate = "[[gate]]\nname = \"lint\"\nrun = \"no-such-linter\"\n";
    let mut journey = Journey::start(Repository::new(&[("heph.toml", gate)]), SCRIPT);
    let root = journey.repository.root();
    let opened = journey.client.call("repo/open", json!({ "path": root }));
    let agreed = json!({ "repo": opened["repo"], "digest": opened["digest"] });
    journey.client.call("repo/trust", agreed);
    journey.prompt("Write.");
    let review = journey.review(1);
    assert_eq!(results(&review["brief"]["gates"]), [("lint".to_owned(), "could_not_run".to_owned())]);
    journey.call("review/finish", json!({ "how": "accept_all" }));
    assert_eq!(journey.ended()["ending"], "applied");
}
