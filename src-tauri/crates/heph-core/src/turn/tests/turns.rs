//! Turns as a user meets them.

use super::*;

#[test]
fn a_rejection_with_a_comment_starts_a_round_that_shows_only_the_new_change() {
    let mut world = World::start(Settings::default(), &base());
    world.model_writes(&changed(&base(), &[(5, "let secret = env"), (30, "thirty")]));
    world.verdicts(&[(Verdict::Rejected, "from the config"), ACCEPT]);
    assert_eq!(world.turn.round(), RoundNo(2));
    assert_eq!(world.user_text(), base(), "nothing is in the user's tree before the turn ends");
    assert_eq!(world.worktree, tree(&changed(&base(), &[(30, "thirty")])), "the rejected change is gone");
    let told = world.told.last().unwrap();
    assert_eq!(told.matches("src/a.rs, round 1 -- \"from the config\"").count(), 1, "{told}");
    let answer = changed(&base(), &[(5, "let secret = config"), (30, "thirty")]);
    world.model_writes(&answer);
    let review = world.turn.review().unwrap();
    let hunk = review.hunks().next().unwrap();
    assert_eq!((review.hunks().count(), hunk.what().as_str()), (1, "lines 2-8"));
    assert_eq!(world.turn.answered_by(hunk).unwrap().comments, ["from the config"]);
    world.verdicts(&[ACCEPT]);
    assert_eq!(world.user_text(), answer);
    assert_eq!(world.ended.as_ref().unwrap().line(), "Applied 2 hunks in 1 file");
}

#[test]
fn two_reproposals_end_the_turn_and_what_was_accepted_is_applied() {
    let mut world = World::start(Settings::default(), &base());
    let both = changed(&base(), &[(5, "let a = 1;"), (30, "thirty")]);
    world.model_writes(&both);
    world.verdicts(&[REJECT, ACCEPT]);
    world.model_writes(&both);
    assert!(world.turn.review().is_none(), "a round whose hunks are all re-proposed opens no review");
    assert_eq!((world.turn.round(), world.turn.reproposals()), (RoundNo(3), 1));
    assert!(world.told.last().unwrap().contains("  re-proposed hunk (lines 2-8): REJECTED"));
    assert!(world.told.last().unwrap().ends_with("you re-proposed a rejected change. Do not."));
    let asked = world.told.len();
    world.model_writes(&both);
    assert_eq!(world.kind(), &EndingKind::Floor);
    assert_eq!(world.told.len(), asked, "the model gets no further round");
    assert_eq!(world.user_text(), changed(&base(), &[(30, "thirty")]));
    assert_eq!(world.ended.as_ref().unwrap().line(), "Floor: 2 re-proposals. Applied 1 hunk in 1 file");
}

#[test]
fn asking_about_a_reproposal_takes_its_count_back_and_accepting_it_lifts_the_constraint() {
    let mut world = World::start(Settings::default(), &base());
    let both = changed(&base(), &[(5, "let a = 1;"), (30, "thirty")]);
    world.model_writes(&both);
    world.verdicts(&[REJECT, REJECT]);
    world.model_writes(&changed(&both, &[(20, "twenty")]));
    let refused: Vec<HunkId> =
        world.turn.review().unwrap().refused().map(|(_, hunk)| hunk.id.clone()).collect();
    assert_eq!((refused.len(), world.turn.reproposals()), (2, 2));
    world.give(Input::Ask(refused[0].clone()));
    assert_eq!(world.turn.reproposals(), 1);
    assert!(world.turn.over.is_empty(), "below the floor again");
    world.verdicts(&[ACCEPT, ACCEPT]);
    assert_eq!(world.turn.constraints()[0].standing, Standing::Lifted);
    assert_eq!(world.turn.constraints()[1].standing, Standing::Holds);
    assert_eq!(world.turn.round(), RoundNo(3), "the other re-proposal starts a round");
}

