use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{ModelSettings, WirePath};

/// A hunk's name, made of its content: the same change keeps it, another change never gets it.
pub type HunkId = String;
/// A constraint's name.
pub type ConstraintId = String;

/// Where a turn is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PhaseName {
    /// No turn is open.
    Idle,
    /// The user's tree is being recorded.
    Snapshot,
    /// The worktree is being set up.
    Setup,
    /// The model works.
    Model,
    /// What the model changed is compared with what was rejected.
    Screen,
    /// Gates run on what the model proposes.
    Gates,
    /// The user reviews.
    Review,
    /// Gates run on what the user accepted.
    AcceptedGates,
    /// The accepted state is red; the user chooses.
    Red,
    /// Accepted hunks are being written.
    Apply,
    /// The turn has ended.
    Ended,
}

/// All that a window shows of one session, at one revision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct SessionView {
    /// The session.
    pub session: String,
    /// The repository it works in.
    pub repo: String,
    /// The first words of its first prompt.
    pub title: String,
    /// Counts every change of this view.
    pub revision: u64,
    /// Where the latest turn is.
    pub phase: PhaseName,
    /// The latest turn's number, from 1; 0 before the first.
    pub turn: u32,
    /// The latest turn's round, from 1; 0 before the first.
    pub round: u32,
    /// The model stop inside the round, from 1.
    pub attempt: u32,
    /// `[review] max_rounds`.
    pub max_rounds: u32,
    /// Re-proposals refused in the latest turn.
    pub reproposals: u32,
    /// At so many the model is not asked again in this turn.
    pub floor: u32,
    /// Why the turn is held, where it is; then `turn/resume` goes on.
    pub held: Option<Held>,
    /// The session's model.
    pub model: Option<ModelSettings>,
    /// The latest results of the turn's gates.
    pub gates: Vec<GateView>,
    /// The composer's text.
    pub draft: String,
    /// The open review, and the red accepted state where the phase is `red`.
    pub review: Option<Review>,
    /// Everything said and done, oldest first.
    pub messages: Vec<Message>,
}

/// Why a turn is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Held {
    /// In words for the user.
    pub reason: String,
    /// How it came to it.
    pub cause: HeldCause,
    /// What the failed setup printed, colours removed; empty for other causes.
    pub output: String,
}

/// How a turn came to be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HeldCause {
    /// Model, network or disk failed.
    Failed,
    /// The app was stopped while model or gates worked.
    CutOff,
    /// The worktree could not be set up.
    Setup,
}

/// One entry of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Message {
    /// The user's prompt.
    Prompt {
        /// Turn.
        turn: u32,
        /// The user's words.
        text: String,
    },
    /// What the model said.
    Model {
        /// Turn.
        turn: u32,
        /// Round.
        round: u32,
        /// Markdown, untrusted.
        text: String,
    },
    /// A tool call that has done its work.
    Tool(ToolCall),
    /// A text given to the model in the user's role, whole and exact: a review's result, a gate's failure.
    Told {
        /// Turn.
        turn: u32,
        /// Round that it closes.
        round: u32,
        /// The text.
        text: String,
    },
    /// A finished review.
    Reviewed {
        /// Turn.
        turn: u32,
        /// Round.
        round: u32,
        /// Hunks accepted.
        accepted: u32,
        /// Hunks rejected by the user.
        rejected: u32,
        /// Hunks not reached.
        undecided: u32,
        /// Comments given.
        comments: u32,
        /// Re-proposals refused before the review.
        reproposed: u32,
    },
    /// The turn's ending.
    Ended(TurnEnded),
    /// What the turn applied was taken back.
    Undone {
        /// Turn.
        turn: u32,
        /// Files that are as they were before.
        restored: u32,
        /// Files in which something stays.
        left: u32,
    },
}

/// A tool call that has done its work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolCall {
    /// Turn.
    pub turn: u32,
    /// Round.
    pub round: u32,
    /// The tool: `list find search read edit write move delete run`.
    pub name: String,
    /// What it was about: a path, a pattern, a command.
    pub target: String,
    /// What came of it, in a few words: `112 lines`, `exit 0`, or the error.
    pub outcome: String,
    /// Whether the tool refused or failed.
    pub failed: bool,
    /// The model's reason, where the tool edits.
    pub rationale: Option<String>,
    /// Lines added and removed, where the tool edits.
    pub counts: Option<Counts>,
    /// What the model was given back, whole.
    pub detail: String,
    /// How long it took.
    pub millis: u32,
}

