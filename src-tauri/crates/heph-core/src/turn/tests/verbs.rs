//! Split, edit, take back, red and reviews of the user's own tree.

use super::*;

#[test]
fn a_file_that_the_user_wrote_decides_its_hunks_and_starts_no_round() {
    let mut world = World::start(Settings::default(), &base());
    world.model_writes(&changed(&base(), &[(5, "five"), (30, "thirty")]));
    let mine = changed(&base(), &[(5, "my five"), (30, "thirty")]);
    world.edit(&mine);
    let hunk = world.turn.review().unwrap().hunks().next().unwrap().id.clone();
    let decide = Input::Decide { hunk, verdict: Some(Verdict::Rejected) };
    assert_eq!(world.try_give(decide), Err(Refused::EditedByUser));
    world.give(Input::Finish(Finish::Decided));
    assert_eq!(world.user_text(), mine);
    assert_eq!(world.ended.as_ref().unwrap().line(), "Applied 2 hunks in 1 file");
    assert_eq!(world.told.len(), 1, "an edit alone starts no round");
}

#[test]
fn a_comment_on_an_edited_file_starts_a_round_that_says_who_wrote_it() {
    let mut world = World::start(Settings::default(), &base());
    world.model_writes(&changed(&base(), &[(5, "five"), (30, "thirty")]));
    let hunk = world.turn.review().unwrap().hunks().next().unwrap().id.clone();
    let comment =
        Comment { id: CommentId("1".into()), hunk, text: "as I have it".into(), place: Place::Hunk };
    world.give(Input::Comment(comment));
    let mine = changed(&base(), &[(5, "my five"), (30, "thirty")]);
    world.edit(&mine);
    world.give(Input::Finish(Finish::Decided));
    assert_eq!(world.turn.round(), RoundNo(2));
    let told = world.told.last().unwrap();
    let edited = "  hunk 1 (lines 2-8): EDITED BY THE USER\n    user: \"as I have it\"\n  hunk 2 (lines 27-33): \
                  EDITED BY THE USER\n";
    assert!(told.contains(edited), "{told}");
    assert!(!told.contains("The user rejected"), "{told}");
    world.model_writes(&mine.replace("line 1\n", "one\nand a half\n").replace("my five", "your five"));
    let review = world.turn.review().unwrap();
    let badged: Vec<bool> = review.hunks().map(|hunk| world.turn.changes_own_lines(hunk)).collect();
    assert_eq!(badged, [true], "the model changed a line that the user wrote");
    world.model_writes_again(&mine.replace("line 20\n", "twenty\n"));
    let review = world.turn.review().unwrap();
    assert!(review.hunks().all(|hunk| !world.turn.changes_own_lines(hunk)));
}

#[test]
fn the_users_own_lines_are_known_where_later_rounds_move_them() {
    let mut world = World::start(Settings::default(), &base());
    world.model_writes(&changed(&base(), &[(30, "thirty")]));
    let hunk = world.turn.review().unwrap().hunks().next().unwrap().id.clone();
    world.give(Input::Comment(Comment {
        id: CommentId("1".into()),
        hunk,
        text: "and more".into(),
        place: Place::Hunk,
    }));
    world.edit(&changed(&base(), &[(30, "my thirty")]));
    world.give(Input::Finish(Finish::Decided));
    let longer = changed(&base(), &[(3, "3\n3\n3\n3"), (30, "my thirty")]);
    world.model_writes(&longer);
    let hunk = world.turn.review().unwrap().hunks().next().unwrap().id.clone();
    world.give(Input::Comment(Comment {
        id: CommentId("2".into()),
        hunk: hunk.clone(),
        text: "more".into(),
        place: Place::Hunk,
    }));
    world.verdicts(&[ACCEPT]);
    world.model_writes(&longer.replace("my thirty", "thirty"));
    let hunk = world.turn.review().unwrap().hunks().next().unwrap();
    assert!(world.turn.changes_own_lines(hunk));
}