#[test]
fn a_red_accepted_state_goes_back_as_a_consequence_and_is_never_applied() {
    let mut world = World::start(with_gate(), &base());
    world.red = |tree| tree[&path()].bytes.0.windows(6).filter(|part| part == b"broken").count() == 1;
    world.model_writes(&changed(&base(), &[(5, "broken a"), (30, "broken b")]));
    world.verdicts(&[REJECT, ACCEPT]);
    let told = world.told.last().unwrap();
    assert!(
        told.contains(
            "As a consequence of the rejection:\n\ngate test failed (exit 1, 1.0 s):\n  it broke\n"
        ),
        "{told}"
    );
    let kept = changed(&base(), &[(30, "broken b")]);
    world.model_writes(&kept);
    assert_eq!(world.turn.phase(), &Phase::Red, "declined: the user chooses");
    assert_eq!(world.user_text(), base());
    world.give(Input::Choose(RedChoice::Discard));
    assert_eq!(world.kind(), &EndingKind::Red { why: "gate test failed".into() });
    assert!(world.told_next[0].contains("Nothing was applied: gate test failed."), "{}", world.told_next[0]);
    assert_eq!(world.user_text(), base());
}

#[test]
fn a_red_gate_sends_the_model_back_until_its_attempts_are_used_up() {
    let mut world = World::start(with_gate(), &base());
    world.red = |tree| *tree != self::tree(&base());
    for attempt in 1..=3 {
        assert_eq!(world.turn.attempt(), attempt);
        world.model_writes(&changed(&base(), &[(5, &format!("try {attempt}"))]));
    }
    assert!(world.turn.review().is_some(), "the review opens red");
    assert_eq!(world.told.len(), 3);
}

#[test]
fn a_gate_that_was_red_before_the_turn_holds_up_nothing() {
    let mut world = World::start(with_gate(), &base());
    world.red = |_| true;
    world.model_writes(&changed(&base(), &[(5, "five")]));
    world.give(Input::ModelStopped { words: "I cannot mend that.".into() });
    assert!(world.turn.is_red_before("test"));
    world.verdicts(&[ACCEPT]);
    assert_eq!(world.kind(), &EndingKind::Applied);
}

#[test]
fn an_interrupted_turn_is_reviewed_and_ends_without_a_round() {
    let mut world = World::start(Settings::default(), &base());
    world.worktree = tree(&changed(&base(), &[(5, "five"), (30, "thirty")]));
    world.give(Input::Interrupt);
    assert!(world.turn.is_interrupted());
    world.verdicts(&[ACCEPT, (Verdict::Rejected, "no")]);
    assert_eq!(world.ended.as_ref().unwrap().line(), "Interrupted in round 1. Applied 1 hunk in 1 file");
    assert!(world.told_next[0].contains("The turn ends here."));
}

#[test]
fn an_interrupt_without_a_change_ends_at_once() {
    let mut world = World::start(Settings::default(), &base());
    world.give(Input::Interrupt);
    assert_eq!(world.kind(), &EndingKind::Interrupted);
}

#[test]
fn a_set_aside_hunk_gets_a_round_against_the_users_text() {
    let mut world = World::start(Settings::default(), &base());
    world.model_writes(&changed(&base(), &[(5, "five"), (30, "thirty")]));
    world.user = tree(&changed(&base(), &[(5, "my five")]));
    world.verdicts(&[ACCEPT, ACCEPT]);
    assert_eq!(world.turn.round(), RoundNo(2));
    assert!(world.told.last().unwrap().contains("  SET ASIDE AT APPLY: this region changed"));
    assert_eq!(world.user_text(), changed(&base(), &[(5, "my five"), (30, "thirty")]));
    assert_eq!(world.worktree, world.user, "the next edit is against what is really there");
    let text = world.user_text().to_owned();
    world.model_writes(&text);
    assert_eq!(world.ended.as_ref().unwrap().line(), "Applied 1 hunk in 1 file, 1 set aside in src/a.rs");
}

