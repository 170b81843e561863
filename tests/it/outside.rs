//! The user's own editor on a file of the review.

use heph_testkit::{Client, Repository};
use serde_json::json;

use crate::{Journey, hunks, new_session, open};

const SCRIPT: &str = r#"
[[reply]]
text = "Five."
[[reply.step]]
tool = "edit"
path = "a.txt"
old = "5"
new = "five"
rationale = "A word."
"#;

/// A review of one hunk, of a user whose editor is this command.
fn review_with(editor: &str) -> Journey {
    let repository = Repository::new(&[("a.txt", "4\n5\n6\n")]);
    let data = tempfile::tempdir().unwrap();
    let mut client = Client::start_with_editor(env!("CARGO_BIN_EXE_heph-serve"), data.path(), editor);
    let repo = open(&mut client, &repository);
    let session = new_session(&mut client, &repository, &repo, SCRIPT).unwrap();
    let mut journey = Journey { repository, data, client, session };
    journey.prompt("Words.");
    journey.review(1);
    journey
}

#[test]
fn what_is_saved_in_the_users_own_editor_decides_the_file() {
    let mut journey = review_with("sed -i s/five/cinq/");
    journey.call("review/edit_outside", json!({ "path": "a.txt" }));
    let edited = loop {
        journey.client.wait("session/changed");
        let review = journey.call("review/get", json!({}));
        if hunks(&review)[0]["verdict"] == "edited" {
            break journey.call("review/file", json!({ "path": "a.txt" }));
        }
    };
    assert_eq!(edited, json!({ "content": "4\ncinq\n6\n", "edited": true }));
    assert_eq!(
        journey.repository.read("a.txt"),
        "4\n5\n6\n",
        "nothing is written before the review is finished"
    );
    journey.finish();
    assert_eq!(journey.ended()["ending"], "applied");
    assert_eq!(journey.repository.read("a.txt"), "4\ncinq\n6\n");
}

#[test]
fn an_editor_that_fails_changes_nothing_and_says_so() {
    let mut journey = review_with("false");
    journey.call("review/edit_outside", json!({ "path": "a.txt" }));
    let error = journey.client.wait("error")["message"].as_str().unwrap().to_owned();
    assert!(error.starts_with("Your editor ended with an error"), "{error}");
    assert_eq!(hunks(&journey.call("review/get", json!({})))[0]["verdict"], json!(null));
}

#[test]
fn without_an_editor_of_their_own_the_user_is_told_how_to_name_one() {
    let mut journey = review_with("");
    let error = journey.try_call("review/edit_outside", json!({ "path": "a.txt" })).unwrap_err();
    assert_eq!(error["data"]["kind"], "refused");
    assert!(error["message"].as_str().unwrap().contains("VISUAL"), "{error}");
}

#[test]
fn text_that_the_review_no_longer_takes_is_kept_in_a_file() {
    let data = tempfile::tempdir().unwrap();
    let go = data.path().join("go");
    let editor = format!("sh -c 'until [ -e {} ]; do sleep 0.02; done; echo mine > \"$1\"' sh", go.display());
    let mut journey = review_with(&editor);
    journey.call("review/edit_outside", json!({ "path": "a.txt" }));
    journey.call("review/finish", json!({ "how": "refuse_all" }));
    journey.ended();
    std::fs::write(&go, "").unwrap();
    let error = journey.client.wait("error")["message"].as_str().unwrap().to_owned();
    let kept = error.split("is kept in ").nth(1).unwrap().trim_end_matches('.');
    assert_eq!(std::fs::read_to_string(std::path::Path::new(kept).join("a.txt")).unwrap(), "mine\n");
    std::fs::remove_dir_all(kept).unwrap();
}