#[test]
fn an_edit_that_writes_what_was_rejected_lifts_the_constraint() {
    let mut world = World::start(Settings::default(), &base());
    let text = changed(&base(), &[(5, "let a = 1;"), (30, "thirty")]);
    world.model_writes(&text);
    world.verdicts(&[REJECT, ACCEPT]);
    world.model_writes(&changed(&base(), &[(20, "twenty"), (30, "thirty")]));
    world.edit(&changed(&base(), &[(5, "let a = 1;"), (20, "twenty"), (30, "thirty")]));
    world.give(Input::Finish(Finish::Decided));
    assert_eq!(world.turn.constraints()[0].standing, Standing::Lifted);
}

#[test]
fn a_withdrawn_edit_leaves_the_verdicts_that_were_there() {
    let mut world = World::start(Settings::default(), &base());
    world.model_writes(&changed(&base(), &[(5, "five")]));
    let hunk = world.turn.review().unwrap().hunks().next().unwrap().id.clone();
    world.give(Input::Decide { hunk, verdict: Some(Verdict::Accepted) });
    world.edit(&changed(&base(), &[(5, "mine")]));
    world.give(Input::Edit { path: path(), edited: None });
    world.give(Input::Finish(Finish::Decided));
    assert_eq!(world.user_text(), changed(&base(), &[(5, "five")]));
}

#[test]
fn what_an_earlier_round_accepted_can_be_taken_back_until_it_is_applied() {
    let mut world = World::start(Settings::default(), &base());
    world.model_writes(&changed(&base(), &[(5, "five"), (20, "twenty"), (35, "x")]));
    world.verdicts(&[ACCEPT, ACCEPT, REJECT]);
    world.model_writes(&changed(&base(), &[(5, "five"), (20, "twenty"), (39, "y")]));
    world.take_back(0).unwrap();
    let review = world.turn.review().unwrap();
    let verdicts: Vec<Option<Verdict>> = review.hunks().map(|hunk| review.verdict(&hunk.id)).collect();
    assert_eq!(verdicts, [Some(Verdict::Rejected), None]);
    assert_eq!(world.turn.accepted_so_far().values().sum::<u32>(), 1);
    let hunk = review.hunks().last().unwrap().id.clone();
    world.give(Input::Decide { hunk, verdict: Some(Verdict::Accepted) });
    world.give(Input::Finish(Finish::Decided));
    assert_eq!(world.worktree, tree(&changed(&base(), &[(20, "twenty"), (39, "y")])));
    assert_eq!(world.turn.constraints().len(), 2, "what was taken back is refused for the rest of the turn");
}

#[test]
fn a_red_state_can_be_reviewed_once_more_as_one_diff() {
    let mut world = World::start(with_gate(), &base());
    world.red = |tree| tree[&path()].bytes.0.windows(8).any(|part| part == b"broken b");
    world.model_writes(&changed(&base(), &[(5, "broken b"), (30, "thirty")]));
    world.give(Input::ModelStopped { words: "I cannot.".into() });
    world.give(Input::Finish(Finish::AcceptAll));
    assert_eq!(world.turn.phase(), &Phase::Red);
    world.give(Input::Choose(RedChoice::Edit));
    let review = world.turn.review().unwrap();
    assert_eq!((review.undecided(), review.hunks().count()), (0, 2));
    world.edit(&changed(&base(), &[(5, "whole"), (30, "thirty")]));
    world.give(Input::Finish(Finish::Decided));
    assert_eq!(world.user_text(), changed(&base(), &[(5, "whole"), (30, "thirty")]));
}

#[test]
fn a_red_state_that_is_applied_anyway_says_so() {
    let mut world = World::start(with_gate(), &base());
    world.red = |tree| *tree != self::tree(&base());
    let five = changed(&base(), &[(5, "five")]);
    world.model_writes(&five);
    world.model_writes(&five);
    world.give(Input::Finish(Finish::ApplyAnyway));
    assert_eq!(world.ended.as_ref().unwrap().line(), "Applied 1 hunk in 1 file, although gate test failed");
    assert_eq!(world.user_text(), five);
    let mut green = World::start(with_gate(), &base());
    green.model_writes(&five);
    assert_eq!(green.try_give(Input::Finish(Finish::ApplyAnyway)), Err(Refused::NotNow));
}

