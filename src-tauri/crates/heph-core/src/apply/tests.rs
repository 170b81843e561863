use proptest::prelude::*;

use super::*;
use crate::text::Bytes;

fn file(text: &str) -> File {
    File { mode: Mode::Regular, bytes: Bytes(text.into()) }
}

fn plan(base: &str, accepted: &str, user: &str) -> FilePlan {
    plan_file(Some(&file(base)), Some(&file(accepted)), Some(&file(user)))
}

fn written(plan: &FilePlan) -> &str {
    match &plan.write {
        Write::Put(file) => std::str::from_utf8(&file.bytes.0).unwrap(),
        _ => "",
    }
}

const BASE: &str = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np\nq\nr\n";

#[test]
fn a_hunk_lands_where_its_lines_moved_to() {
    let accepted = BASE.replace("o\n", "fifteen\n");
    let user = BASE.replace("b\n", "b\nmine\n");
    let plan = plan(BASE, &accepted, &user);
    assert_eq!(written(&plan), user.replace("o\n", "fifteen\n"));
    assert_eq!((plan.landed, plan.already_there, plan.set_aside), (1, 0, None));
}

#[test]
fn the_users_region_stands_and_the_files_other_hunks_land() {
    let accepted = BASE.replace("c\n", "three\n").replace("o\n", "fifteen\n");
    let user = BASE.replacen("c\n", "my c\n", 1);
    let plan = plan(BASE, &accepted, &user);
    assert_eq!(written(&plan), user.replace("o\n", "fifteen\n"));
    let set_aside = plan.set_aside.unwrap();
    assert_eq!((set_aside.reason, set_aside.hunks), (Reason::Region, 1));
    assert_eq!(set_aside.change[0].edit.new[0].0, b"three\n");
}

#[test]
fn a_change_right_beside_the_users_is_set_aside() {
    let accepted = BASE.replace("e\n", "five\n");
    for user in
        [BASE.replace("d\n", "four\n"), BASE.replace("f\n", "six\n"), BASE.replacen("e\n", "e\nmine\n", 1)]
    {
        let plan = plan(BASE, &accepted, &user);
        assert_eq!(plan.write, Write::Leave, "{user}");
        assert_eq!(plan.set_aside.unwrap().hunks, 1);
    }
}

#[test]
fn what_the_user_made_already_is_left_alone() {
    let accepted = BASE.replace("o\n", "fifteen\n");
    let user = accepted.replacen("b\n", "two\n", 1);
    let plan = plan(BASE, &accepted, &user);
    assert_eq!((plan.landed, plan.already_there, plan.write), (0, 1, Write::Leave));
}

#[test]
fn a_file_that_the_user_deleted_or_made_is_set_aside_whole() {
    let (base, accepted) = (file("a\n"), file("b\n"));
    let reason = |plan: FilePlan| plan.set_aside.map(|aside| aside.reason);
    assert_eq!(reason(plan_file(Some(&base), Some(&accepted), None)), Some(Reason::Deleted));
    assert_eq!(reason(plan_file(None, Some(&accepted), Some(&base))), Some(Reason::Exists));
    assert_eq!(reason(plan_file(Some(&base), None, Some(&accepted))), Some(Reason::ChangedSince));
    let new = plan_file(None, Some(&accepted), Some(&accepted));
    assert_eq!((new.already_there, new.write), (1, Write::Leave));
    assert_eq!(plan_file(Some(&base), None, Some(&base)).write, Write::Delete);
}

#[test]
fn a_new_file_whose_bytes_are_there_with_another_mode_is_there_already() {
    let executable = File { mode: Mode::Executable, ..file("a\n") };
    let new = plan_file(None, Some(&executable), Some(&file("a\n")));
    assert_eq!((new.already_there, new.set_aside, new.write), (1, None, Write::Leave));
    let link = File { mode: Mode::Symlink, ..file("a\n") };
    let new = plan_file(None, Some(&link), Some(&file("a\n")));
    assert_eq!(new.set_aside.map(|aside| aside.reason), Some(Reason::Exists));
}

