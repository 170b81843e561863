use proptest::prelude::*;

use super::*;
use crate::{
    diff::hunks,
    file::{File, FileChange, Mode},
    text::Bytes,
};

fn regular(text: &str) -> Option<File> {
    Some(File { mode: Mode::Regular, bytes: Bytes(text.into()) })
}

fn symlink(target: &str) -> Option<File> {
    Some(File { mode: Mode::Symlink, bytes: Bytes(target.into()) })
}

fn change(old: Option<File>, new: Option<File>) -> FileHunks {
    hunks(&FileChange { path: RepoPath::new("a.rs").unwrap(), old_path: None, old, new })
}

fn file_hunks(old: &str, new: &str) -> FileHunks {
    change(regular(old), regular(new))
}

fn constraint(old: &str, new: &str, comments: &[&str]) -> Constraint {
    of(file_hunks(old, new).hunks.remove(0), comments)
}

fn of(hunk: Hunk, comments: &[&str]) -> Constraint {
    Constraint {
        id: ConstraintId("c".into()),
        round: RoundNo(1),
        paths: Constraint::names_of(&hunk),
        hunk,
        comments: comments.iter().map(|c| (*c).to_owned()).collect(),
        standing: Standing::Holds,
        answered: None,
        reproposed: false,
        place: 0,
    }
}

const BASE: &str = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np\n";
const FIVE: &str = "/// Adds.\nfn add(a: u8, b: u8) -> u8 {\n    let sum = a + b;\n    sum\n}\n";

fn with(at: &str, text: &str) -> String {
    BASE.replace(&format!("{at}\n"), &format!("{at}\n{text}"))
}

fn is_refused(constraint: &Constraint, proposed: &str, round: u32) -> bool {
    !reproposals(&[file_hunks(BASE, proposed)], std::slice::from_ref(constraint), RoundNo(round), 0.8)
        .is_empty()
}

#[test]
fn a_moved_and_reindented_copy_is_refused_and_another_change_of_the_lines_is_not() {
    let rejected = constraint(BASE, &with("c", FIVE), &[]);
    let indented: String = FIVE.lines().map(|line| format!("    {line}\n")).collect();
    assert!(is_refused(&rejected, &with("m", &indented), 2));
    assert!(!is_refused(&rejected, &with("c", "fn multiply() {\n    let product = 2;\n    product\n}\n"), 2));
}

#[test]
fn four_of_five_lines_are_a_reproposal_but_not_in_the_round_that_answers_a_comment() {
    let four = FIVE.split_once('\n').unwrap().1;
    assert!(is_refused(&constraint(BASE, &with("c", FIVE), &[]), &with("c", four), 2));
    let mut commented = constraint(BASE, &with("c", FIVE), &["No doc comment"]);
    assert!(!is_refused(&commented, &with("c", four), 2));
    commented.answered = Some(RoundNo(2));
    assert!(!is_refused(&commented, &with("c", four), 2));
    assert!(is_refused(&commented, &with("c", four), 3));
}

#[test]
fn a_copy_split_over_two_places_is_refused_whole() {
    let rejected = constraint(BASE, &with("c", FIVE), &[]);
    let (first, rest) = FIVE.split_at(FIVE.find("    let").unwrap());
    let split = with("b", first).replace("n\n", &format!("n\n{rest}"));
    let found = reproposals(&[file_hunks(BASE, &split)], &[rejected], RoundNo(2), 0.8);
    assert_eq!(found.len(), 2);
}

#[test]
fn one_rejected_line_inside_much_else_is_no_reproposal() {
    let rejected = constraint(BASE, &with("c", "use std::fmt;\n"), &[]);
    assert!(is_refused(&rejected, &with("d", "use std::fmt;\n"), 2));
    assert!(!is_refused(&rejected, &with("d", "use std::fmt;\nuse std::io;\nuse std::fs;\nfn x() {}\n"), 2));
}

#[test]
fn punctuation_alone_is_refused_only_at_the_same_place() {
    let rejected = constraint(BASE, &with("c", "}\n"), &[]);
    assert!(is_refused(&rejected, &with("c", "}\n"), 2));
    assert!(!is_refused(&rejected, &with("m", "}\n"), 2));
}

