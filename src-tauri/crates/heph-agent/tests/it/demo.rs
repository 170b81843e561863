//! The demo, played against the turn itself: whatever the user makes of round 1, the model has an
//! answer that fits what is then in the worktree.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use heph_agent::{Agent, AgentEvent, ToolDone, replay::ReplayModel, replay::Script};
use heph_core::{
    apply::FileReport,
    compose::compose,
    diff::{Hunk, hunks},
    file::{File, FileChange, Mode},
    id::{CommentId, TreeId},
    path::RepoPath,
    rationale::{EditNote, attribute},
    review::{Comment, Place, Review, Verdict},
    text::Bytes,
    turn::{Effect, Ending, EndingKind, Finish, Input, Opening, Phase, Settings, Turn, step},
};
use tokio_util::sync::CancellationToken;

const PROMPT: &str = "The signing secret is hard-coded in src/auth.rs. Take it out of the source, and make a bad \
                      token an error instead of a panic.";

/// The rationales of round 1, in the order of the review.
const SECRET: &str = "Read the JWT secret from the environment so the key never lands in the binary.";
const ERRORS: &str = "Make a malformed token an error instead of a panic.";
const CHECK: &str = "Stop at the start, not at a login, without a key.";
const STATUS: &str = "Answer a bad token with a 401, not with a crash.";
const ROUND_1: [&str; 4] = [SECRET, ERRORS, CHECK, STATUS];

/// The user's word on a hunk of round 1.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Word {
    Accept,
    Reject,
    RejectWith(&'static str),
}

type Tree = BTreeMap<RepoPath, File>;

/// A turn of the demo, with trees kept in memory.
struct Play {
    worktree: tempfile::TempDir,
    agent: Agent,
    trees: Vec<Tree>,
    turn: Turn,
    notes: Vec<EditNote>,
    used: Vec<ToolDone>,
}

fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../demo")
}

impl Play {
    fn start() -> (Play, Vec<Effect>) {
        let script = fs::read_to_string(demo().join("demo.replay.toml")).unwrap();
        let script =
            Script::parse(&script.replace("delay_ms = 300", "delay_ms = 0"), "demo.replay.toml").unwrap();
        let agent = Agent::new(Box::new(ReplayModel::new(script, &[])), Vec::new());
        let (turn, effects) = Turn::start(Settings::default(), Opening::Prompt(PROMPT.into()));
        let worktree = tempfile::tempdir().unwrap();
        let play = Play { worktree, agent, trees: Vec::new(), turn, notes: Vec::new(), used: Vec::new() };
        play.write(&tree_in(&demo().join("repo")));
        (play, effects)
    }

    /// Plays the turn to its end. `review` decides what each open review is answered with.
    async fn play_out(
        mut self,
        effects: Vec<Effect>,
        review: impl Fn(u32, &Review) -> Vec<Input>,
    ) -> (Play, Ending) {
        let mut effects = std::collections::VecDeque::from(effects);
        while let Some(effect) = effects.pop_front() {
            let inputs = match effect {
                Effect::Begin => vec![Input::Begun { base: self.keep(tree_in(self.worktree.path())) }],
                Effect::AskModel { message } => vec![self.ask(message).await],
                Effect::ReadWorktree { accepted } => vec![self.read(&accepted)],
                Effect::Compose { onto, hunks, .. } => vec![self.compose(&onto, &hunks)],
                Effect::OpenReview { .. } => match self.turn.phase() {
                    Phase::Review(open) => review(self.turn.round().0, open),
                    other => panic!("no review is open: {other:?}"),
                },
                Effect::Apply { accepted, .. } => {
                    vec![Input::Applied { files: self.report(), base: accepted, written: None }]
                }
                Effect::End(ending) => return (self, ending),
                Effect::TellNext { .. } | Effect::Reviewed(_) => Vec::new(),
                other => panic!("the demo has no use for {other:?}"),
            };
            for input in inputs {
                let (turn, more) = step(&self.turn, input).unwrap();
                self.turn = turn;
                effects.extend(more);
            }
        }
        panic!("the turn has no end: {:?}", self.turn.phase());
    }

