//! The manual's own example, byte for byte.

use heph_testkit::Repository;
use serde_json::json;

use crate::{Journey, hunks};

const TOLD: &str = r#"Your proposed changes were reviewed. Here is the result:

file: src/auth.rs
  hunk 1 (lines 23-31): REJECTED
    your rationale: "Read the JWT secret from the environment so the key
      never lands in the binary."
    user: "put it in the config file instead, not the environment"
  hunk 2 (lines 58-70): ACCEPTED

file: src/main.rs
  hunk 1 (lines 10-25): ACCEPTED

Address the comments. The rejected hunks are constraints: do not re-propose
them in any form. The worktree already holds only what was accepted.

The user rejected the following changes in this turn. Do not re-propose them
in any form.

src/auth.rs, round 1 -- "put it in the config file instead, not the
environment"
  +    let secret = std::env::var("JWT_SECRET")
  +        .expect("JWT_SECRET must be set");"#;

/// `count` lines that each occur once.
fn base(prefix: &str, count: u32) -> String {
    (1..=count).map(|n| format!("fn {prefix}{n:03}() {{}}\n")).collect()
}

fn accepted_auth() -> String {
    base("a", 80).replace("fn a059() {}\n", &base("token", 7))
}

fn accepted_main() -> String {
    base("m", 40).replace("fn m013() {}\n", &base("start", 10))
}

const ANSWER: &str = "    let secret = config.jwt_secret();\n";

fn script() -> String {
    let step = |path: &str, old: &str, new: &str, rationale: &str| {
        format!(
            "[[reply.step]]\ntool = \"edit\"\npath = \"{path}\"\nold = '''{old}'''\nnew = '''{new}'''\nrationale = \"{rationale}\"\n"
        )
    };
    let env = "fn a025() {}\n    let secret = std::env::var(\"JWT_SECRET\")\nfn a026() {}\n        .expect(\"JWT_SECRET must be set\");\nfn a027() {}";
    let rationale = "Read the JWT secret from the environment so the key never lands in the binary.";
    [
        "[[reply]]\ntext = \"The secret now comes from the environment.\"\n".to_owned(),
        step("src/auth.rs", "fn a025() {}\nfn a026() {}\nfn a027() {}", env, rationale),
        step("src/auth.rs", "fn a059() {}\n", &base("token", 7), "Return an error for a bad token."),
        step("src/main.rs", "fn m013() {}\n", &base("start", 10), "Ask for the key before the port is open."),
        "[[reply]]\nwhen = \"REJECTED\"\ntext = \"The secret now comes from the config.\"\n".to_owned(),
        step(
            "src/auth.rs",
            "fn a026() {}\n",
            &format!("{ANSWER}fn a026() {{}}\n"),
            "Take it from the config.",
        ),
    ]
    .concat()
}

#[test]
fn a_rejection_reaches_the_model_word_for_word_and_only_what_was_accepted_is_applied() {
    let repository = Repository::new(&[("src/auth.rs", &base("a", 80)), ("src/main.rs", &base("m", 40))]);
    repository.dirty();
    let touched = ["src/auth.rs", "src/main.rs"];
    let (before, untouched) = (repository.fingerprint(&[]), repository.fingerprint(&touched));
    let mut journey = Journey::start(repository, &script());
    journey.prompt("Take the secret out of the source.");
    let told = journey.client.wait("model/told");
    assert_eq!(told["message"], "Take the secret out of the source.");

    let review = journey.review(1);
    let proposed = hunks(&review);
    let whats: Vec<&str> = proposed.iter().map(|hunk| hunk["what"].as_str().unwrap()).collect();
    assert_eq!(whats, ["lines 23-31", "lines 58-70", "lines 10-25"]);
    assert_eq!(proposed[0]["new"], json!([23, 31]));
    assert_eq!(proposed[1]["rationale"], "Return an error for a bad token.");
    let comment = "put it in the config file instead, not the environment";
    journey.call("review/comment", json!({ "hunk": proposed[0]["id"], "text": comment }));
    journey.decide(&proposed[0], "reject");
    journey.decide(&proposed[1], "accept");
    let error = journey.try_call("review/finish", json!({ "how": "finish" })).unwrap_err();
    assert_eq!(error["data"], json!({ "kind": "undecided", "count": 1 }));
    journey.decide(&proposed[2], "accept");
    journey.finish();
    assert_eq!(journey.client.wait("model/told")["message"], TOLD);

    let review = journey.review(2);
    let answers = hunks(&review);
    assert_eq!(answers.len(), 1, "round 2 shows only what round 2 changed");
    let rows = answers[0]["rows"].as_array().unwrap();
    let added: Vec<_> = rows.iter().filter(|row| row["kind"] != " ").map(|row| &row["text"]).collect();
    assert_eq!(added, [ANSWER.trim_end_matches('\n')]);
    assert_eq!(answers[0]["answers"]["comments"], json!([comment]));
    assert_eq!(
        review["accepted_so_far"],
        json!([{ "path": "src/auth.rs", "hunks": 1 }, { "path": "src/main.rs", "hunks": 1 }])
    );
    assert_eq!(
        journey.repository.fingerprint(&[]),
        before,
        "nothing is in the user's tree before the turn ends"
    );
    journey.decide(&answers[0], "accept");
    journey.finish();

    let ended = journey.ended();
    assert_eq!(
        (&ended["ending"], &ended["message"]),
        (&json!("applied"), &json!("Applied 3 hunks in 2 files"))
    );
    let answered = accepted_auth().replace("fn a026() {}\n", &format!("{ANSWER}fn a026() {{}}\n"));
    assert_eq!(journey.repository.read("src/auth.rs"), answered);
    assert_eq!(journey.repository.read("src/main.rs"), accepted_main());
    assert_eq!(journey.repository.fingerprint(&touched), untouched);
    assert!(journey.client.close(), "closing standard input ends it well");
}

#[test]
fn verdicts_and_comments_survive_a_kill_during_the_review() {
    let repository = Repository::new(&[("src/auth.rs", &base("a", 80)), ("src/main.rs", &base("m", 40))]);
    let mut journey = Journey::start(repository, &script());
    journey.prompt("Take the secret out of the source.");
    let proposed = hunks(&journey.review(1));
    journey.decide(&proposed[0], "reject");
    journey.decide(&proposed[1], "accept");
    let comment = json!({ "hunk": proposed[0]["id"], "text": "not `env`\n\n  \u{1f980}", "line": 26 });
    journey.call("review/comment", comment);

    let mut journey = journey.kill_and_restart();
    let view = journey.call("session/load", json!({}));
    assert_eq!((&view["phase"], &view["round"]), (&json!("review"), &json!(1)));
    let kept = hunks(&view["review"]);
    let verdicts: Vec<_> = kept.iter().map(|hunk| &hunk["verdict"]).collect();
    assert_eq!(verdicts, [&json!("reject"), &json!("accept"), &json!(null)]);
    assert_eq!(kept[0]["comments"][0]["text"], "not `env`\n\n  \u{1f980}");
    assert_eq!(kept[0]["comments"][0]["line"], 26);
    assert_eq!(kept[0]["rationale"], proposed[0]["rationale"]);
    journey.decide(&kept[2], "accept");
    journey.finish();
    let told = journey.client.wait("model/told");
    assert!(
        told["message"]
            .as_str()
            .unwrap()
            .contains("    user (line 26): \"not `env`\n      \n        \u{1f980}\"\n")
    );
    let answers = hunks(&journey.review(2));
    journey.decide(&answers[0], "accept");
    journey.finish();
    assert_eq!(journey.ended()["message"], "Applied 3 hunks in 2 files");
}