/// Changed lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Counts {
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct TurnEnded {
    /// Turn.
    pub turn: u32,
    /// The kind of ending.
    pub ending: EndingName,
    /// What was written, or was there already.
    pub applied: Vec<AppliedFile>,
    /// Files with a hunk that was set aside.
    pub set_aside: Vec<WirePath>,
    /// Re-proposals refused in the turn.
    pub reproposals: u32,
    /// Rounds of the turn.
    pub rounds: u32,
    /// Whether `turn/undo` can take something back.
    pub can_undo: bool,
    /// The one line of the status bar.
    pub message: String,
}

/// The kinds of ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum EndingName {
    /// Accepted hunks are in the user's tree.
    Applied,
    /// Nothing was changed.
    Answered,
    /// The user refused the round whole.
    Refused,
    /// The review was stopped partway.
    Stopped,
    /// Too many re-proposals.
    Floor,
    /// The user interrupted.
    Interrupted,
    /// The last round still left something rejected.
    OutOfRounds,
    /// A gate was red and nothing was applied.
    Red,
    /// Model, network or disk failed.
    Failed,
    /// It was a review of the user's own tree.
    Reviewed,
}

/// A file that an apply wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AppliedFile {
    /// The file.
    pub path: WirePath,
    /// Hunks that landed or were there already.
    pub hunks: u32,
}

/// What a gate is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct GateDefinition {
    /// Its name.
    pub name: String,
    /// What it runs.
    pub run: String,
}

/// A gate and its latest result in this turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct GateView {
    /// Its name.
    pub name: String,
    /// The result.
    pub result: GateResult,
    /// How long it took.
    pub seconds: Option<f64>,
    /// What it printed, colours removed.
    pub output: String,
    /// Why it could not run, where it could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<String>,
    /// Files that it wrote and that were put back.
    pub put_back: Vec<WirePath>,
}

/// What came of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum GateResult {
    /// Exit 0.
    Green,
    /// Another exit.
    Red,
    /// Red on the base too.
    RedBefore,
    /// Not run, or not agreed to.
    NotRun,
    /// It could not be started, or ran out of time.
    CouldNotRun,
    /// The user stopped it.
    Stopped,
    /// It runs now.
    Running,
}

/// A review.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Review {
    /// What is reviewed.
    pub of: Reviewed,
    /// Round.
    pub round: u32,
    /// The session's revision that this is.
    pub revision: u64,
    /// Whether the round was interrupted.
    pub interrupted: bool,
    /// Whether no round can follow.
    pub last: bool,
    /// Whether verdicts can be given; comments can be even while gates still run.
    pub decidable: bool,
    /// What earlier rounds of the turn accepted.
    pub accepted_so_far: Vec<AppliedFile>,
    /// The first page.
    pub brief: Brief,
    /// What was rejected in this turn.
    pub constraints: Vec<ConstraintView>,
    /// The change, file by file.
    pub files: Vec<FileView>,
}

/// What a review is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Reviewed {
    /// What the round proposes.
    Round,
    /// All that the turn accepted, once more.
    Accepted,
    /// The user's own tree.
    Tree,
}

/// A review's first page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Brief {
    /// The model's closing words, Markdown, untrusted.
    pub summary: String,
    /// Model stops in this round.
    pub attempts: u32,
    /// Gates on what is proposed.
    pub gates: Vec<GateView>,
    /// What was refused before the review.
    pub reproposed: Vec<ReproposedView>,
    /// Files with a hunk set aside earlier in the turn.
    pub set_aside: Vec<SetAsideView>,
    /// Files written under an ignored path; not part of the review.
    pub ignored: Vec<WirePath>,
}

/// A hunk refused as a re-proposal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ReproposedView {
    /// For `review/ask`.
    pub id: HunkId,
    /// The file.
    pub path: WirePath,
    /// `lines a-b`, or what the item is.
    pub what: String,
    /// The round in which it was rejected.
    pub round: u32,
    /// The share of the rejected hunk's lines that came back, 0 to 1.
    pub share: f64,
    /// Its rows.
    pub rows: Vec<Row>,
    /// Which of its rows repeat what was rejected, from 0.
    pub matched: Vec<u32>,
    /// The model's reason.
    pub rationale: Option<String>,
    /// Whether it can be asked about: the worktree held it when the model stopped last.
    pub askable: bool,
}

/// A file with a hunk that was set aside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct SetAsideView {
    /// The file.
    pub path: WirePath,
    /// Why.
    pub reason: String,
}

