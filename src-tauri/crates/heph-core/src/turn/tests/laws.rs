//! What holds in every turn, whatever model and user do.

use proptest::prelude::*;

use super::*;

fn model_text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just(None),
        Just(Some("alpha();")),
        Just(Some("beta();")),
        Just(Some("")),
        Just(Some("}"))
    ];
    prop::collection::vec(line, 40).prop_map(|lines| {
        let line = |(n, line): (usize, &Option<&str>)| match line {
            Some(line) if n % 9 < 2 => format!("{line}\n"),
            _ => format!("line {}\n", n + 1),
        };
        lines.iter().enumerate().map(line).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// A model that writes what it likes, a user who decides as he likes: what is applied is exactly
    /// what was accepted, and nothing rejected stays in the worktree.
    #[test]
    fn what_is_applied_is_base_and_accepted_hunks(
        texts in prop::collection::vec(model_text(), 1..6),
        picks in prop::collection::vec((any::<bool>(), any::<bool>()), 200),
    ) {
        let mut world = World::start(Settings::default(), &base());
        let mut picks = picks.into_iter().cycle();
        let mut expected = base();
        for text in texts {
            if world.ended.is_some() {
                break;
            }
            world.model_writes(&text);
            let Some(review) = world.turn.review() else { continue };
            for constraint in world.turn.constraints() {
                let alone = std::slice::from_ref(constraint);
                let repeated = |hunk: &Hunk| !crate::constraint::lifted_by(alone, &[hunk], 0.8).is_empty();
                prop_assert!(!constraint.compared_in(world.turn.round()) || !review.hunks().any(repeated));
            }
            let verdicts: Vec<(Verdict, &str)> = review
                .hunks()
                .map(|_| match picks.next() {
                    Some((true, _)) => ACCEPT,
                    Some((false, true)) => (Verdict::Rejected, "not so"),
                    _ => REJECT,
                })
                .collect();
            let accepted: Vec<&Hunk> =
                review.hunks().zip(&verdicts).filter(|(_, verdict)| **verdict == ACCEPT).map(|(hunk, _)| hunk).collect();
            let composed = compose(Some(&file(&expected)), &accepted).unwrap().unwrap();
            expected = String::from_utf8(composed.bytes.0).unwrap();
            world.verdicts(&verdicts);
            prop_assert_eq!(&world.worktree, &tree(&expected));
            if let Some(message) = world.told.last().filter(|_| world.ended.is_none()) {
                for constraint in world.turn.constraints() {
                    if constraint.standing == Standing::Holds {
                        let named = message.contains(&format!("src/a.rs, round {}", constraint.round));
                        prop_assert!(named, "{}", message);
                    }
                }
            }
        }
        let want = if world.ended.is_some() { expected } else { base() };
        prop_assert_eq!(world.user_text(), want);
    }

    /// Inputs in any order never panic, and those that are refused change nothing.
    #[test]
    fn any_sequence_of_inputs_is_taken_or_refused(choices in prop::collection::vec(0..14u8, 1..40)) {
        let mut world = World::start(with_gate(), &base());
        for (number, choice) in choices.into_iter().enumerate() {
            let hunk = world.turn.review().and_then(|review| review.hunks().next().map(|hunk| hunk.id.clone()));
            let hunk = hunk.unwrap_or(HunkId("none".into()));
            let input = match choice {
                0..=3 => {
                    world.worktree = tree(&changed(&base(), &[(5, "five"), (30, &format!("n {number}"))]));
                    Input::ModelStopped { words: String::new() }
                }
                4 => Input::Failed { reason: "no".into() },
                5 => Input::Interrupt,
                6 => Input::Restarted,
                7 => Input::Decide { hunk, verdict: Some(Verdict::Accepted) },
                8 => Input::Decide { hunk, verdict: Some(Verdict::Rejected) },
                9 => Input::Finish(Finish::Decided),
                10 => Input::Finish(Finish::RefuseRest),
                11 => Input::Resume(Resume::Continue),
                12 => Input::Resume(Resume::Review),
                _ => Input::Choose(RedChoice::RunAgain),
            };
            let before = world.turn.clone();
            if world.try_give(input).is_err() {
                prop_assert_eq!(&world.turn, &before);
            }
        }
    }
}
