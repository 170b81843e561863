//! A world of trees in memory in which turns are played, and the tests that play them.

mod laws;
mod turns;
mod verbs;

use super::*;
use crate::{
    apply::{FileReport, Write, plan_file},
    compose::compose,
    constraint::Standing,
    diff::{FileHunks, edits, hunks},
    file::{File, FileChange, Mode},
    id::{CommentId, HunkId},
    review::{Comment, Edited, Place, Verdict},
    text::Bytes,
};

type Tree = BTreeMap<RepoPath, File>;

/// What the user was seen to do, and what follows from it.
#[derive(Clone, Default)]
struct Watch {
    /// They ended the turn: the model is not to be asked again.
    silenced: bool,
    /// They want a red state applied.
    may_apply_red: bool,
}

/// A world of trees in memory that carries out what a turn asks for.
struct World {
    turn: Turn,
    trees: BTreeMap<TreeId, Tree>,
    worktree: Tree,
    user: Tree,
    /// What the user's tree is reviewed against.
    head: Tree,
    /// What comes of setting the worktree up.
    setup: SetupResult,
    told: Vec<String>,
    told_next: Vec<String>,
    /// The user's tree before each apply.
    before_applies: Vec<Tree>,
    ended: Option<Ending>,
    watch: Watch,
    /// Whether a gate is red on a tree.
    red: fn(&Tree) -> bool,
}

fn file(text: &str) -> File {
    File { mode: Mode::Regular, bytes: Bytes(text.into()) }
}

fn path() -> RepoPath {
    RepoPath::new("src/a.rs").unwrap()
}

fn tree(text: &str) -> Tree {
    Tree::from([(path(), file(text))])
}

impl World {
    fn start(settings: Settings, text: &str) -> World {
        World::open(settings, Opening::Prompt("Do it.".into()), tree(text), tree(text))
    }

    /// The user, whose tree differs from what was committed, reviews it.
    fn start_review(head: Tree, user: Tree) -> World {
        World::open(Settings::default(), Opening::Tree { rev: None }, head, user)
    }

    fn open(settings: Settings, opening: Opening, head: Tree, user: Tree) -> World {
        let (turn, effects) = Turn::start(settings, opening);
        let mut world = World {
            turn,
            trees: BTreeMap::new(),
            worktree: Tree::new(),
            user,
            head,
            setup: SetupResult::Done,
            told: Vec::new(),
            told_next: Vec::new(),
            before_applies: Vec::new(),
            ended: None,
            watch: Watch::default(),
            red: |_| false,
        };
        world.carry_out(effects);
        world
    }

    fn keep(&mut self, tree: Tree) -> TreeId {
        let id = TreeId(format!("{tree:?}"));
        self.trees.insert(id.clone(), tree);
        id
    }

    fn give(&mut self, input: Input) {
        self.try_give(input).unwrap();
    }

