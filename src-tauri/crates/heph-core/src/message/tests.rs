use super::*;
use crate::{
    apply::{SetAside, plan_file},
    diff::hunks,
    file::{File, FileChange, Mode},
    id::{CommentId, ConstraintId, HunkId, RoundNo},
    text::Bytes,
};

pub(super) fn path(path: &str) -> RepoPath {
    RepoPath::new(path).unwrap()
}

fn said(text: &str, place: Place) -> Comment {
    Comment { id: CommentId("1".into()), hunk: HunkId("1".into()), text: text.into(), place }
}

fn no_gates() -> GateReport {
    GateReport::default()
}

fn failed(gate: GateFailure) -> GateReport {
    GateReport { failed: vec![gate], red_before: Vec::new() }
}

pub(super) fn hunk(
    number: usize,
    what: &str,
    decision: Decision,
    rationale: &str,
    comments: &[&str],
) -> HunkResult {
    HunkResult {
        number,
        what: what.into(),
        decision,
        rationale: (!rationale.is_empty()).then(|| rationale.into()),
        comments: comments.iter().map(|text| said(text, Place::Hunk)).collect(),
    }
}

const RATIONALE: &str = "Read the JWT secret from the environment so the key never lands in the binary.";
const COMMENT: &str = "put it in the config file instead, not the environment";

pub(super) fn chapter_outcome() -> Outcome {
    let auth = vec![
        hunk(1, "lines 23-31", Decision::Rejected, RATIONALE, &[COMMENT]),
        hunk(2, "lines 58-70", Decision::Accepted, "Not told.", &[]),
    ];
    let main = vec![hunk(1, "lines 10-25", Decision::Accepted, "", &[])];
    let file = |name, hunks| FileResult { path: path(name), hunks, reproposed: Vec::new() };
    Outcome { files: vec![file("src/auth.rs", auth), file("src/main.rs", main)], not_reached: None }
}

pub(super) fn constraint(old: &str, new: &str, comments: &[&str]) -> Constraint {
    let file = |text: &str| File { mode: Mode::Regular, bytes: Bytes(text.into()) };
    let change =
        FileChange { path: path("src/auth.rs"), old_path: None, old: Some(file(old)), new: Some(file(new)) };
    let hunk = hunks(&change).hunks.remove(0);
    Constraint {
        id: ConstraintId("1".into()),
        round: RoundNo(1),
        paths: Constraint::names_of(&hunk),
        hunk,
        comments: comments.iter().map(|text| (*text).to_owned()).collect(),
        standing: Standing::Holds,
        answered: None,
        reproposed: false,
        place: 0,
    }
}

pub(super) fn chapter_constraint() -> Constraint {
    let secret = "    let secret = std::env::var(\"JWT_SECRET\")\n";
    let expect = "        .expect(\"JWT_SECRET must be set\");\n";
    let kept = "        // as the deployment notes say\n";
    constraint(kept, &format!("{secret}{kept}{expect}"), &[COMMENT])
}

#[test]
fn comments_keep_every_character_and_name_their_lines() {
    let text = "no:\n```\n\tlet x = \"a\";  \n```\n\n<b>测试 🦀</b> \"quoted\"  ";
    let mut outcome = chapter_outcome();
    outcome.files.truncate(1);
    outcome.files[0].hunks = vec![HunkResult {
        number: 1,
        what: "lines 1-9".into(),
        decision: Decision::Undecided,
        rationale: Some("Not told.".into()),
        comments: vec![
            said(text, Place::Line { side: Side::New, line: 27 }),
            said("why", Place::Line { side: Side::Old, line: 3 }),
        ],
    }];
    outcome.not_reached = Some(1);
    let told = reviewed(&outcome, &no_gates(), &[], &Closing::TurnEnds);
    let indented = text.replace('\n', "\n      ");
    assert!(
        told.contains(&format!("    user (line 27): \"{indented}\"\n    user (old line 3): \"why\"\n")),
        "{told}"
    );
    assert!(told.contains("  hunk 1 (lines 1-9): UNDECIDED\n    user"), "{told}");
    assert!(told.contains("\n\nThe review is not finished: 1 hunk was not reached.\n\n"), "{told}");
}

#[test]
fn a_gate_failure_is_a_consequence_of_the_rejection_only_where_something_was_rejected() {
    let output: String = (1..=250).map(|n| format!("\u{1b}[31mline {n}\u{1b}[0m\n")).collect();
    let gate = GateFailure { name: "test".into(), exit: 101, seconds: 12.34, output };
    let told = reviewed(&chapter_outcome(), &failed(gate.clone()), &[], &Closing::Work);
    assert!(
        told.contains(
            "As a consequence of the rejection:\n\ngate test failed (exit 101, 12.3 s):\n  line 1\n"
        ),
        "{told}"
    );
    assert!(told.contains("  line 100\n  [... 50 lines left out ...]\n  line 151\n"), "{told}");
    let mut kept = chapter_outcome();
    kept.files.remove(0);
    let told = reviewed(&kept, &failed(gate), &[], &Closing::Work);
    assert!(told.contains("\n\nOn the state after the review:\n\ngate test"), "{told}");
}