#[test]
fn a_comment_made_while_gates_run_is_told_with_their_failure() {
    let mut world = World::start(with_gate(), &base());
    world.red = |tree| tree[&path()].bytes.0.windows(6).any(|part| part == b"broken");
    world.worktree = tree(&changed(&base(), &[(5, "broken")]));
    let (turn, effects) = step(&world.turn, Input::ModelStopped { words: String::new() }).unwrap();
    world.turn = turn;
    let files = diff(&tree(&base()), &world.worktree);
    let read = world.keep(world.worktree.clone());
    let hunk = files[0].hunks[0].id.clone();
    assert!(matches!(effects[..], [Effect::ReadWorktree { .. }]));
    let (turn, gates) = step(&world.turn, Input::Read { tree: read, files, ignored: Vec::new() }).unwrap();
    world.turn = turn;
    let comment =
        Comment { id: CommentId("1".into()), hunk: hunk.clone(), text: "why?".into(), place: Place::Hunk };
    world.give(Input::Comment(comment));
    let decide = Input::Decide { hunk, verdict: Some(Verdict::Accepted) };
    assert_eq!(world.try_give(decide), Err(Refused::NotNow));
    world.carry_out(gates);
    let told = world.told.last().unwrap();
    let comments = "The user has commented on your change while the gates ran:\n\nfile: src/a.rs\n  hunk 1 (lines \
                    2-8): UNDECIDED\n    user: \"why?\"\n\nThe gates ran on your change:\n\ngate test failed";
    assert!(told.starts_with(comments), "{told}");
}

#[test]
fn a_reproposal_of_an_earlier_attempt_is_listed_and_starts_no_round_of_its_own() {
    let mut world = World::start(with_gate(), &base());
    world.red = |tree| tree[&path()].bytes.0.windows(6).any(|part| part == b"broken");
    world.model_writes(&changed(&base(), &[(5, "let a = 1;"), (30, "thirty")]));
    world.verdicts(&[REJECT, ACCEPT]);
    world.model_writes(&changed(&base(), &[(5, "let a = 1;"), (20, "broken"), (30, "thirty")]));
    assert_eq!((world.turn.attempt(), world.turn.reproposals()), (2, 1));
    world.model_writes(&changed(&base(), &[(20, "whole"), (30, "thirty")]));
    assert_eq!(world.turn.refused_earlier().len(), 1, "the brief tells of it");
    world.verdicts(&[ACCEPT]);
    assert_eq!(world.kind(), &EndingKind::Applied);
}

#[test]
fn what_was_red_before_the_turn_is_told_once() {
    let mut world = World::start(with_gate(), &base());
    world.red = |_| true;
    world.model_writes(&changed(&base(), &[(5, "five"), (30, "thirty")]));
    world.give(Input::ModelStopped { words: String::new() });
    world.verdicts(&[REJECT, ACCEPT]);
    let line = "gate test was red before this turn (exit 1, 1.0 s); it holds up nothing.";
    assert_eq!(world.told.last().unwrap().matches(line).count(), 1);
    world.model_writes(&changed(&base(), &[(20, "twenty"), (30, "thirty")]));
    world.verdicts(&[REJECT]);
    assert!(!world.told.last().unwrap().contains("red before"));
}

fn npm_ci() -> Setup {
    Setup { copied: Vec::new(), command: Some("npm ci".into()) }
}