    fn try_give(&mut self, input: Input) -> Result<(), Refused> {
        let logged: Input = serde_json::from_str(&serde_json::to_string(&input).unwrap()).unwrap();
        assert_eq!(logged, input, "an input survives the log");
        let (turn, effects) = step(&self.turn, input.clone())?;
        self.turn = turn;
        // It holds from the moment the input is taken: its effects are carried out at once.
        match input {
            Input::Interrupt | Input::Finish(Finish::RefuseAll | Finish::Stop) => self.watch.silenced = true,
            Input::Finish(Finish::ApplyAnyway) => {
                (self.watch.silenced, self.watch.may_apply_red) = (true, true);
            }
            Input::Choose(RedChoice::ApplyAnyway) => self.watch.may_apply_red = true,
            _ => {}
        }
        self.carry_out(effects);
        Ok(())
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Begin => {
                    self.worktree = self.user.clone();
                    let base = self.keep(self.user.clone());
                    self.give(Input::Begun { base });
                }
                Effect::AskModel { message } => {
                    self.watch_ask(&message);
                    self.told.push(message);
                }
                Effect::ReadWorktree { accepted } => {
                    let old = self.trees[&accepted].clone();
                    let tree = self.keep(self.worktree.clone());
                    let files = diff(&old, &self.worktree);
                    self.give(Input::Read { tree, files, ignored: Vec::new() });
                }
                Effect::Compose { onto, hunks, edited } => {
                    let mut composed = self.trees[&onto].clone();
                    compose_all(&mut composed, &self.trees[&onto], &hunks);
                    for own in edited {
                        composed.insert(own.path, own.file);
                    }
                    self.watch_composed(&self.trees[&onto], &composed);
                    self.worktree = composed.clone();
                    let tree = self.keep(composed);
                    self.give(Input::Composed { tree });
                }
                Effect::SetUp(_) => self.give(Input::SetUp(self.setup.clone())),
                Effect::ReadTree { .. } => {
                    let files = diff(&self.head, &self.user);
                    let (against, tree) = (self.keep(self.head.clone()), self.keep(self.user.clone()));
                    self.give(Input::TreeRead { against, tree, files });
                }
                Effect::TakeOut { against, tree, files } => {
                    let mut left = self.trees[&tree].clone();
                    for TakenOut { kept, out } in files {
                        let path = out[0].path.clone();
                        let old = self.trees[&against].get(&path);
                        match compose(old, &kept.iter().collect::<Vec<_>>()).unwrap() {
                            Some(file) => left.insert(path, file),
                            None => left.remove(&path),
                        };
                    }
                    let tree = self.keep(left);
                    self.give(Input::Composed { tree });
                }
                Effect::Reopen { base, accepted } => {
                    let files = diff(&self.trees[&base], &self.trees[&accepted]);
                    self.give(Input::Reopened { files });
                }
                Effect::RunGates { tree, names, .. } => {
                    let red = (self.red)(&self.trees[&tree]);
                    let result = if red { GateResult::Red { exit: 1 } } else { GateResult::Green };
                    let run = |name: &String| GateRun {
                        name: name.clone(),
                        result: result.clone(),
                        seconds: 1.0,
                        output: "it broke\n".into(),
                        put_back: Vec::new(),
                    };
                    self.give(Input::GatesRan { tree, runs: names.iter().map(run).collect() });
                }
                Effect::Apply { base, accepted, .. } => self.apply(&base, &accepted),
                Effect::TellNext { message } => self.told_next.push(message),
                Effect::End(ending) => self.ended = Some(ending),
                Effect::StopModel => self.give(Input::ModelStopped { words: String::new() }),
                Effect::OpenReview { .. } => self.watch_review(),
                Effect::StopCommands | Effect::Reviewed(_) => {}
            }
        }
    }

    fn apply(&mut self, base: &TreeId, accepted: &TreeId) {
        let (base, accepted) = (self.trees[base].clone(), self.trees[accepted].clone());
        let mut files = Vec::new();
        self.before_applies.push(self.user.clone());
        for file in diff(&base, &accepted) {
            let path = file.path;
            let plan = plan_file(base.get(&path), accepted.get(&path), self.user.get(&path));
            match plan.write {
                Write::Leave => {}
                Write::Put(file) => drop(self.user.insert(path.clone(), file)),
                Write::Delete => drop(self.user.remove(&path)),
            }
            let current = self.user.get(&path).cloned();
            let (landed, already_there, set_aside) = (plan.landed, plan.already_there, plan.set_aside);
            files.push(FileReport { path, landed, already_there, set_aside, current });
        }
        self.watch_apply(&self.before_applies[self.before_applies.len() - 1], &base, &accepted);
        self.worktree = self.user.clone();
        let base = self.keep(self.user.clone());
        self.give(Input::Applied { files, base, written: None });
    }

    fn model_writes(&mut self, text: &str) {
        self.worktree = tree(text);
        self.give(Input::ModelStopped { words: "Done.".into() });
    }

    /// Everything is rejected, and the model writes anew.
    fn model_writes_again(&mut self, text: &str) {
        let hunks = self.turn.review().unwrap().hunks().count();
        self.verdicts(&vec![REJECT; hunks]);
        self.model_writes(text);
    }

    fn verdicts(&mut self, verdicts: &[(Verdict, &str)]) {
        let hunks: Vec<HunkId> = self.turn.review().unwrap().hunks().map(|hunk| hunk.id.clone()).collect();
        assert_eq!(hunks.len(), verdicts.len());
        for (number, (hunk, (verdict, comment))) in hunks.into_iter().zip(verdicts).enumerate() {
            if !comment.is_empty() {
                let id = CommentId(number.to_string());
                let text = (*comment).to_owned();
                self.give(Input::Comment(Comment { id, hunk: hunk.clone(), text, place: Place::Hunk }));
            }
            self.give(Input::Decide { hunk, verdict: Some(*verdict) });
        }
        self.give(Input::Finish(Finish::Decided));
    }

    /// The user puts `text` in the place of the proposed file.
    fn edit(&mut self, text: &str) {
        let edited = self.edited(text);
        self.give(Input::Edit { path: path(), edited: Some(edited) });
    }

    fn edited(&self, text: &str) -> Edited {
        let accepted = self.trees[self.turn.accepted()].get(&path()).cloned();
        let all: Vec<&Hunk> =
            self.turn.review().unwrap().hunks().filter(|hunk| hunk.path == path()).collect();
        let proposed = compose(accepted.as_ref(), &all).unwrap().unwrap();
        let change = FileChange { path: path(), old_path: None, old: accepted, new: Some(file(text)) };
        let own = edits(&proposed.bytes.0, text.as_bytes());
        Edited {
            file: file(text),
            hunks: hunks(&change).hunks,
            own: own.iter().map(|edit| edit.new_range()).collect(),
        }
    }

    /// What earlier rounds accepted, as hunks of the base.
    fn accepted_hunks(&self) -> Vec<Hunk> {
        let files = diff(&self.trees[self.turn.base()], &self.trees[self.turn.accepted()]);
        files.into_iter().flat_map(|file| file.hunks).collect()
    }

    /// The user takes back the accepted hunk of this number, from 0.
    fn take_back(&mut self, number: usize) -> Result<(), Refused> {
        let mut hunks = self.accepted_hunks();
        let hunk = hunks.remove(number);
        let base = self.trees[self.turn.base()].clone();
        let mut accepted = base.clone();
        compose_all(&mut accepted, &base, &hunks);
        let old = self.trees[self.turn.accepted()].clone();
        let mut proposed = old.clone();
        let all: Vec<Hunk> =
            self.turn.review().unwrap().proposed().iter().flat_map(|file| file.hunks.clone()).collect();
        compose_all(&mut proposed, &old, &all);
        let files = diff(&accepted, &proposed);
        let accepted = self.keep(accepted);
        self.try_give(Input::TakenBack { hunk, accepted, files })
    }

    fn user_text(&self) -> &str {
        std::str::from_utf8(&self.user[&path()].bytes.0).unwrap()
    }

    fn kind(&self) -> &EndingKind {
        &self.ended.as_ref().expect("the turn has ended").kind
    }
}