#[test]
fn punctuation_is_refused_though_another_change_nearby_made_one_hunk_of_both() {
    let rejected = constraint(BASE, &with("c", "}\n"), &[]);
    let merged = with("c", "}\n").replace("f\n", "changed\n");
    assert_eq!(file_hunks(BASE, &merged).hunks.len(), 1);
    assert!(!is_refused(&rejected, &merged, 2), "a third of the hunk is not what it is about");
    let merged = with("c", "}\n").replace("f\n", "f\nmore\n");
    assert!(is_refused(&rejected, &merged, 2));
    let hunk = &file_hunks(BASE, &merged).hunks[0];
    assert_eq!(matched_lines(hunk, &rejected), [0]);
    let both = constraint(BASE, &with("c", "}\n").replace("f\n", "f\n{\n"), &[]);
    assert!(is_refused(&both, &with("c", "}\n").replace("f\n", "f\n{\n"), 2));
    assert!(!is_refused(&both, &merged, 2), "half of what was rejected is another change");
}

#[test]
fn punctuation_split_off_a_hunk_is_refused_once_the_rest_of_it_is_accepted() {
    let hunk = file_hunks(BASE, &with("e", "}\n").replace("c\n", "sea\n")).hunks.remove(0);
    let at = crate::split::split_rows(&hunk);
    let rejected = of(crate::split::split(&hunk, &at).unwrap().remove(1), &[]);
    let accepted = BASE.replace("c\n", "sea\n");
    let again = file_hunks(&accepted, &accepted.replace("e\n", "e\n}\n"));
    let elsewhere = file_hunks(&accepted, &accepted.replace("m\n", "m\n}\n"));
    let found =
        |file: FileHunks| reproposals(&[file], std::slice::from_ref(&rejected), RoundNo(2), 0.8).len();
    // Its hunk says `sea`, which was accepted above it, as the rejected one said `c`.
    assert_eq!((found(again), found(elsewhere)), (1, 0));
}

#[test]
fn punctuation_at_the_start_of_a_file_is_not_the_same_further_down() {
    let rejected = constraint("x\n", "}\nx\n", &[]);
    let there = |old: &str, new: &str| {
        let found = reproposals(&[file_hunks(old, new)], std::slice::from_ref(&rejected), RoundNo(2), 0.8);
        found.len()
    };
    assert_eq!(there("x\n", "}\nx\n"), 1);
    assert_eq!(there("a\nx\n", "a\n}\nx\n"), 0);
}

#[test]
fn a_rename_or_a_mode_answers_only_what_was_said_of_one() {
    let text = "one\ntwo\nthree\n";
    let answered = |hunk: Hunk, by: &Hunk| {
        let constraint = Constraint { answered: Some(RoundNo(2)), ..of(hunk, &["no"]) };
        constraint.is_answered_by(by, RoundNo(2))
    };
    let hunks = renamed("a.rs", "b.rs", text, "one\n2\nthree\n").hunks;
    let other_name = &renamed("a.rs", "c.rs", text, text).hunks[0];
    assert!(answered(hunks[0].clone(), other_name));
    assert!(!hunks[0].is_same_change(other_name), "and is shown as another change");
    assert!(!answered(hunks[1].clone(), other_name));
    assert!(!answered(hunks[0].clone(), &hunks[1]));
}

#[test]
fn a_lifted_constraint_refuses_nothing() {
    let mut rejected = constraint(BASE, &with("c", FIVE), &[]);
    rejected.standing = Standing::Lifted;
    assert!(!is_refused(&rejected, &with("c", FIVE), 2));
}

#[test]
fn a_rejected_deletion_is_repeated_by_a_deletion_and_not_by_rewriting_the_file() {
    let rejected = of(change(regular(FIVE), None).hunks.remove(0), &[]);
    let repeats = |file: FileHunks, rejected: &Constraint| {
        !reproposals(&[file], std::slice::from_ref(rejected), RoundNo(2), 0.8).is_empty()
    };
    assert!(repeats(change(regular(FIVE), None), &rejected));
    assert!(repeats(change(regular("since\nthen\nchanged\n"), None), &rejected));
    assert!(!repeats(file_hunks(FIVE, "fn other() {}\n"), &rejected));
    assert!(!repeats(change(None, regular(FIVE)), &rejected));
    let emptied = constraint(FIVE, "", &[]);
    assert!(repeats(file_hunks(FIVE, "\n"), &emptied));
    assert!(!repeats(change(regular(FIVE), None), &emptied));
}