    async fn ask(&mut self, message: String) -> Input {
        self.notes.clear();
        let (notes, used) = (&mut self.notes, &mut self.used);
        let mut events = |event| {
            if let AgentEvent::Tool(done) = event {
                notes.extend(done.notes.clone());
                used.push(done);
            }
        };
        let cancel = CancellationToken::new();
        let stopped = self.agent.work(message, self.worktree.path(), &mut events, &cancel).await.unwrap();
        Input::ModelStopped { words: stopped.text }
    }

    fn read(&mut self, accepted: &TreeId) -> Input {
        let (old, new) = (self.tree(accepted).clone(), tree_in(self.worktree.path()));
        let paths: BTreeSet<RepoPath> = old.keys().chain(new.keys()).cloned().collect();
        let changed = paths.into_iter().filter(|path| old.get(path) != new.get(path));
        let files = changed.map(|path| {
            let (old, new) = (old.get(&path).cloned(), new.get(&path).cloned());
            let side = |file: &Option<File>| file.clone().map(|file| file.bytes.0).unwrap_or_default();
            let (before, after) = (side(&old), side(&new));
            let mut file = hunks(&FileChange { path, old_path: None, old, new });
            attribute(&mut file, &before, &after, &self.notes);
            file
        });
        let files = files.collect();
        Input::Read { tree: self.keep(new), files, ignored: Vec::new() }
    }

    fn compose(&mut self, onto: &TreeId, chosen: &[Hunk]) -> Input {
        let mut tree = self.tree(onto).clone();
        for path in chosen.iter().map(|hunk| hunk.path.clone()).collect::<BTreeSet<_>>() {
            let own: Vec<&Hunk> = chosen.iter().filter(|hunk| hunk.path == path).collect();
            match compose(tree.get(&path), &own).unwrap() {
                Some(file) => tree.insert(path, file),
                None => tree.remove(&path),
            };
        }
        self.write(&tree);
        Input::Composed { tree: self.keep(tree) }
    }

    fn report(&self) -> Vec<FileReport> {
        let paths: BTreeSet<_> = self.turn.accepted_so_far().keys().cloned().collect();
        let report = |path| FileReport { path, landed: 1, already_there: 0, set_aside: None, current: None };
        paths.into_iter().map(report).collect()
    }

    fn keep(&mut self, tree: Tree) -> TreeId {
        let known = self.trees.iter().position(|other| *other == tree);
        let index = known.unwrap_or_else(|| {
            self.trees.push(tree);
            self.trees.len() - 1
        });
        TreeId(index.to_string())
    }

    fn tree(&self, id: &TreeId) -> &Tree {
        &self.trees[id.0.parse::<usize>().unwrap()]
    }

    fn write(&self, tree: &Tree) {
        for (path, file) in tree {
            let path = self.worktree.path().join(path.display());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &file.bytes.0).unwrap();
        }
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.worktree.path().join(path)).unwrap()
    }
}

fn tree_in(folder: &Path) -> Tree {
    let walk = ignore::WalkBuilder::new(folder).hidden(false).require_git(false).build();
    let files = walk.map(Result::unwrap).filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let file = |entry: ignore::DirEntry| {
        let path = RepoPath::new(entry.path().strip_prefix(folder).unwrap().to_str().unwrap()).unwrap();
        (path, File { mode: Mode::Regular, bytes: Bytes(fs::read(entry.path()).unwrap()) })
    };
    files.map(file).collect()
}

/// The answer to a review: round 1 hunk by hunk, the others are accepted.
fn decide(words: [Word; 4], round: u32, review: &Review) -> Vec<Input> {
    if round > 1 {
        return vec![Input::Finish(Finish::AcceptAll)];
    }
    let mut inputs = Vec::new();
    for (index, (hunk, word)) in review.hunks().zip(words).enumerate() {
        assert_eq!(hunk.rationale.as_deref(), Some(ROUND_1[index]));
        let verdict = if word == Word::Accept { Verdict::Accepted } else { Verdict::Rejected };
        inputs.push(Input::Decide { hunk: hunk.id.clone(), verdict: Some(verdict) });
        if let Word::RejectWith(text) = word {
            let (id, hunk) = (CommentId(index.to_string()), hunk.id.clone());
            inputs.push(Input::Comment(Comment { id, hunk, text: text.into(), place: Place::Hunk }));
        }
    }
    inputs.push(Input::Finish(Finish::Decided));
    inputs
}