#[test]
fn a_long_constraint_is_elided_in_the_middle_and_a_reproposal_is_named_under_it() {
    let new: String = (1..=50).map(|n| format!("line {n}\n")).collect();
    let mut long = constraint("", &new, &["first", "second"]);
    long.reproposed = true;
    let told = with_constraints("Work.", &[long]);
    let head = "src/auth.rs, round 1 -- \"first\"\n-- \"second\"\n  +line 1\n";
    assert!(told.contains(head), "{told}");
    assert!(told.contains("  +line 20\n  [... 10 lines left out ...]\n  +line 31\n"), "{told}");
    assert!(told.ends_with("  +line 50\n  you re-proposed a rejected change. Do not."), "{told}");
}

#[test]
fn a_constraint_whose_comment_starts_with_code_keeps_it_whole() {
    let wide = "let x = ".repeat(15) + "0";
    let fenced = format!("```\n{wide}\n```\nas in main");
    let rejected = constraint("", "new\n", &[&fenced, &fenced, &format!("\t{wide}")]);
    let told = with_constraints(&go_on(), &[rejected]);
    let section = format!("src/auth.rs, round 1 -- \"{fenced}\"\n-- \"{fenced}\"\n-- \"\t{wide}\"\n  +new");
    assert!(told.ends_with(&section), "{told}");
}

#[test]
fn escape_sequences_are_taken_out_of_a_gates_output_and_nothing_else() {
    for (output, plain) in [
        ("\u{1b}[1;31mred\u{1b}[m ink", "red ink"),
        ("\u{1b}]0;title\u{7}after", "after"),
        ("\u{1b}]8;;https://x.y/\u{1b}\\link\u{1b}]8;;\u{1b}\\ end", "link end"),
        ("\u{1b}(Bplain \u{1b})0text", "plain text"),
        ("\u{1b}7saved\u{1b}8 \u{1b}Mup", "saved up"),
        ("\u{1b}P1$r0m\u{1b}\\device", "device"),
        ("\u{1b}]never ended\nnext \u{1b}[", "\nnext "),
        ("\u{1b}é \u{1b}[é [31m \\", "é é [31m \\"),
    ] {
        assert_eq!(without_colours(output), plain);
    }
}

#[test]
fn no_path_can_forge_a_line_of_a_message() {
    let told = |name: &str| {
        let mut outcome = chapter_outcome();
        outcome.files[0].path = path(name);
        let mut rejected = chapter_constraint();
        rejected.hunk.path = path(name);
        let aside = SetAside { reason: Reason::Deleted, hunks: 1, change: Vec::new() };
        let report = FileReport {
            path: path(name),
            landed: 0,
            already_there: 0,
            set_aside: Some(aside),
            current: None,
        };
        with_constraints(&reviewed(&outcome, &no_gates(), &[report], &Closing::Work), &[rejected])
    };
    for (name, shown) in [
        ("a\nb", r#""a\nb""#),
        ("a\r\t\u{1b}\u{7f}", r#""a\r\t\033\177""#),
        ("a\u{85}\u{2028}", r#""a\302\205\342\200\250""#),
        ("say \"a\\b\"", r#""say \"a\\b\"""#),
        ("with space/测试 é.rs", "with space/测试 é.rs"),
    ] {
        let told = told(name);
        assert_eq!(told.matches(&format!("file: {shown}\n  ")).count(), 2, "{told}");
        assert!(told.contains(&format!("\n\n{shown}, round 1 -- ")), "{told}");
    }
}

#[test]
fn a_long_file_is_told_by_the_regions_that_the_user_changed() {
    let file = |text: &str| File { mode: Mode::Regular, bytes: Bytes(text.into()) };
    let base: String = (1..=2000).map(|n| format!("line {n}\n")).collect();
    let accepted = base.replace("line 1500\n", "meant\n");
    let user = format!("{}{}", "above\n".repeat(700), base.replace("line 1500\n", "mine\nand mine\n"));
    let plan = plan_file(Some(&file(&base)), Some(&file(&accepted)), Some(&file(&user)));
    let report = FileReport {
        path: path("src/lib.rs"),
        landed: 0,
        already_there: 0,
        set_aside: plan.set_aside,
        current: Some(file(&user)),
    };
    let told = reviewed(&Outcome::default(), &no_gates(), &[report], &Closing::Work);
    let around = "  [... 2149 lines left out ...]\n    line 1450\n";
    assert!(told.contains(around), "{told}");
    assert!(told.contains("    line 1499\n    mine\n    and mine\n    line 1501\n"), "{told}");
    assert!(told.contains("    line 1550\n  [... 450 lines left out ...]\n  Your change:\n"), "{told}");
}