#[test]
fn what_is_set_aside_says_where_the_users_own_text_stands() {
    let accepted = BASE.replace("c\n", "three\nand a half\n").replace("o\n", "fifteen\n");
    let user = BASE.replacen("a\n", "mine\nmine\na\n", 1).replace("n\no\n", "my n\nmy o\nmy own\n");
    let plan = plan(BASE, &accepted, &user);
    let lines: Vec<&str> = written(&plan).lines().collect();
    assert_eq!(lines[4..6], ["three", "and a half"]);
    let set_aside = plan.set_aside.as_ref().unwrap();
    assert_eq!(set_aside.change[0].edit.old_start, 14);
    assert_eq!(lines[set_aside.change[0].place.clone()], ["my n", "my o", "my own"]);
}

fn bytes(bytes: &[u8]) -> File {
    File { mode: Mode::Regular, bytes: Bytes(bytes.to_vec()) }
}

fn reason(plan: &FilePlan) -> Option<Reason> {
    plan.set_aside.as_ref().map(|aside| aside.reason)
}

#[test]
fn the_final_newline_stays_the_users_and_the_hunk_lands() {
    for (base, accepted, user, result) in [
        ("a\nb\nc\n", "a\nb\nsea\n", "a\nb\nc", "a\nb\nsea"),
        ("a\nb\nc\n", "a\nb\nc\nd\n", "a\nb\nc", "a\nb\nc\nd"),
        ("a\nb\nc", "a\nb\nsea", "a\nb\nc\n", "a\nb\nsea\n"),
        ("a\nb\nc\nd\n", "a\nb\nc\nD", "A\nb\nc\nd\n", "A\nb\nc\nD"),
        ("a\r\nb\r\nc\r\n", "a\r\nb\r\nc\r\nd\r\n", "a\r\nb\r\nc", "a\r\nb\r\nc\r\nd"),
    ] {
        let plan = plan(base, accepted, user);
        assert_eq!((written(&plan), plan.landed, plan.set_aside.clone()), (result, 1, None), "{user:?}");
    }
}

#[test]
fn a_final_newline_alone_lands_unless_the_user_changed_the_end() {
    let lands = plan("a\nb\nc", "a\nb\nc\n", "A\nb\nc");
    assert_eq!((written(&lands), lands.landed), ("A\nb\nc\n", 1));
    let aside = plan("a\nb\nc\n", "a\nb\nc", "a\nb\nc\nmine\n");
    assert_eq!((reason(&aside), aside.write), (Some(Reason::Region), Write::Leave));
    let there = plan("a\nb\nc\n", "a\nb\nc", "A\nb\nc");
    assert_eq!((there.already_there, there.write), (1, Write::Leave));
}

#[test]
fn hunks_land_in_the_line_ends_that_the_user_gave_the_whole_file() {
    let accepted = BASE.replace("c\n", "three\nand more\n").replace("q\n", "seventeen\n");
    let user = BASE.replace("i\n", "my i\n").replace('\n', "\r\n");
    let there = plan(BASE, &accepted, &user);
    let merged = accepted.replace("i\n", "my i\n").replace('\n', "\r\n");
    assert_eq!((written(&there), there.landed, there.set_aside.clone()), (&*merged, 2, None));
    let back =
        plan(&BASE.replace('\n', "\r\n"), &accepted.replace('\n', "\r\n"), &user.replace("\r\n", "\n"));
    assert_eq!((written(&back), back.landed), (&*merged.replace("\r\n", "\n"), 2));
}

#[test]
fn line_ends_that_the_user_changed_in_some_lines_only_are_changes_of_those_lines() {
    let accepted = BASE.replace("c\n", "three\n").replace("q\n", "seventeen\n");
    let user = BASE.replacen("c\n", "c\r\n", 1);
    let plan = plan(BASE, &accepted, &user);
    assert_eq!((plan.landed, reason(&plan)), (1, Some(Reason::Region)));
    assert_eq!(written(&plan), user.replace("q\n", "seventeen\n"));
}

#[test]
fn accepted_line_ends_that_the_user_made_too_are_there() {
    let crlf = BASE.replace('\n', "\r\n");
    let plan = plan(BASE, &crlf, &crlf.replace("i\r\n", "my i\r\n"));
    assert_eq!((plan.already_there, plan.write, plan.set_aside), (1, Write::Leave, None));
}

