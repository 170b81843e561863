//! Gates run only when agreed to.

use heph_testkit::Repository;
use serde_json::json;

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
"#;

fn repository() -> Repository {
    Repository::new(&[("heph.toml", GATES), ("src/base.txt", "base\n")])
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