#[test]
fn a_binary_file_or_a_link_is_repeated_by_its_bytes_whatever_stood_there_before() {
    let repeats = |rejected: FileHunks, proposed: FileHunks| {
        let rejected = of(rejected.hunks.into_iter().next().unwrap(), &[]);
        !reproposals(&[proposed], &[rejected], RoundNo(2), 0.8).is_empty()
    };
    let binary = |text: &str| regular(&format!("\0{text}"));
    assert!(repeats(change(None, binary("one")), change(binary("two"), binary("one"))));
    assert!(repeats(change(binary("zero"), binary("one")), change(binary("two"), binary("one"))));
    assert!(!repeats(change(binary("zero"), binary("one")), change(binary("zero"), binary("two"))));
    assert!(repeats(change(None, symlink("b.rs")), change(symlink("c.rs"), symlink("b.rs"))));
    assert!(!repeats(change(None, symlink("b.rs")), change(None, regular("b.rs"))));
    assert!(repeats(change(None, regular("")), change(None, regular(""))));
    let executable = File { mode: Mode::Executable, bytes: Bytes("a\n".into()) };
    let mode = || change(regular("a\n"), Some(executable.clone()));
    assert!(repeats(mode(), mode()));
}

#[test]
fn punctuation_is_refused_between_the_same_neighbours_though_an_equal_hunk_stood_before_it() {
    let block = format!("{}{BASE}", "x\ny\nz\n");
    let old = block.repeat(2);
    let one = block.replace("z\n", "z\n}\n");
    let mut both = file_hunks(&old, &one.repeat(2)).hunks;
    assert_eq!(both[0].content(), both[1].content());
    let second = of(both.remove(1), &[]);
    let again = file_hunks(&format!("{one}{block}"), &one.repeat(2));
    assert_eq!(reproposals(&[again], &[second], RoundNo(2), 0.8).len(), 1);
}

#[test]
fn accepting_both_parts_of_a_split_copy_lifts_the_constraint_compared_or_not_yet() {
    let (first, rest) = FIVE.split_at(FIVE.find("    let").unwrap());
    let split = file_hunks(BASE, &with("b", first).replace("n\n", &format!("n\n{rest}")));
    let parts: Vec<&Hunk> = split.hunks.iter().collect();
    for comments in [&[] as &[&str], &["No doc comment"]] {
        let rejected = [constraint(BASE, &with("c", FIVE), comments)];
        assert_eq!(lifted_by(&rejected, &parts, 0.8), [rejected[0].id.clone()]);
        assert_eq!(lifted_by(&rejected, &parts[..1], 0.8), []);
    }
}

/// The definition of a re-proposal, pair by pair.
mod plain {
    use super::*;

