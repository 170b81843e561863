//! What holds in every turn, whatever model and user do.
//!
//! A turn is played by random moves. What must hold at a moment is checked by the [`Watch`] as the turn's
//! effects are carried out, from what the user was seen to do and not from what the turn remembers.

use proptest::prelude::*;

use super::*;
use crate::constraint::lifted_by;

/// What one of the two does next; one that does not fit the moment is refused by the turn.
#[derive(Clone, Debug)]
enum Move {
    /// The model writes this, and stops.
    Write(String),
    /// The model fails.
    Fail,
    /// The program is killed and started anew.
    Restart,
    /// The user edits their own file.
    UserEdits(usize),
    /// The user decides on the hunks, one of these after the other.
    Decide(Vec<Option<Verdict>>),
    /// The user comments on a hunk.
    Comment(usize),
    /// The user writes the file in the place of the proposed one.
    Edit(String),
    WithdrawEdit,
    Split(usize),
    TakeBack(usize),
    Ask(usize),
    Lift(usize),
    Finish(Finish),
    Interrupt,
    Resume(Resume),
    Choose(RedChoice),
}

const LINES: usize = 30;

fn text_of(lines: &[Option<&str>]) -> String {
    let line = |(n, line): (usize, &Option<&str>)| match line {
        Some(line) if n % 9 < 2 => format!("{line}\n"),
        _ => format!("line {}\n", n + 1),
    };
    lines.iter().enumerate().map(line).collect()
}

fn start_text() -> String {
    text_of(&[None; LINES])
}

fn texts() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => Just(None),
        2 => Just(Some("alpha();")),
        1 => Just(Some("beta();")),
        1 => Just(Some("broken();")),
        1 => Just(Some("")),
        1 => Just(Some("}")),
    ];
    prop::collection::vec(line, LINES).prop_map(|lines| text_of(&lines))
}

fn verdicts() -> impl Strategy<Value = Vec<Option<Verdict>>> {
    let verdict = prop_oneof![
        4 => Just(Some(Verdict::Accepted)),
        3 => Just(Some(Verdict::Rejected)),
        1 => Just(None),
    ];
    prop::collection::vec(verdict, 1..5)
}

fn moves() -> impl Strategy<Value = Move> {
    prop_oneof![
        8 => texts().prop_map(Move::Write),
        1 => Just(Move::Fail),
        1 => Just(Move::Restart),
        1 => (0..LINES).prop_map(Move::UserEdits),
        8 => verdicts().prop_map(Move::Decide),
        2 => (0..4usize).prop_map(Move::Comment),
        1 => texts().prop_map(Move::Edit),
        1 => Just(Move::WithdrawEdit),
        1 => (0..4usize).prop_map(Move::Split),
        1 => (0..4usize).prop_map(Move::TakeBack),
        1 => (0..2usize).prop_map(Move::Ask),
        1 => (0..3usize).prop_map(Move::Lift),
        6 => Just(Move::Finish(Finish::Decided)),
        1 => prop::sample::select(vec![
            Finish::AcceptAll, Finish::ApplyAnyway, Finish::RefuseAll, Finish::RefuseRest, Finish::Stop,
        ]).prop_map(Move::Finish),
        1 => Just(Move::Interrupt),
        2 => prop::sample::select(vec![Resume::Continue, Resume::Review, Resume::Skip, Resume::Discard])
            .prop_map(Move::Resume),
        2 => prop::sample::select(vec![
            RedChoice::ApplyAnyway, RedChoice::Edit, RedChoice::RunAgain, RedChoice::Discard,
        ]).prop_map(Move::Choose),
    ]
}

fn nth_hunk(world: &World, number: usize) -> HunkId {
    let hunk = world.turn.review().and_then(|review| {
        let count = review.hunks().count().max(1);
        review.hunks().nth(number % count).map(|hunk| hunk.id.clone())
    });
    hunk.unwrap_or(HunkId("none".into()))
}