#[test]
fn a_setup_that_fails_holds_the_turn_and_can_be_gone_without() {
    let settings = Settings { setup: npm_ci(), ..Settings::default() };
    let failed = SetupResult::Failed { reason: "exit 1".into(), output: "no network".into() };
    let mut world = World::start(settings.clone(), &base());
    assert_eq!(world.told, ["Do it."], "set up, the model works");
    let (turn, _) = Turn::start(settings, Opening::Prompt("Do it.".into()));
    let (turn, effects) = step(&turn, Input::Begun { base: TreeId("b".into()) }).unwrap();
    assert_eq!(effects, [Effect::SetUp(npm_ci())]);
    let (held, effects) = step(&turn, Input::SetUp(failed)).unwrap();
    assert_eq!(effects, []);
    let Phase::Held(why) = held.phase() else { panic!("held") };
    assert_eq!(why.cause, Cause::Setup { output: "no network".into() });
    let (_, again) = step(&held, Input::Resume(Resume::Continue)).unwrap();
    assert_eq!(again, [Effect::SetUp(npm_ci())]);
    let (_, without) = step(&held, Input::Resume(Resume::Skip)).unwrap();
    assert_eq!(without, [Effect::AskModel { message: "Do it.".into() }]);
    let (stopping, stop) = step(&turn, Input::Interrupt).unwrap();
    assert_eq!(stop, [Effect::StopCommands]);
    let (ended, _) = step(&stopping, Input::SetUp(SetupResult::Stopped)).unwrap();
    assert!(matches!(ended.phase(), Phase::Ended(ending) if ending.kind == EndingKind::Interrupted));
    world.give(Input::Interrupt);
}

#[test]
fn a_review_of_the_users_own_tree_takes_out_only_what_was_rejected_one_by_one() {
    let head = tree(&base());
    let user = tree(&changed(&base(), &[(5, "five"), (20, "twenty"), (35, "x")]));
    let mut world = World::start_review(head.clone(), user.clone());
    world.verdicts(&[ACCEPT, (Verdict::Rejected, "not yet"), ACCEPT]);
    assert_eq!(world.user_text(), changed(&base(), &[(5, "five"), (35, "x")]));
    assert_eq!(world.ended.as_ref().unwrap().line(), "Reviewed. Took 1 hunk out of 1 file");
    assert!(world.told_next[0].contains("user: \"not yet\""), "{}", world.told_next[0]);
    assert!(world.told.is_empty(), "no model is asked");

    for how in [Finish::Stop, Finish::RefuseAll, Finish::RefuseRest] {
        let mut world = World::start_review(head.clone(), user.clone());
        let hunk = world.turn.review().unwrap().hunks().next().unwrap().id.clone();
        world.give(Input::Decide { hunk, verdict: Some(Verdict::Rejected) });
        world.give(Input::Finish(how));
        assert_eq!(world.user, user);
        assert_eq!(world.ended.as_ref().unwrap().line(), "Reviewed, nothing taken out");
        assert!(world.told_next[0].contains("still in place"), "{}", world.told_next[0]);
    }

    let mut world = World::start_review(head, user.clone());
    let edited = Some(world.edited("mine\n"));
    assert_eq!(
        world.try_give(Input::Edit { path: path(), edited }),
        Err(Refused::NotNow),
        "it is their own file"
    );
    world.give(Input::Finish(Finish::AcceptAll));
    assert_eq!((world.user, world.told_next.len()), (user, 1));
}

#[test]
fn the_parts_of_a_split_hunk_are_decided_apart_and_only_the_rejected_part_is_a_constraint() {
    let mut world = World::start(Settings::default(), &base());
    world.model_writes(&changed(&base(), &[(5, "five"), (9, "nine"), (13, "thirteen")]));
    let hunk = world.turn.review().unwrap().hunks().next().unwrap().clone();
    assert_eq!(world.turn.review().unwrap().hunks().count(), 1);
    let place = Place::Line { side: crate::review::Side::New, line: 13 };
    let comment = Comment { id: CommentId("1".into()), hunk: hunk.id.clone(), text: "why".into(), place };
    world.give(Input::Comment(comment));
    let at = crate::split::split_rows(&hunk);
    assert_eq!(at.len(), 2);
    let nowhere = Input::Split { hunk: hunk.id.clone(), at: vec![0] };
    assert_eq!(world.try_give(nowhere), Err(Refused::CannotSplit));
    world.give(Input::Split { hunk: hunk.id.clone(), at });
    let review = world.turn.review().unwrap();
    let parts: Vec<String> = review.hunks().map(Hunk::what).collect();
    assert_eq!(parts, ["lines 2-8", "lines 6-12", "lines 10-16"]);
    let last = review.hunks().last().unwrap();
    assert_eq!(review.comments_on(&last.id).count(), 1, "the comment is with its line");
    let stale = Input::Decide { hunk: hunk.id, verdict: None };
    assert_eq!(world.try_give(stale), Err(Refused::Stale));
    world.verdicts(&[ACCEPT, REJECT, ACCEPT]);
    assert_eq!(world.worktree, tree(&changed(&base(), &[(5, "five"), (13, "thirteen")])));
    let told = world.told.last().unwrap();
    assert!(told.ends_with("src/a.rs, round 1\n  -line 9\n  +nine"), "{told}");
}