    fn common<'a>(a: &'a [String], b: &[String]) -> Vec<&'a str> {
        let mut left = b.to_vec();
        let mut found = Vec::new();
        for line in a {
            if let Some(at) = left.iter().position(|other| other == line) {
                left.remove(at);
                found.push(line.as_str());
            }
        }
        found
    }

    fn repeats(constraint: &Compared<'_>, hunks: &[&Compared<'_>], threshold: f64) -> Option<f64> {
        let Some(sign) = constraint.counted() else {
            let rejected = runs(constraint.hunk);
            let is_same = |hunk: &&Compared<'_>| match constraint.identity {
                Some(_) => hunk.identity == constraint.identity,
                None => !same_runs(hunk.hunk, &rejected).is_empty(),
            };
            return hunks.iter().any(is_same).then_some(1.0);
        };
        let counted = constraint.side(sign);
        let proposed: Vec<String> = hunks.iter().flat_map(|hunk| hunk.side(sign).to_vec()).collect();
        let matched = common(counted, &proposed);
        let share = matched.len() as f64 / counted.len() as f64;
        let large = counted.len() >= SMALL || 2 * matched.len() >= proposed.len();
        (share >= threshold && matched.iter().any(|line| is_word(line)) && large).then_some(share)
    }

    fn is_part(constraint: &Compared<'_>, hunk: &Compared<'_>) -> bool {
        constraint.counted().is_some_and(|sign| {
            let own = hunk.side(sign);
            !own.is_empty() && 2 * common(own, constraint.side(sign)).len() >= own.len()
        })
    }

    /// For each constraint the hunks that repeat it, by place, and the share.
    pub fn repeating(constraints: &[Constraint], hunks: &[Hunk], threshold: f64) -> Vec<Vec<(usize, f64)>> {
        let hunks: Vec<Compared<'_>> = hunks.iter().map(Compared::of).collect();
        let mut taken = vec![false; hunks.len()];
        let mut found = Vec::new();
        for constraint in constraints {
            let constraint = Compared::of(&constraint.hunk);
            let free: Vec<usize> = (0..hunks.len()).filter(|hunk| !taken[*hunk]).collect();
            let alone = |hunk: &usize| Some((*hunk, repeats(&constraint, &[&hunks[*hunk]], threshold)?));
            let mut hits: Vec<(usize, f64)> = free.iter().filter_map(alone).collect();
            if hits.is_empty() {
                let parts: Vec<usize> =
                    free.into_iter().filter(|hunk| is_part(&constraint, &hunks[*hunk])).collect();
                let together: Vec<&Compared<'_>> = parts.iter().map(|hunk| &hunks[*hunk]).collect();
                if let (2.., Some(share)) = (parts.len(), repeats(&constraint, &together, threshold)) {
                    hits = parts.into_iter().map(|hunk| (hunk, share)).collect();
                }
            }
            hits.iter().for_each(|(hunk, _)| taken[*hunk] = true);
            found.push(hits);
        }
        found
    }
}

/// A line of few different ones, so that hunks share many.
fn line() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("one\n"), Just("  one\n"), Just("two\n"), Just("three\n"), Just("}\n"), Just("\n")]
}

fn file() -> impl Strategy<Value = Option<File>> {
    let line = prop_oneof![Just("base\n"), line()];
    let text = prop::collection::vec(line, 0..60).prop_map(|lines| regular(&lines.concat()));
    prop_oneof![8 => text, 1 => Just(None), 1 => Just(symlink("one")), 1 => Just(regular("\0one"))]
}

/// A file's hunks: of any two files, or of lines put in at several places.
fn proposal() -> impl Strategy<Value = FileHunks> {
    let put_in = prop::collection::vec(prop::collection::vec(line(), 1..6), 1..4).prop_map(|parts| {
        let between = "base\n".repeat(8);
        let new: String = parts.iter().map(|part| part.concat() + &between).collect();
        file_hunks(&between.repeat(parts.len()), &new)
    });
    prop_oneof![(file(), file()).prop_map(|(old, new)| change(old, new)), put_in]
}

proptest! {
    #[test]
    fn the_index_finds_what_comparing_each_pair_finds(
        proposed in proposal(), rejected in prop::collection::vec(proposal(), 1..6),
        threshold in prop_oneof![Just(0.8), Just(0.5), Just(1.0)],
    ) {
        let mut constraints: Vec<Constraint> = Vec::new();
        for hunk in rejected.into_iter().flat_map(|file| file.hunks) {
            let id = ConstraintId(constraints.len().to_string());
            constraints.push(Constraint { id, ..of(hunk, &[]) });
        }
        let mut plain: Vec<(&ConstraintId, &HunkId, f64)> = Vec::new();
        for (constraint, hits) in
            constraints.iter().zip(plain::repeating(&constraints, &proposed.hunks, threshold))
        {
            plain.extend(hits.iter().map(|(hunk, share)| (&constraint.id, &proposed.hunks[*hunk].id, *share)));
        }
        let found = reproposals(std::slice::from_ref(&proposed), &constraints, RoundNo(2), threshold);
        let found: Vec<_> = found.iter().map(|one| (&one.constraint, &one.hunk, one.share)).collect();
        prop_assert_eq!(found, plain);
        let all: Vec<&Hunk> = proposed.hunks.iter().collect();
        let lifted = lifted_by(&constraints, &all, threshold);
        for constraint in &constraints {
            let alone = plain::repeating(std::slice::from_ref(constraint), &proposed.hunks, threshold);
            prop_assert_eq!(lifted.contains(&constraint.id), !alone[0].is_empty());
        }
    }
}