async fn played(words: [Word; 4]) -> (Play, Ending) {
    let (play, effects) = Play::start();
    play.play_out(effects, |round, review| decide(words, round, review)).await
}

const IN_THE_FILE: Word = Word::RejectWith("put it in the config file instead, not the environment");

#[tokio::test]
async fn round_1_proposes_the_secret_first_and_four_hunks_in_two_files() {
    let (play, effects) = Play::start();
    let seen = |_: u32, review: &Review| {
        let shown: Vec<_> =
            review.hunks().map(|hunk| (hunk.path.display(), hunk.rationale.clone().unwrap())).collect();
        let files = ["src/auth.rs", "src/auth.rs", "src/main.rs", "src/main.rs"].map(String::from);
        assert_eq!(shown, files.into_iter().zip(ROUND_1.map(String::from)).collect::<Vec<_>>());
        vec![Input::Finish(Finish::AcceptAll)]
    };
    let (play, ending) = play.play_out(effects, seen).await;
    assert_eq!((ending.kind, ending.rounds), (EndingKind::Applied, 1));
    assert!(play.text("src/auth.rs").contains("std::env::var(\"JWT_SECRET\")"));
}

#[tokio::test]
async fn a_comment_on_the_secret_moves_it_to_the_config_file_in_round_2() {
    let (play, ending) = played([IN_THE_FILE, Word::Accept, Word::Accept, Word::Accept]).await;
    assert_eq!((ending.kind, ending.rounds, ending.reproposals), (EndingKind::Applied, 2, 0));
    assert!(play.text("src/auth.rs").contains("self.config.secret.clone()"));
    assert!(play.text("gatehouse.example.toml").ends_with("\nsecret = \"\"\n"));
}

#[tokio::test]
async fn a_hunk_rejected_without_a_comment_comes_back_once_and_is_refused() {
    let (play, ending) = played([IN_THE_FILE, Word::Accept, Word::Reject, Word::Accept]).await;
    assert_eq!((ending.kind, ending.rounds, ending.reproposals), (EndingKind::Applied, 3, 1));
    assert!(!play.text("src/main.rs").contains("auth.signing_key();"));
    assert!(play.text("src/auth.rs").contains("self.config.secret.clone()"));
}

#[tokio::test]
async fn whatever_is_made_of_round_1_no_later_step_misses_and_only_accepted_hunks_stay() {
    let words = |index: usize| [Word::Accept, Word::Reject, Word::RejectWith("do it differently")][index % 3];
    for combination in 0..81 {
        let words = [0, 1, 2, 3].map(|place| words(combination / 3usize.pow(place)));
        let (play, ending) = played(words).await;
        let missed: Vec<_> = play.used.iter().filter(|done| done.failed).collect();
        assert!(missed.is_empty(), "{words:?}: {missed:?}");
        let (auth, main) = (play.text("src/auth.rs"), play.text("src/main.rs"));
        let kept = [
            auth.contains("std::env::var"),
            auth.contains("ok_or(TokenError::Invalid)"),
            main.contains("auth.signing_key();"),
            main.contains("401 Unauthorized"),
        ];
        // A change rejected with a comment may be shown again as it was; this model knows better.
        assert_eq!(kept, words.map(|word| word == Word::Accept), "{words:?}");
        assert_eq!(auth.contains("self.config.secret"), words[0] != Word::Accept, "{words:?}");
        // With the secret in place the model fights for the first hunk that is missing, else for one
        // that nobody commented on; never for two at once, which would end the turn.
        let others = &words[1..];
        let comes_back = match words[0] {
            Word::Accept => others.iter().find(|&&word| word != Word::Accept) == Some(&Word::Reject),
            _ => others.contains(&Word::Reject),
        };
        assert_eq!(ending.reproposals, u32::from(comes_back), "{words:?}");
    }
}