/// Puts into `tree` what `hunks` make of `old`.
fn compose_all(tree: &mut Tree, old: &Tree, hunks: &[Hunk]) {
    let mut by_path: BTreeMap<RepoPath, Vec<&Hunk>> = BTreeMap::new();
    hunks.iter().for_each(|hunk| by_path.entry(hunk.path.clone()).or_default().push(hunk));
    for (path, hunks) in by_path {
        match compose(old.get(&path), &hunks).unwrap() {
            Some(file) => tree.insert(path, file),
            None => tree.remove(&path),
        };
    }
}

fn diff(old: &Tree, new: &Tree) -> Vec<FileHunks> {
    let paths: BTreeSet<&RepoPath> = old.keys().chain(new.keys()).collect();
    let changed = paths.into_iter().filter(|path| old.get(path) != new.get(path));
    changed
        .map(|path| {
            let change = FileChange {
                path: path.clone(),
                old_path: None,
                old: old.get(path).cloned(),
                new: new.get(path).cloned(),
            };
            hunks(&change)
        })
        .collect()
}

fn base() -> String {
    (1..=40).map(|n| format!("line {n}\n")).collect()
}

fn changed(text: &str, lines: &[(u32, &str)]) -> String {
    lines
        .iter()
        .fold(text.to_owned(), |text, (n, new)| text.replace(&format!("line {n}\n"), &format!("{new}\n")))
}

const ACCEPT: (Verdict, &str) = (Verdict::Accepted, "");
const REJECT: (Verdict, &str) = (Verdict::Rejected, "");

fn with_gate() -> Settings {
    Settings { gates: vec!["test".into()], ..Settings::default() }
}