/// A rejected hunk, for the rest of the turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ConstraintView {
    /// For `review/lift`.
    pub id: ConstraintId,
    /// The file.
    pub path: WirePath,
    /// The round of the rejection.
    pub round: u32,
    /// The user's words.
    pub comments: Vec<String>,
    /// Whether it no longer holds.
    pub lifted: bool,
}

/// A changed file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct FileView {
    /// The file.
    pub path: WirePath,
    /// The name it had, where it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub old_path: Option<WirePath>,
    /// What happened to it.
    pub change: ChangeName,
    /// Why *Accept all* leaves it out, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub marked: Option<String>,
    /// Whether the user can put text of their own in its place.
    pub editable: bool,
    /// Changed lines of the whole file.
    pub counts: Counts,
    /// Its reviewable changes, in order.
    pub hunks: Vec<HunkView>,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ChangeName {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// Its lines differ.
    Modified,
    /// Its mode differs.
    Mode,
    /// It is, or was, a symbolic link.
    Symlink,
    /// Its bytes differ, and are no text.
    Binary,
    /// It has another name, and perhaps other lines too.
    Renamed,
    /// Its lines differ in their ends alone.
    LineEndings,
}

/// One reviewable change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct HunkView {
    /// Its name.
    pub id: HunkId,
    /// Its number in the file, from 1.
    pub number: u32,
    /// `lines a-b`, or what the item is: `file deleted`, `mode 644 -> 755`, `binary`, `symlink`.
    pub what: String,
    /// First and last line before, context included; both 0 where there is none.
    pub old: (u32, u32),
    /// First and last line proposed, context included; both 0 where there is none.
    pub new: (u32, u32),
    /// As in a unified diff: `@@ -20,7 +20,9 @@ fn secret()`; empty for an item without lines.
    pub header: String,
    /// The function or section it lies in, where one can be told.
    pub context: String,
    /// How many rows it has.
    pub row_count: u32,
    /// Rows at which it can be split, from 0: one in each gap between its changes.
    pub split_at: Vec<u32>,
    /// Whether it changes lines that the user wrote in an earlier round's edit.
    pub changes_your_edit: bool,
    /// What was rejected in another file, where this is a copy of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub copy_of: Option<CopyOf>,
    /// Its rows; left out where `rows` was false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rows: Option<Vec<Row>>,
    /// Changed lines.
    pub counts: Counts,
    /// The model's own reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rationale: Option<String>,
    /// What it answers, where a rejection with a comment stands at this place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub answers: Option<Answered>,
    /// The verdict.
    pub verdict: Option<VerdictView>,
    /// The user's comments.
    pub comments: Vec<CommentView>,
}

/// A rejection with a comment, as shown above the hunk that answers it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Answered {
    /// The round of the rejection.
    pub round: u32,
    /// The rejected rows.
    pub rows: Vec<Row>,
    /// The user's words.
    pub comments: Vec<String>,
    /// Whether the model proposes the very same again.
    pub unchanged: bool,
}

/// The user's verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum VerdictName {
    /// It lands.
    Accept,
    /// It does not, and is a constraint.
    Reject,
}

/// A rejection in another file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CopyOf {
    /// The file.
    pub path: WirePath,
    /// The round of the rejection.
    pub round: u32,
}

/// What was decided on a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum VerdictView {
    /// Accepted.
    Accept,
    /// Rejected.
    Reject,
    /// The user's own text of the file decided it.
    Edited,
}

/// A comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CommentView {
    /// Its name.
    pub id: String,
    /// The user's words, exactly.
    pub text: String,
    /// The line it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub line: Option<u32>,
    /// The side `line` counts on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub side: Option<Side>,
}

/// A side of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Before.
    Old,
    /// Proposed.
    New,
}

/// One row of a hunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Row {
    /// `" "` unchanged, `"+"` added, `"-"` removed.
    pub kind: RowKind,
    /// Its line number before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub old: Option<u32>,
    /// Its line number proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub new: Option<u32>,
    /// The line without its end; bytes that are not UTF-8 shown as the replacement character.
    pub text: String,
    /// Whether the file ends here without a line end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub no_newline: bool,
    /// Colours: start, end (UTF-16 units of `text`) and class (`k s c n m t f v p o g a`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<(u32, u32, String)>>")]
    pub spans: Vec<(u32, u32, String)>,
    /// Changed words: start and end in UTF-16 units of `text`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<(u32, u32)>>")]
    pub marks: Vec<(u32, u32)>,
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub enum RowKind {
    /// On both sides.
    #[serde(rename = " ")]
    Context,
    /// Only proposed.
    #[serde(rename = "+")]
    Added,
    /// Only before.
    #[serde(rename = "-")]
    Removed,
}