/// A turn whose review was finished with `how`, and whose gates now run on the accepted state.
fn testing_accepted(how: Finish) -> (World, TreeId) {
    let mut world = World::start(with_gate(), &base());
    world.red = |tree| *tree != self::tree(&base());
    let text = changed(&base(), &[(5, "five"), (30, "thirty")]);
    world.model_writes(&text);
    world.model_writes(&text);
    let hunk = world.turn.review().unwrap().hunks().next().unwrap().id.clone();
    world.give(Input::Decide { hunk, verdict: Some(Verdict::Rejected) });
    let (turn, effects) = step(&world.turn, Input::Finish(how)).unwrap();
    assert!(matches!(effects[..], [Effect::Compose { .. }]));
    let accepted = world.keep(tree(&changed(&base(), &[(30, "thirty")])));
    (world.turn, _) = step(&turn, Input::Composed { tree: accepted.clone() }).unwrap();
    assert_eq!(world.turn.phase(), &Phase::AcceptedGates(GateTarget::Accepted));
    (world, accepted)
}

#[test]
fn gates_that_are_stopped_leave_the_choice_even_where_red_was_to_be_applied() {
    let (mut world, tree) = testing_accepted(Finish::ApplyAnyway);
    world.give(Input::Interrupt);
    let run = GateRun {
        name: "test".into(),
        result: GateResult::Stopped,
        seconds: 1.0,
        output: String::new(),
        put_back: Vec::new(),
    };
    world.give(Input::GatesRan { tree, runs: vec![run] });
    assert_eq!(world.turn.phase(), &Phase::Red);
}

#[test]
fn what_taking_back_left_is_not_applied_by_ending_the_turn_before_a_gate_has_seen_it() {
    let mut world = World::start(with_gate(), &base());
    world.red = |tree| !tree[&path()].bytes.0.windows(4).any(|part| part == b"five");
    world.model_writes(&changed(&base(), &[(5, "five"), (20, "twenty"), (35, "x")]));
    world.verdicts(&[ACCEPT, ACCEPT, REJECT]);
    world.model_writes(&changed(&base(), &[(5, "five"), (20, "twenty"), (39, "y")]));
    world.take_back(0).unwrap();
    (world.turn, _) = step(&world.turn, Input::Finish(Finish::RefuseRest)).unwrap();
    world.give(Input::Failed { reason: "The disk is full.".into() });
    world.give(Input::Resume(Resume::Discard));
    assert_eq!(world.user_text(), base());
    assert_eq!(world.turn.phase(), &Phase::Red);
}

#[test]
fn a_review_that_was_stopped_is_still_told_as_unfinished_after_the_red_state_was_reviewed() {
    let (mut world, _) = testing_accepted(Finish::Stop);
    let tree = world.turn.accepted().clone();
    let run = GateRun {
        name: "test".into(),
        result: GateResult::Red { exit: 1 },
        seconds: 1.0,
        output: String::new(),
        put_back: Vec::new(),
    };
    world.give(Input::GatesRan { tree, runs: vec![run] });
    world.give(Input::Choose(RedChoice::Edit));
    world.edit(&base());
    world.give(Input::Finish(Finish::Decided));
    let told = &world.told_next[0];
    assert!(told.contains("UNDECIDED") && told.contains("1 hunk was not reached"), "{told}");
}