/// Makes a move. Whether it was taken or refused, a refusal changes nothing.
fn play(world: &mut World, number: usize, next: Move) {
    let input = match next {
        Move::Write(text) => {
            if matches!(world.turn.phase(), Phase::Model) {
                world.worktree = tree(&text);
            }
            Input::ModelStopped { words: String::new() }
        }
        Move::Fail => Input::Failed { reason: "no".into() },
        Move::Restart => Input::Restarted,
        Move::UserEdits(line) => {
            let text = world.user_text().replace(&format!("line {line}\n"), "mine\n");
            world.user = tree(&text);
            return;
        }
        Move::Decide(verdicts) => {
            let Some(review) = world.turn.review() else { return };
            let hunks: Vec<HunkId> = review.hunks().map(|hunk| hunk.id.clone()).collect();
            for (hunk, verdict) in hunks.into_iter().zip(verdicts.into_iter().cycle()) {
                let _refused = world.try_give(Input::Decide { hunk, verdict });
            }
            return;
        }
        Move::Comment(at) => {
            let (id, hunk) = (CommentId(number.to_string()), nth_hunk(world, at));
            Input::Comment(Comment { id, hunk, text: format!("said {number}"), place: Place::Hunk })
        }
        Move::Edit(text) => {
            if world.turn.review().is_none_or(|review| review.file(&path()).is_none()) {
                return;
            }
            Input::Edit { path: path(), edited: Some(world.edited(&text)) }
        }
        Move::WithdrawEdit => Input::Edit { path: path(), edited: None },
        Move::Split(at) => {
            let hunk = nth_hunk(world, at);
            let rows =
                world.turn.review().and_then(|review| review.hunk(&hunk)).map(crate::split::split_rows);
            Input::Split { hunk, at: rows.unwrap_or_default() }
        }
        Move::TakeBack(at) => {
            if world.turn.review().is_some() && at < world.accepted_hunks().len() {
                let before = world.turn.clone();
                if world.take_back(at).is_err() {
                    assert_eq!(world.turn, before);
                }
            }
            return;
        }
        Move::Ask(at) => {
            let refused = world.turn.review().and_then(|review| review.refused().nth(at));
            Input::Ask(refused.map_or(HunkId("none".into()), |(_, hunk)| hunk.id.clone()))
        }
        Move::Lift(at) => {
            let constraint = world.turn.constraints().get(at);
            Input::Lift(constraint.map_or(ConstraintId("none".into()), |constraint| constraint.id.clone()))
        }
        Move::Finish(how) => Input::Finish(how),
        Move::Interrupt => Input::Interrupt,
        Move::Resume(how) => Input::Resume(how),
        Move::Choose(choice) => Input::Choose(choice),
    };
    let before = world.turn.clone();
    if world.try_give(input).is_err() {
        assert_eq!(world.turn, before, "what is refused changes nothing");
    }
}

fn settings() -> impl Strategy<Value = Settings> {
    (prop::bool::ANY, 1..4u32, 1..5u32, 1..4u32, prop::bool::ANY).prop_map(
        |(gate, attempts, max_rounds, floor, setup)| Settings {
            gates: if gate { vec!["test".into()] } else { Vec::new() },
            setup: Setup { copied: Vec::new(), command: setup.then(|| "npm ci".into()) },
            attempts,
            max_rounds,
            floor,
            ..Settings::default()
        },
    )
}

