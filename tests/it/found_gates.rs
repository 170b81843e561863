//! Gates that the repository's files suggest, offered and written on the user's word.

use heph_testkit::Repository;
use serde_json::json;

use crate::serve;

#[test]
fn gates_that_were_found_are_written_on_the_users_word_and_may_run_then() {
    let repository = Repository::new(&[("go.mod", "module m\n"), ("a.go", "package m\n")]);
    let data = tempfile::tempdir().unwrap();
    let mut client = serve(&data);
    let opened = client.call("repo/open", json!({ "path": repository.root() }));
    let found = opened["found"].as_array().unwrap();
    assert_eq!(found[2], json!({ "name": "test", "run": "go test ./..." }));
    assert_eq!(opened["gates"], json!([]));
    assert!(!repository.root().join("heph.toml").exists(), "nothing is written by opening");

    let added = client.call("repo/add_gates", json!({ "repo": opened["repo"], "gates": [found[2]] }));
    assert_eq!((&added["gates"], &added["found"]), (&json!([found[2]]), &json!([])));
    assert_eq!(added["trusted"], true, "who writes them has agreed to them");
    let text = repository.read("heph.toml");
    assert_eq!(text, "[[gate]]\nname = \"test\"\nrun = \"go test ./...\"\n");

    let again = json!({ "repo": opened["repo"], "gates": [{ "name": "test", "run": "true" }] });
    let error = client.try_call("repo/add_gates", again).unwrap_err();
    assert!(error["message"].as_str().unwrap().ends_with("Nothing was written."), "{error}");
    assert_eq!(repository.read("heph.toml"), text);
}

#[test]
fn gates_are_not_written_through_a_link() {
    let repository = Repository::new(&[("go.mod", "module m\n")]);
    let elsewhere = repository.beside("elsewhere.toml");
    std::fs::write(&elsewhere, "").unwrap();
    std::os::unix::fs::symlink(&elsewhere, repository.root().join("heph.toml")).unwrap();
    let data = tempfile::tempdir().unwrap();
    let mut client = serve(&data);
    let opened = client.call("repo/open", json!({ "path": repository.root() }));
    let gates = json!([{ "name": "test", "run": "true" }]);
    let error =
        client.try_call("repo/add_gates", json!({ "repo": opened["repo"], "gates": gates })).unwrap_err();
    assert_eq!(error["data"]["kind"], "refused");
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "");
}