#[test]
fn the_users_own_lines_stay_known_where_a_rename_of_their_file_is_rejected() {
    let mut world = World::start(Settings::default(), &base());
    world.model_writes(&changed(&base(), &[(30, "thirty")]));
    let hunk = world.turn.review().unwrap().hunks().next().unwrap().id.clone();
    let about = |id: &str, hunk: &HunkId| {
        let (id, hunk) = (CommentId(id.into()), hunk.clone());
        Input::Comment(Comment { id, hunk, text: "more".into(), place: Place::Hunk })
    };
    world.give(about("1", &hunk));
    let mine = changed(&base(), &[(30, "my thirty")]);
    world.edit(&mine);
    world.give(Input::Finish(Finish::Decided));
    (world.turn, _) = step(&world.turn, Input::ModelStopped { words: String::new() }).unwrap();
    let moved = hunks(&FileChange {
        path: RepoPath::new("src/b.rs").unwrap(),
        old_path: Some(path()),
        old: Some(file(&mine)),
        new: Some(file(&mine)),
    });
    let proposed = world.keep(Tree::from([(moved.path.clone(), file(&mine))]));
    world.give(Input::Read { tree: proposed, files: vec![moved], ignored: Vec::new() });
    let hunk = world.turn.review().unwrap().hunks().next().unwrap().id.clone();
    world.give(Input::Decide { hunk, verdict: Some(Verdict::Rejected) });
    world.give(Input::Finish(Finish::Decided));
    world.model_writes(&changed(&base(), &[(30, "their thirty")]));
    let hunk = world.turn.review().unwrap().hunks().next().unwrap();
    assert!(world.turn.changes_own_lines(hunk));
}

#[test]
fn a_turn_does_not_end_while_a_part_of_its_apply_is_written() {
    let (turn, _) = Turn::start(Settings::default(), Opening::Prompt("Do it.".into()));
    let take = |turn: &Turn, input: Input| step(turn, input).unwrap();
    let [before, after] = ["b", "a"].map(|tree| TreeId(tree.into()));
    let (turn, _) = take(&turn, Input::Begun { base: before });
    let (turn, _) = take(&turn, Input::ModelStopped { words: String::new() });
    let files = diff(&tree(&base()), &tree("five\n"));
    let (turn, _) = take(&turn, Input::Read { tree: after.clone(), files, ignored: Vec::new() });
    let (turn, _) = take(&turn, Input::Finish(Finish::AcceptAll));
    let (turn, effects) = take(&turn, Input::Composed { tree: after });
    let (held, _) = take(&turn, Input::ApplyStopped { reason: "The disk broke.".into() });
    assert_eq!(step(&held, Input::Resume(Resume::Discard)), Err(Refused::PartWritten));
    let (trying, again) = take(&held, Input::Resume(Resume::Continue));
    assert_eq!(again, effects[effects.len() - 1..]);
    let (held, _) = take(&trying, Input::Failed { reason: "An object cannot be read.".into() });
    assert_eq!(
        step(&held, Input::Resume(Resume::Discard)),
        Err(Refused::PartWritten),
        "the part is still there"
    );
    let (held, _) = take(&turn, Input::Failed { reason: "The file is read-only.".into() });
    let (ended, _) = take(&held, Input::Resume(Resume::Discard));
    assert!(matches!(ended.phase(), Phase::Ended(ending) if ending.kind == EndingKind::Failed));
}

#[test]
fn what_is_taken_back_is_rejected_also_where_the_round_changes_lines_beside_it() {
    let mut world = World::start(Settings::default(), &base());
    world.model_writes(&changed(&base(), &[(5, "five"), (35, "x")]));
    world.verdicts(&[ACCEPT, REJECT]);
    world.model_writes(&changed(&base(), &[(5, "five"), (9, "nine")]));
    world.take_back(0).unwrap();
    world.give(Input::Finish(Finish::AcceptAll));
    assert_eq!(world.worktree, tree(&changed(&base(), &[(9, "nine")])));
}