#[test]
fn a_failure_holds_the_turn_and_a_restart_never_starts_the_model() {
    let mut world = World::start(Settings::default(), &base());
    world.give(Input::Failed { reason: "no network".into() });
    assert!(matches!(world.turn.phase(), Phase::Held(held) if held.cause == Cause::Failed));
    world.give(Input::Resume(Resume::Continue));
    assert_eq!((world.told.len(), world.turn.attempt()), (2, 2));
    world.worktree = tree(&changed(&base(), &[(5, "five")]));
    world.give(Input::Restarted);
    assert!(matches!(world.turn.phase(), Phase::Held(held) if held.cause == Cause::CutOff));
    assert_eq!(world.told.len(), 2);
    world.give(Input::Resume(Resume::Review));
    world.verdicts(&[ACCEPT]);
    assert_eq!(world.user_text(), changed(&base(), &[(5, "five")]));
}

#[test]
fn refusing_the_brief_and_stopping_partway_end_the_turn() {
    for how in [Finish::RefuseAll, Finish::Stop] {
        let mut world = World::start(Settings::default(), &base());
        world.model_writes(&changed(&base(), &[(5, "five"), (30, "thirty")]));
        world.give(Input::Finish(how));
        assert_eq!((world.told.len(), world.user_text()), (1, base().as_str()));
        let line = world.ended.as_ref().unwrap().line();
        match how {
            Finish::Stop => {
                assert_eq!(line, "Stopped partway, 2 undecided, nothing applied");
                assert!(world.told_next[0].contains("The review is not finished: 2 hunks were not reached."));
            }
            _ => assert_eq!(line, "Refused, nothing applied"),
        }
    }
}

#[test]
fn the_last_round_ends_the_turn_whatever_is_rejected() {
    let mut world = World::start(Settings { max_rounds: 2, ..Settings::default() }, &base());
    world.model_writes(&changed(&base(), &[(5, "five"), (30, "thirty")]));
    world.verdicts(&[REJECT, ACCEPT]);
    assert!(world.turn.is_last_round());
    world.model_writes(&changed(&base(), &[(5, "another"), (30, "thirty")]));
    world.verdicts(&[REJECT]);
    assert_eq!(world.ended.as_ref().unwrap().line(), "Out of rounds (2). Applied 1 hunk in 1 file");
}

#[test]
fn a_review_cannot_be_finished_while_a_hunk_is_undecided_or_decided_by_a_stale_name() {
    let mut world = World::start(Settings::default(), &base());
    world.model_writes(&changed(&base(), &[(5, "five"), (30, "thirty")]));
    let before = world.turn.clone();
    assert_eq!(world.try_give(Input::Finish(Finish::Decided)), Err(Refused::Undecided { count: 2 }));
    let stale = Input::Decide { hunk: HunkId("gone".into()), verdict: Some(Verdict::Accepted) };
    assert_eq!(world.try_give(stale), Err(Refused::Stale));
    assert_eq!(world.turn, before, "what is refused changes nothing");
}

#[test]
fn an_interrupted_turn_that_was_killed_does_not_ask_the_model_again() {
    let (mut turn, _) = Turn::start(Settings::default(), Opening::Prompt("Do it.".into()));
    for input in [Input::Begun { base: TreeId("b".into()) }, Input::Interrupt] {
        turn = step(&turn, input).unwrap().0;
    }
    let (turn, effects) = step(&turn, Input::Restarted).unwrap();
    assert_eq!(effects, [Effect::ReadWorktree { accepted: TreeId("b".into()) }]);
    assert_eq!(turn.phase(), &Phase::Reading);
}

#[test]
fn an_interrupt_while_the_change_is_read_leaves_no_attempt() {
    let mut world = World::start(with_gate(), &base());
    world.red = |_| true;
    let (turn, _) = step(&world.turn, Input::ModelStopped { words: String::new() }).unwrap();
    let (turn, effects) = step(&turn, Input::Interrupt).unwrap();
    assert_eq!(effects, []);
    world.worktree = tree(&changed(&base(), &[(5, "five")]));
    world.turn = turn;
    world.carry_out(vec![Effect::ReadWorktree { accepted: world.turn.accepted().clone() }]);
    assert!(world.turn.review().is_some());
    assert_eq!(world.told.len(), 1);
}

