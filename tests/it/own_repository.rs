//! The project's own repository as real input.

use std::path::Path;

use heph_testkit::Repository;
use serde_json::json;

use crate::{Journey, hunks};

const SCRIPT: &str = r##"
[[reply]]
text = "Two words and a page."
[[reply.step]]
tool = "read"
path = "src-tauri/crates/heph-core/src/id.rs"
[[reply.step]]
tool = "edit"
path = "src-tauri/crates/heph-core/src/id.rs"
old = "//! Names and numbers that must not be mixed up.\n"
new = "//! Names and numbers that must not be mixed up, each of a type of its own.\n"
rationale = "Say how they are kept apart."
[[reply.step]]
tool = "edit"
path = "src-tauri/crates/heph-core/src/text.rs"
old = "//! Raw bytes and lines of them.\n"
new = "//! Raw bytes, and the lines they consist of.\n"
rationale = "Lines are parts, not a property."
[[reply.step]]
tool = "write"
path = "docs/words.md"
content = "# Words\n\nA hunk is one reviewable change of one file.\n"
rationale = "Give newcomers the words in one place."
"##;

#[test]
fn a_turn_on_this_very_project_applies_the_accepted_part_and_nothing_else() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().expect("the project");
    let repository = Repository::new(&[]);
    repository.git(&[
        "-c",
        "safe.directory=*",
        "pull",
        "--quiet",
        project.to_str().expect("a UTF-8 path"),
        "HEAD",
        "--rebase",
    ]);
    let touched = ["src-tauri/crates/heph-core/src/id.rs", "docs/words.md"];
    let (before, untouched) = (repository.fingerprint(&[]), repository.fingerprint(&touched));
    let mut journey = Journey::start(repository, SCRIPT);
    journey.prompt("Improve the words.");
    let review = journey.review(1);
    let paths: Vec<_> = review["files"].as_array().unwrap().iter().map(|file| &file["path"]).collect();
    assert_eq!(
        paths,
        [&json!("docs/words.md"), &json!(touched[0]), &json!("src-tauri/crates/heph-core/src/text.rs")]
    );
    assert_eq!(review["files"][0]["change"], "added");
    let proposed = hunks(&review);
    let spans = proposed[1]["rows"][0]["spans"].as_array().unwrap();
    assert_eq!(spans[0][2], "c", "a doc comment is coloured as one");
    assert_eq!(journey.repository.fingerprint(&[]), before);
    journey.decide(&proposed[0], "accept");
    journey.decide(&proposed[1], "accept");
    journey.decide(&proposed[2], "reject");
    journey.finish();
    // The script has no answer to the rejection: the model changes nothing more, and the turn ends.
    assert_eq!(journey.ended()["message"], "Applied 2 hunks in 2 files");
    let words = journey.repository.read("docs/words.md");
    assert_eq!(words, "# Words\n\nA hunk is one reviewable change of one file.\n");
    assert!(
        journey
            .repository
            .read(touched[0])
            .starts_with("//! Names and numbers that must not be mixed up, each of")
    );
    assert_eq!(journey.repository.fingerprint(&touched), untouched);
}