#[test]
fn a_place_among_equal_lines_is_set_aside_where_the_user_changed_their_number() {
    let base = "start\nx\nx\nx\nx\nx\nx\nx\nx\nend\n";
    let accepted = "start\nx\nx\nx\nx\nx\nx\nX\nx\nend\n";
    for user in [
        base.replacen("x\n", "", 1),
        base.replacen("x\n", "x\nx\n", 1),
        base.replacen("start\nx\n", "start\nmine\nx\nx\n", 1),
    ] {
        let plan = plan(base, accepted, &user);
        assert_eq!((reason(&plan), &plan.write), (Some(Reason::Region), &Write::Leave), "{user}");
    }
    let outside = base.replacen("start\n", "begin\nhere\n", 1);
    assert_eq!(written(&plan(base, accepted, &outside)), accepted.replacen("start\n", "begin\nhere\n", 1));
}

#[test]
fn a_hunk_that_can_slide_to_the_users_change_is_set_aside() {
    let block = "  one\n}\n\n";
    let base = format!("top\n{}bottom\n", block.repeat(4));
    let accepted = format!("top\n{}bottom\n", block.repeat(5));
    let user = base.replacen("top\n", "top\nmine\n", 1);
    assert_eq!(reason(&plan(&base, &accepted, &user)), Some(Reason::Region));
    let user = base.replacen("top\n", "mine\ntop\n", 1);
    assert_eq!(written(&plan(&base, &accepted, &user)), accepted.replacen("top\n", "mine\ntop\n", 1));
}

#[test]
fn a_file_that_the_user_saved_in_another_encoding_is_set_aside_whole() {
    let (base, accepted) = (bytes("größe\nb\n".as_bytes()), bytes("größe\nbe\n".as_bytes()));
    let utf16: Vec<u8> = "größe\nb\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for user in [&utf16[..], b"\xef\xbb\xbfgr\xc3\xb6\xc3\x9fe\nb\n", b"gr\xf6\xdfe\nb\n"] {
        let plan = plan_file(Some(&base), Some(&accepted), Some(&bytes(user)));
        assert_eq!((reason(&plan), plan.write), (Some(Reason::EncodingChanged), Write::Leave));
    }
    let with_bom = |text: &str| bytes(format!("\u{feff}{text}").as_bytes());
    let plan = plan_file(Some(&with_bom("a\nb\n")), Some(&with_bom("a\nbe\n")), Some(&file("a\nb\n")));
    assert_eq!(reason(&plan), Some(Reason::EncodingChanged));
}

#[test]
fn a_mode_that_the_user_changed_does_not_hold_up_a_binary_change() {
    let binary = |text: &str, mode| File { mode, bytes: Bytes(format!("\0{text}").into()) };
    let (old, new) = (binary("a", Mode::Regular), binary("b", Mode::Regular));
    let user = binary("a", Mode::Executable);
    let plan = plan_file(Some(&old), Some(&new), Some(&user));
    assert_eq!((plan.write, plan.landed), (Write::Put(binary("b", Mode::Executable)), 1));
}

#[test]
fn the_users_edits_go_with_a_renamed_file() {
    let accepted = BASE.replace("o\n", "fifteen\n");
    let user = BASE.replace("b\n", "mine\n");
    let plan = plan_rename(&file(BASE), &file(&accepted), Some(&file(&user)), None);
    assert_eq!((written(&plan.new), &plan.old), (&*user.replace("o\n", "fifteen\n"), &Write::Delete));
    assert_eq!((plan.new.landed, plan.new.set_aside), (2, None));
    let over = plan_rename(&file(BASE), &file(&accepted), Some(&file(&BASE.replace("o\n", "mine\n"))), None);
    assert_eq!((written(&over.new), over.old), (&*BASE.replace("o\n", "mine\n"), Write::Delete));
    assert_eq!((over.new.landed, over.new.set_aside.map(|aside| aside.hunks)), (1, Some(1)));
}