#[test]
fn a_state_that_cannot_be_composed_gives_the_review_back_with_its_verdicts() {
    let mut world = World::start(Settings::default(), &base());
    world.model_writes(&changed(&base(), &[(5, "five"), (30, "thirty")]));
    let hunks: Vec<HunkId> = world.turn.review().unwrap().hunks().map(|hunk| hunk.id.clone()).collect();
    world.give(Input::Decide { hunk: hunks[0].clone(), verdict: Some(Verdict::Accepted) });
    let finish = Input::Finish(Finish::RefuseRest);
    let (composing, _) = step(&world.turn, finish.clone()).unwrap();
    let (held, _) = step(&composing, Input::Failed { reason: "the disk is full".into() }).unwrap();
    world.turn = step(&held, Input::Resume(Resume::Review)).unwrap().0;
    assert_eq!(world.turn.review().unwrap().verdict(&hunks[0]), Some(Verdict::Accepted));
    assert!(world.turn.constraints().is_empty(), "nothing is taken over before the state is composed");
    world.give(finish);
    assert_eq!(world.turn.constraints().len(), 1);
}

#[test]
fn a_link_out_of_the_repository_cannot_be_accepted_and_costs_nothing_else() {
    let mut world = World::start(Settings::default(), &base());
    world.worktree = tree(&changed(&base(), &[(5, "five")]));
    let link = File { mode: Mode::Symlink, bytes: Bytes(b"/etc/passwd".into()) };
    world.worktree.insert(RepoPath::new("z").unwrap(), link);
    world.give(Input::ModelStopped { words: String::new() });
    let link = world.turn.review().unwrap().hunks().last().unwrap().id.clone();
    let accept = Input::Decide { hunk: link, verdict: Some(Verdict::Accepted) };
    assert!(matches!(world.try_give(accept), Err(Refused::Unacceptable { .. })));
    assert_eq!(world.try_give(Input::Finish(Finish::AcceptAll)), Err(Refused::Undecided { count: 1 }));
    world.verdicts(&[ACCEPT, REJECT]);
    world.give(Input::ModelStopped { words: String::new() });
    assert_eq!(world.user, tree(&changed(&base(), &[(5, "five")])));
}

#[test]
fn gates_that_were_cut_off_leave_the_accepted_hunks_to_the_red_choice() {
    let mut world = World::start(with_gate(), &base());
    world.model_writes(&changed(&base(), &[(5, "five"), (30, "thirty")]));
    let hunks: Vec<HunkId> = world.turn.review().unwrap().hunks().map(|hunk| hunk.id.clone()).collect();
    world.give(Input::Decide { hunk: hunks[0].clone(), verdict: Some(Verdict::Accepted) });
    let (turn, _) = step(&world.turn, Input::Finish(Finish::RefuseRest)).unwrap();
    let kept = tree(&changed(&base(), &[(5, "five")]));
    let composed = world.keep(kept.clone());
    let (turn, _) = step(&turn, Input::Composed { tree: composed }).unwrap();
    let (turn, _) = step(&turn, Input::Restarted).unwrap();
    world.turn = step(&turn, Input::Resume(Resume::Discard)).unwrap().0;
    assert_eq!(world.turn.phase(), &Phase::Red);
    world.give(Input::Choose(RedChoice::ApplyAnyway));
    assert_eq!(world.user, kept);
    assert_eq!(world.ended.as_ref().unwrap().line(), "Failed. Applied 1 hunk in 1 file");
}

#[test]
fn a_model_that_failed_is_given_the_same_message_again() {
    let mut world = World::start(Settings::default(), &base());
    world.give(Input::Failed { reason: "no network".into() });
    world.give(Input::Resume(Resume::Continue));
    assert_eq!(world.told, ["Do it.", "Do it."]);
    world.give(Input::Restarted);
    world.give(Input::Resume(Resume::Continue));
    assert!(world.told[2].starts_with("You were cut off"));
}