fn renamed(from: &str, to: &str, old: &str, new: &str) -> FileHunks {
    let [path, old_path] = [to, from].map(|path| RepoPath::new(path).unwrap());
    hunks(&FileChange { path, old_path: Some(old_path), old: regular(old), new: regular(new) })
}

#[test]
fn a_constraint_follows_its_file_to_another_name_and_back() {
    let old: String = (1..=20).map(|n| format!("line {n}\n")).collect();
    let new = old.replace("line 9\n", "let a = 1;\n");
    let rejected = constraint(&old, &new, &[]);
    let moved = renamed("a.rs", "b.rs", &old, &new);
    let found = reproposals(std::slice::from_ref(&moved), std::slice::from_ref(&rejected), RoundNo(2), 0.8);
    assert_eq!(found.iter().map(|found| &found.hunk).collect::<Vec<_>>(), [&moved.hunks[1].id]);
    let mut followed = rejected.clone();
    followed.follow(&moved.hunks[0]);
    let mut there = file_hunks(&old, &new);
    there.path = RepoPath::new("b.rs").unwrap();
    there.hunks.iter_mut().for_each(|hunk| hunk.path = there.path.clone());
    let again = |constraint: &Constraint| {
        reproposals(std::slice::from_ref(&there), std::slice::from_ref(constraint), RoundNo(2), 0.8).len()
    };
    assert_eq!((again(&followed), again(&rejected)), (1, 0));
    let under_the_new_name = of(moved.hunks[1].clone(), &[]);
    let back = file_hunks(&old, &new);
    assert_eq!(reproposals(&[back], &[under_the_new_name], RoundNo(2), 0.8).len(), 1);
}

#[test]
fn a_rename_is_proposed_again_only_by_the_same_rename() {
    let text = "one\ntwo\nthree\n";
    let rejected = of(renamed("a.rs", "b.rs", text, text).hunks.remove(0), &[]);
    let again =
        |file: FileHunks| reproposals(&[file], std::slice::from_ref(&rejected), RoundNo(2), 0.8).len();
    assert_eq!(again(renamed("a.rs", "b.rs", text, text)), 1);
    assert_eq!(again(renamed("c.rs", "b.rs", text, text)), 0);
    assert_eq!(again(renamed("a.rs", "c.rs", text, text)), 0, "another name is another change");
    assert_eq!(again(file_hunks(text, "one\n")), 0);
}

#[test]
fn punctuation_is_refused_under_the_new_name_of_its_file_too() {
    let rejected = constraint(BASE, &with("c", "}\n"), &[]);
    let moved = renamed("a.rs", "b.rs", BASE, &with("c", "}\n"));
    let found = reproposals(std::slice::from_ref(&moved), &[rejected], RoundNo(2), 0.8);
    assert_eq!(found.iter().map(|found| &found.hunk).collect::<Vec<_>>(), [&moved.hunks[1].id]);
}

#[test]
fn a_copy_in_another_file_is_known_and_not_refused() {
    let rejected = constraint("", "let a = 1;\nlet b = 2;\n", &[]);
    let mut elsewhere = file_hunks("", "let a = 1;\nlet b = 2;\n");
    elsewhere.path = RepoPath::new("b.rs").unwrap();
    elsewhere.hunks.iter_mut().for_each(|hunk| hunk.path = elsewhere.path.clone());
    let constraints = [rejected];
    assert_eq!(reproposals(std::slice::from_ref(&elsewhere), &constraints, RoundNo(2), 0.8).len(), 0);
    let copied = copied_from(&elsewhere.hunks[0], &constraints, 0.8);
    assert_eq!(copied.map(|constraint| constraint.path().display()), Some("a.rs".to_owned()));
    let own = file_hunks("", "let a = 1;\nlet b = 2;\n");
    assert!(copied_from(&own.hunks[0], &constraints, 0.8).is_none());
    let commented = [Constraint { comments: vec!["no".into()], ..constraints[0].clone() }];
    assert!(copied_from(&elsewhere.hunks[0], &commented, 0.8).is_some(), "moving it answers nothing");
    let lifted = [Constraint { standing: Standing::Lifted, ..constraints[0].clone() }];
    assert!(copied_from(&elsewhere.hunks[0], &lifted, 0.8).is_none());
    assert_eq!(matched_lines(&elsewhere.hunks[0], &constraints[0]), [0, 1]);
}