#[test]
fn a_rename_is_set_aside_whole_where_the_old_file_is_gone_or_the_new_name_is_taken() {
    let (base, accepted) = (file(BASE), file(&BASE.replace("o\n", "fifteen\n")));
    let reasons = [
        (None, None, Reason::Deleted),
        (None, Some(&base), Reason::Deleted),
        (Some(&base), Some(&base), Reason::Exists),
    ];
    for (user, there, reason) in reasons {
        let plan = plan_rename(&base, &accepted, user, there);
        let aside = plan.new.set_aside.unwrap();
        assert_eq!(
            (aside.reason, aside.hunks, plan.old, plan.new.write),
            (reason, 2, Write::Leave, Write::Leave)
        );
    }
    let there = plan_rename(&base, &accepted, None, Some(&accepted));
    assert_eq!((there.new.already_there, there.old), (2, Write::Leave));
    let half = plan_rename(&base, &accepted, Some(&base), Some(&accepted));
    assert_eq!((half.new.landed, half.old), (2, Write::Delete));
}

fn text() -> impl Strategy<Value = Vec<String>> {
    let line = prop_oneof![3 => "base [0-9]{2}\n", 1 => Just("\n".into()), 1 => Just("}\n".into())];
    prop::collection::vec(line, 0..30)
}

/// Changes to a text: where, how many lines go, and how many come.
type Changes = Vec<(usize, usize, usize)>;

fn changes() -> impl Strategy<Value = Changes> {
    prop::collection::vec((0..30_usize, 0..3_usize, 0..3_usize), 0..4)
}

fn changed(text: &[String], changes: &Changes, by: &str) -> Vec<String> {
    let mut lines = text.to_vec();
    for (number, &(at, gone, come)) in changes.iter().enumerate() {
        let at = at.min(lines.len());
        let end = (at + gone).min(lines.len());
        lines.splice(at..end, (0..come).map(|line| format!("{by} {number}.{line}\n")));
    }
    lines
}

fn result(plan: &FilePlan, user: &File) -> File {
    match &plan.write {
        Write::Put(file) => file.clone(),
        _ => user.clone(),
    }
}

proptest! {
    #[test]
    fn only_lines_of_accepted_hunks_come_and_go(base in text(), ours in changes(), theirs in changes()) {
        let (accepted, user) = (changed(&base, &ours, "accepted"), changed(&base, &theirs, "user"));
        let [base, accepted, user] = [base, accepted, user].map(|lines| file(&lines.concat()));
        let plan = plan_file(Some(&base), Some(&accepted), Some(&user));
        let all = group(edits(&base.bytes.0, &accepted.bytes.0)).len() as u32;
        let aside = plan.set_aside.as_ref().map_or(0, |aside| aside.hunks);
        prop_assert_eq!(plan.landed + plan.already_there + aside, all);
        let lines = |old: &File, new: &File| {
            let mut lines: Vec<(char, Bytes)> = Vec::new();
            for edit in edits(&old.bytes.0, &new.bytes.0) {
                lines.extend(edit.old.into_iter().map(|line| ('-', line)));
                lines.extend(edit.new.into_iter().map(|line| ('+', line)));
            }
            lines
        };
        let mut meant = lines(&base, &accepted);
        for line in lines(&user, &result(&plan, &user)) {
            let at = meant.iter().position(|other| *other == line);
            prop_assert!(at.is_some(), "{:?}", line);
            meant.remove(at.unwrap());
        }
    }

    #[test]
    fn an_apply_that_is_taken_back_leaves_what_was_there_before(
        base in text(), ours in changes(), theirs in changes(), later in 0..40_usize
    ) {
        let (accepted, user) = (changed(&base, &ours, "accepted"), changed(&base, &theirs, "user"));
        let [base, accepted, user] = [base, accepted, user].map(|lines| file(&lines.concat()));
        let written = result(&plan_file(Some(&base), Some(&accepted), Some(&user)), &user);
        let undo = plan_file(Some(&written), Some(&user), Some(&written));
        prop_assert_eq!(result(&undo, &written), user.clone());

        let mut lines: Vec<&str> = std::str::from_utf8(&written.bytes.0).unwrap().split_inclusive('\n').collect();
        lines.insert(later.min(lines.len()), "later\n");
        let now = file(&lines.concat());
        let undo = plan_file(Some(&written), Some(&user), Some(&now));
        let left = result(&undo, &now);
        let text = std::str::from_utf8(&left.bytes.0).unwrap();
        prop_assert!(text.contains("later\n"));
        if undo.set_aside.is_none() {
            prop_assert_eq!(file(&text.replacen("later\n", "", 1)), user);
        }
    }
}
