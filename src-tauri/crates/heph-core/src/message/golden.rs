//! The manual's sample messages and every combination of a message's parts, each held to the byte by a file in
//! `golden/`. `UPDATE_GOLDEN=1` writes the files anew, to be read before they are committed.

use std::{fs, path::Path};

use super::*;
use crate::{
    apply::SetAside,
    diff::Edit,
    file::{File, Mode},
    message::tests::{chapter_constraint, chapter_outcome, constraint, hunk, path},
    text::Bytes,
};

/// Holds `told` to the file of this name.
fn golden(name: &str, told: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/message/golden/{name}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, told).unwrap();
    }
    let golden = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    assert_eq!(told, golden, "{name}");
}

fn no_gates() -> GateReport {
    GateReport::default()
}

fn gate(name: &str, output: &str) -> GateFailure {
    GateFailure { name: name.into(), exit: 101, seconds: 12.34, output: output.into() }
}

fn red() -> GateReport {
    let failed = vec![gate("test", "running 1 test\n\u{1b}[31mFAILED\u{1b}[0m\n"), gate("lint", "")];
    GateReport { failed, red_before: vec![gate("docs", "not told")] }
}

fn aside(name: &str, reason: Reason, current: Option<&str>) -> FileReport {
    let lines = |text: &str| vec![Bytes(text.into())];
    let edit = Edit { old_start: 1, old: lines("two\n"), new_start: 1, new: lines("zwei\n") };
    let change = match reason {
        Reason::BinaryChanged => Vec::new(),
        _ => vec![Meant { edit, place: 1..2 }],
    };
    FileReport {
        path: path(name),
        landed: 0,
        already_there: 0,
        set_aside: Some(SetAside { reason, hunks: 1, change }),
        current: current.map(|text| File { mode: Mode::Regular, bytes: Bytes(text.into()) }),
    }
}

fn region() -> Vec<FileReport> {
    vec![aside("src/lib.rs", Reason::Region, Some("one\nmine\n\nthree"))]
}

/// Each part of a message there or not.
fn with_and_without<T>(nothing: T, something: T, name: &'static str) -> [(T, &'static str); 2] {
    [(nothing, ""), (something, name)]
}

#[test]
fn the_manuals_messages() {
    let outcome = chapter_outcome();
    let work = reviewed(&outcome, &no_gates(), &[], &Closing::Work);
    golden("manual-work", &with_constraints(&work, &[chapter_constraint()]));
    golden("manual-turn-ends", &reviewed(&outcome, &no_gates(), &[], &Closing::TurnEnds));
    let aside = reviewed(&Outcome::default(), &no_gates(), &region(), &Closing::Work);
    golden("manual-set-aside", &aside);
    let mut again = chapter_constraint();
    again.reproposed = true;
    let mut reproposed = chapter_outcome();
    reproposed.reproposed(&path("src/auth.rs"), "lines 20-28".into());
    let work = reviewed(&reproposed, &no_gates(), &[], &Closing::Work);
    golden("manual-re-proposal", &with_constraints(&work, &[again]));
}

#[test]
fn every_combination_of_the_parts_of_a_message_that_asks_for_work() {
    for (outcome, result) in with_and_without(Outcome::default(), chapter_outcome(), "-result") {
        for (gates, gate) in with_and_without(no_gates(), red(), "-gates") {
            for (files, set_aside) in with_and_without(Vec::new(), region(), "-set-aside") {
                let more = vec![chapter_constraint(), constraint("old\n", "", &[])];
                for (constraints, told) in with_and_without(Vec::new(), more, "-constraints") {
                    let message = reviewed(&outcome, &gates, &files, &Closing::Work);
                    let name = format!("work{result}{gate}{set_aside}{told}");
                    golden(&name, &with_constraints(&message, &constraints));
                }
            }
        }
    }
}

#[test]
fn every_combination_of_the_parts_of_a_message_that_gives_no_round() {
    let not_applied = |before| Closing::NotApplied { why: "gate test failed".into(), before };
    let stopped = || {
        let mut outcome = chapter_outcome();
        outcome.files[1].hunks[0].decision = Decision::Undecided;
        outcome.not_reached = Some(1);
        outcome
    };
    for (closing, end) in [
        (Closing::TurnEnds, "ends"),
        (not_applied(false), "not-applied"),
        (not_applied(true), "no-more-applied"),
        (Closing::Closed, "closed"),
    ] {
        for (outcome, result) in
            [(Outcome::default(), ""), (chapter_outcome(), "-result"), (stopped(), "-not-finished")]
        {
            for (files, set_aside) in with_and_without(Vec::new(), region(), "-set-aside") {
                let name = format!("{end}{result}{set_aside}");
                golden(&name, &reviewed(&outcome, &no_gates(), &files, &closing));
            }
        }
    }
}

#[test]
fn gate_failures_before_a_review() {
    let mut commented = chapter_outcome();
    commented.files.truncate(1);
    commented.files[0].hunks.truncate(1);
    commented.files[0].hunks[0].decision = Decision::Undecided;
    for (outcome, told) in with_and_without(Outcome::default(), commented, "-commented") {
        golden(&format!("gates-failed{told}"), &gates_failed(&red(), &outcome));
    }
    golden("go-on", &with_constraints(&go_on(), &[chapter_constraint()]));
}

#[test]
fn every_reason_for_setting_aside() {
    let current = Some("their text\n");
    for (reason, current, name) in [
        (Reason::Region, current, "region"),
        (Reason::Deleted, None, "deleted"),
        (Reason::TypeChanged, None, "type"),
        (Reason::BinaryChanged, Some("\0"), "binary"),
        (Reason::Exists, current, "exists"),
        (Reason::EncodingChanged, current, "encoding"),
        (Reason::ChangedSince, current, "changed-since"),
    ] {
        let files = [aside("src/lib.rs", reason, current)];
        let told = reviewed(&Outcome::default(), &no_gates(), &files, &Closing::Work);
        golden(&format!("aside-{name}"), &told);
    }
}

#[test]
fn every_decision_and_what_the_user_says_character_for_character() {
    let fenced = "no:\n```\n\tlet x = \"a\";  \n```\n\n<b>测试 🦀</b> `x` 'y' \"quoted\" &amp;  ";
    let mut outcome = chapter_outcome();
    outcome.files[0].hunks = vec![
        hunk(1, "lines 1-9", Decision::Accepted, "Not told.", &[fenced]),
        hunk(2, "lines 20-21", Decision::Rejected, "Because of `this`.\nAnd that.", &[fenced, "and"]),
        hunk(3, "file deleted", Decision::Undecided, "Not told.", &["why?"]),
        hunk(4, "lines 30-40", Decision::Edited, "Not told.", &["as I have it"]),
    ];
    for (place, comment) in
        [Place::Line { side: Side::New, line: 27 }, Place::Line { side: Side::Old, line: 3 }]
            .into_iter()
            .zip(outcome.files[0].hunks[1].comments.iter_mut())
    {
        comment.place = place;
    }
    outcome.files[0].reproposed = vec!["lines 44-49".into()];
    outcome.not_reached = Some(1);
    golden("every-decision", &reviewed(&outcome, &no_gates(), &[], &Closing::TurnEnds));
}

#[test]
fn an_undo() {
    let restored = [path("src/a.rs"), path("with space.rs")];
    golden("undone", &undone(&restored, &[]));
    golden("undone-in-part", &undone(&restored, &[path("src/b.rs")]));
}