fn is_broken(tree: &Tree) -> bool {
    tree.get(&path()).is_some_and(|file| file.bytes.0.windows(6).any(|part| part == b"broken"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2500, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    /// Random moves of model and user; the [`Watch`] looks on.
    #[test]
    fn a_turn_keeps_its_promises_whatever_model_and_user_do(
        settings in settings(),
        moves in prop::collection::vec(moves(), 1..60),
    ) {
        let mut world = World::start(settings, &start_text());
        world.red = is_broken;
        for (number, next) in moves.into_iter().enumerate() {
            play(&mut world, number, next);
        }
    }

    /// The user's own tree under review: only what was rejected one by one goes, and no model is asked.
    #[test]
    fn a_review_of_the_users_own_tree_takes_out_what_was_rejected_and_nothing_else(
        text in texts(),
        moves in prop::collection::vec(moves(), 1..12),
    ) {
        let (head, user) = (tree(&start_text()), tree(&text));
        let mut world = World::start_review(head.clone(), user.clone());
        for (number, next) in moves.into_iter().enumerate() {
            if matches!(next, Move::UserEdits(_) | Move::Edit(_)) {
                continue;
            }
            let review = world.turn.review().cloned();
            play(&mut world, number, next);
            if let (Some(review), Some(_)) = (review, &world.ended) {
                let kept: Vec<&Hunk> = review
                    .hunks()
                    .filter(|hunk| review.verdict(&hunk.id) != Some(Verdict::Rejected))
                    .collect();
                let expected = match world.before_applies.is_empty() {
                    true => user.clone(),
                    false => Tree::from([(path(), compose(head.get(&path()), &kept).unwrap().unwrap())]),
                };
                prop_assert_eq!(&world.user, &expected);
                break;
            }
        }
        prop_assert!(world.told.is_empty());
    }
}

impl World {
    /// What must hold when the model is asked.
    pub(super) fn watch_ask(&self, message: &str) {
        assert!(!self.watch.silenced, "the model is not asked once the turn is over");
        let settings = self.turn.settings();
        assert!(self.turn.reproposals() < settings.floor, "the model is not asked after the floor");
        assert!(self.turn.round().0 <= settings.max_rounds, "the model is not asked after the last round");
        let holding: Vec<&Constraint> =
            self.turn.constraints().iter().filter(|own| own.standing == Standing::Holds).collect();
        let section = message.split_once("The user rejected the following changes in this turn.");
        let told = section.map(|(_, told)| told).unwrap_or_default();
        let entries = told.split("\n\n").filter(|entry| entry.contains(", round ")).count();
        assert_eq!(entries, holding.len(), "each constraint that holds stands once:\n{message}");
        for constraint in holding {
            for comment in &constraint.comments {
                assert!(told.contains(&format!("\"{comment}\"")), "{comment} is told:\n{message}");
            }
            let lines = constraint.hunk.changed_lines();
            let block: String = lines.iter().map(|line| format!("\n  {line}")).collect();
            assert!(told.contains(&block), "{block} is told:\n{message}");
        }
    }

    /// What must hold when a review opens.
    pub(super) fn watch_review(&self) {
        let Phase::Review(review) = self.turn.phase() else { panic!("a review is open") };
        if review.subject() != crate::review::Subject::Round {
            return;
        }
        let repeats = |hunk: &Hunk, constraint: &Constraint| {
            constraint.compared_in(self.turn.round())
                && !lifted_by(std::slice::from_ref(constraint), &[hunk], self.turn.settings().threshold)
                    .is_empty()
        };
        for hunk in review.hunks() {
            let constraints = self.turn.constraints();
            assert!(!constraints.iter().any(|own| repeats(hunk, own)), "{hunk:?} repeats a constraint");
        }
        for (refused, _) in review.refused() {
            let constraint = self.turn.constraints().iter().find(|own| own.id == refused.constraint).unwrap();
            assert!(constraint.compared_in(self.turn.round()), "the comment was answered, or there was none");
            let own = review.refused().filter(|(other, _)| other.constraint == refused.constraint);
            let own: Vec<&Hunk> = own.map(|(_, hunk)| hunk).collect();
            let threshold = self.turn.settings().threshold;
            let repeated = lifted_by(std::slice::from_ref(constraint), &own, threshold);
            assert!(!repeated.is_empty(), "{own:?} are refused and repeat nothing");
        }
        let asked = review.hunks().count() + review.refused().count();
        let proposed: usize = review.proposed().iter().map(|file| file.hunks.len()).sum();
        assert_eq!(asked, proposed, "no hunk is lost");
    }

    /// What must hold when the state that a review decided is composed.
    pub(super) fn watch_composed(&self, onto: &Tree, composed: &Tree) {
        let Phase::Composing { review, .. } = self.turn.phase() else { return };
        let accepted: Vec<&Hunk> = review.with_verdict(Verdict::Accepted).collect();
        let expected = match review.edited(&path()) {
            Some(edited) => Some(edited.file.clone()),
            None => compose(onto.get(&path()), &accepted).unwrap(),
        };
        assert_eq!(
            composed.get(&path()),
            expected.as_ref(),
            "the worktree holds what was accepted, and no more"
        );
    }

    /// What must hold when something is written into the user's tree.
    pub(super) fn watch_apply(&self, before: &Tree, base: &Tree, accepted: &Tree) {
        if before == base {
            assert_eq!(&self.user, accepted, "what is applied is the base and what was accepted");
        }
        let gated = !self.turn.settings().gates.is_empty();
        if gated && !self.watch.may_apply_red {
            assert!(!(self.red)(accepted) || (self.red)(base), "a red state is not applied by itself");
        }
        // An undo is an apply of what was before onto what was written.
        for path in before.keys().chain(self.user.keys()) {
            let (old, new) = (before.get(path), self.user.get(path));
            match plan_file(new, old, new).write {
                Write::Leave => assert_eq!(old, new),
                Write::Put(file) => assert_eq!(old, Some(&file), "undone is as before"),
                Write::Delete => assert_eq!(old, None),
            }
        }
    }
}