#[test]
fn a_gate_that_is_red_on_the_base_does_not_hold_up_what_was_accepted() {
    let mut world = World::start(with_gate(), &base());
    world.red = |tree| !tree[&path()].bytes.0.starts_with(b"mended");
    world.model_writes(&changed(&base(), &[(1, "mended"), (30, "thirty")]));
    world.verdicts(&[REJECT, ACCEPT]);
    assert!(world.turn.is_red_before("test"));
    assert!(!world.told.last().unwrap().contains("gate test failed"), "it was red before the turn");
    world.give(Input::ModelStopped { words: String::new() });
    assert_eq!(world.kind(), &EndingKind::Applied);
}

#[test]
fn what_was_accepted_and_is_not_in_place_is_told() {
    let mut world = World::start(Settings::default(), &base());
    world.model_writes(&changed(&base(), &[(5, "five")]));
    let (turn, _) = step(&world.turn, Input::Finish(Finish::AcceptAll)).unwrap();
    let composed = world.keep(tree(&changed(&base(), &[(5, "five")])));
    let (turn, _) = step(&turn, Input::Composed { tree: composed }).unwrap();
    world.turn = step(&turn, Input::Failed { reason: "src/a.rs is read-only".into() }).unwrap().0;
    world.give(Input::Resume(Resume::Discard));
    assert!(
        world.told_next[0].contains("Nothing was applied: it could not be written."),
        "{}",
        world.told_next[0]
    );
    assert_eq!(world.user_text(), base());
}

#[test]
fn accepting_both_parts_of_a_split_copy_lifts_the_constraint() {
    let mut world = World::start(Settings::default(), &base());
    let whole = "fn alpha() {}\nfn beta() {}\nfn gamma() {}\nfn delta() {}";
    world.model_writes(&changed(&base(), &[(5, whole)]));
    world.verdicts(&[(Verdict::Rejected, "in two places")]);
    let parts = [(5, "fn alpha() {}\nfn beta() {}"), (30, "fn gamma() {}\nfn delta() {}")];
    world.model_writes(&changed(&base(), &parts));
    world.verdicts(&[ACCEPT, ACCEPT]);
    assert_eq!(world.turn.constraints()[0].standing, Standing::Lifted);
    assert_eq!(world.kind(), &EndingKind::Applied);
}

#[test]
fn a_change_rejected_in_two_rounds_is_one_constraint_with_both_comments() {
    let mut world = World::start(Settings::default(), &base());
    let text = changed(&base(), &[(5, "five"), (30, "thirty")]);
    world.model_writes(&text);
    world.verdicts(&[(Verdict::Rejected, "no"), ACCEPT]);
    world.model_writes(&text);
    world.verdicts(&[(Verdict::Rejected, "still no")]);
    let constraints: Vec<_> =
        world.turn.constraints().iter().map(|constraint| constraint.comments.clone()).collect();
    assert_eq!(constraints, [["no", "still no"]]);
}

#[test]
fn a_line_comment_stays_with_its_line_when_a_hunk_joins_above() {
    let mut world = World::start(Settings::default(), &base());
    world.model_writes(&changed(&base(), &[(5, "one\ntwo\nthree")]));
    world.verdicts(&[REJECT]);
    world.model_writes(&changed(&base(), &[(5, "one\ntwo\nthree"), (30, "thirty")]));
    let review = world.turn.review().unwrap();
    let refused = review.refused().next().unwrap().1.id.clone();
    let hunk = review.hunks().next().unwrap().id.clone();
    let place = Place::Line { side: crate::review::Side::New, line: 30 };
    let comment = Comment { id: CommentId("1".into()), hunk: hunk.clone(), text: "why".into(), place };
    world.give(Input::Comment(comment));
    world.give(Input::Ask(refused));
    let place = world.turn.review().unwrap().comments()[0].place;
    assert_eq!(place, Place::Line { side: crate::review::Side::New, line: 32 });
    let none = Comment {
        id: CommentId("2".into()),
        hunk,
        text: "why".into(),
        place: Place::Line { side: crate::review::Side::New, line: 0 },
    };
    assert_eq!(world.try_give(Input::Comment(none)), Err(Refused::NoSuchLine { line: 0 }));
}
