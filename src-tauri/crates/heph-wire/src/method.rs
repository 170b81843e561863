use serde::{Deserialize, Serialize, de::DeserializeOwned};
use ts_rs::TS;

use crate::{
    ConstraintId, FileView, GateDefinition, HunkId, Review, Row, SessionView, Side, VerdictName, WirePath,
};

/// One method of the protocol: its name, and what goes in and comes out.
pub trait Method {
    /// The name on the wire.
    const NAME: &'static str;
    /// What the caller gives.
    type Params: Serialize + DeserializeOwned + TS;
    /// What the caller gets.
    type Result: Serialize + DeserializeOwned + TS;
}

macro_rules! methods {
    ($(#[doc = $doc:literal] $name:literal $method:ident ($params:ty) -> $result:ty;)+) => {
        $(
            #[doc = $doc]
            pub struct $method;
            impl Method for $method {
                const NAME: &'static str = $name;
                type Params = $params;
                type Result = $result;
            }
        )+

        /// Every method as a member of a TypeScript interface.
        pub(crate) fn members(cfg: &ts_rs::Config) -> Vec<String> {
            vec![$(format!(
                "/**{} */\n\"{}\": {{ params: {}; result: {} }};",
                $doc, $name, <$params as TS>::name(cfg), <$result as TS>::name(cfg)
            )),+]
        }

        /// Shows every type of every method to `visitor`.
        pub(crate) fn visit_types(visitor: &mut impl ts_rs::TypeVisitor) {
            $(visitor.visit::<$params>(); visitor.visit::<$result>();)+
        }

        /// The names of all methods.
        pub const METHOD_NAMES: &[&str] = &[$($name),+];
    };
}

methods! {
    /// Opens the repository that holds `path`. Runs nothing from it.
    "repo/open" RepoOpen(PathParams) -> OpenedRepo;
    /// Makes a fresh copy of the demo repository and opens it, with the replay model made for it.
    "repo/demo" RepoDemo(Empty) -> OpenedRepo;
    /// Repositories opened before, the latest first.
    "repo/recent" RepoRecent(Empty) -> RecentRepos;
    /// Agrees to what the repository would run, as shown under `digest`.
    "repo/trust" RepoTrust(TrustParams) -> Empty;
    /// Writes gates into the repository's `heph.toml`; they are agreed to with that.
    "repo/add_gates" RepoAddGates(AddGatesParams) -> OpenedRepo;
    /// Starts a session in a repository.
    "session/new" SessionNew(NewSessionParams) -> NewSession;
    /// The sessions of a repository, the latest first.
    "session/list" SessionList(RepoParams) -> Sessions;
    /// The whole view of a session, also after a crash.
    "session/load" SessionLoad(ViewParams) -> SessionView;
    /// Keeps the text of the composer.
    "session/draft" SessionDraft(DraftParams) -> Empty;
    /// Gives the model a prompt; opens a turn.
    "turn/start" TurnStart(PromptParams) -> StartedTurn;
    /// Stops model or gates at once; what is there is reviewed and the turn ends.
    "turn/interrupt" TurnInterrupt(SessionParams) -> Empty;
    /// Goes on after a turn was held: the model failed, or the app was killed.
    "turn/resume" TurnResume(ResumeParams) -> Empty;
    /// Takes back what an ended turn applied, as far as the user has not changed it since.
    "turn/undo" TurnUndo(TurnParams) -> Undone;
    /// What an ended turn set aside, as a patch of its base.
    "turn/set_aside" TurnSetAside(TurnParams) -> PatchText;
    /// The open review.
    "review/get" ReviewGet(ViewParams) -> Review;
    /// Rows `first..=last` (from 0) of one hunk, with colours and word marks.
    "review/rows" ReviewRows(RowsParams) -> Rows;
    /// Gives or clears the verdict on a hunk.
    "review/decide" ReviewDecide(DecideParams) -> Revised;
    /// Adds a comment to a hunk, or to one of its lines.
    "review/comment" ReviewComment(CommentParams) -> NewComment;
    /// Takes a comment back.
    "review/uncomment" ReviewUncomment(UncommentParams) -> Revised;
    /// Splits a hunk at unchanged rows; each part is a hunk of its own.
    "review/split" ReviewSplit(SplitParams) -> SplitHunks;
    /// The text of a proposed file, or of what the user made of it.
    "review/file" ReviewFile(FileParams) -> FileText;
    /// Puts the user's own text in the place of a proposed file; it decides all its hunks.
    "review/edit" ReviewEdit(EditParams) -> Revised;
    /// Opens a proposed file in `$VISUAL` or `$EDITOR`; what is saved there is taken as an edit.
    "review/edit_outside" ReviewEditOutside(FileParams) -> Empty;
    /// What earlier rounds of the turn accepted, as one diff.
    "review/accepted" ReviewAccepted(ViewParams) -> AcceptedDiff;
    /// Takes back a hunk that an earlier round accepted: it joins the open review, rejected.
    "review/take_back" ReviewTakeBack(TakeBackParams) -> Revised;
    /// Opens a review of the user's own tree, against HEAD or `rev`.
    "review/open" ReviewOpen(OpenReviewParams) -> StartedTurn;
    /// Finishes the review.
    "review/finish" ReviewFinish(FinishParams) -> Empty;
    /// Puts a refused re-proposal into the review; its count is taken back.
    "review/ask" ReviewAsk(AskParams) -> AskedHunk;
    /// Lifts a constraint for the rest of the turn.
    "review/lift" ReviewLift(LiftParams) -> Empty;
    /// Decides what becomes of an accepted state that its gates call red.
    "red/choose" RedChoose(RedParams) -> Empty;
}

macro_rules! params {
    ($($(#[$doc:meta])+ $name:ident { $($(#[$field_doc:meta])+ $field:ident: $type:ty,)* })+) => {
        $(
            $(#[$doc])+
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
            #[serde(deny_unknown_fields)]
            pub struct $name { $($(#[$field_doc])+ pub $field: $type,)* }
        )+
    };
}

params! {
    /// Nothing.
    Empty {}
    /// A folder.
    PathParams {
        /// The folder, or a folder inside a repository.
        path: WirePath,
    }
    /// A repository.
    RepoParams {
        /// From `repo/open`.
        repo: String,
    }
    /// Agreement to what a repository would run.
    TrustParams {
        /// From `repo/open`.
        repo: String,
        /// From `repo/open`; an old one is `stale`.
        digest: String,
    }
    /// Gates to be written.
    AddGatesParams {
        /// From `repo/open`.
        repo: String,
        /// The gates, in order.
        gates: Vec<GateDefinition>,
    }
    /// A new session.
    NewSessionParams {
        /// From `repo/open`.
        repo: String,
        /// The model; the one of the user's settings where it is left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        model: Option<ModelSettings>,
    }
    /// A session.
    SessionParams {
        /// From `session/new`.
        session: String,
    }
    /// A view of a session.
    ViewParams {
        /// From `session/new`.
        session: String,
        /// Whether hunks carry their rows (default true).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        rows: Option<bool>,
    }
    /// The composer's text.
    DraftParams {
        /// From `session/new`.
        session: String,
        /// The whole text.
        text: String,
    }
    /// A prompt.
    PromptParams {
        /// From `session/new`.
        session: String,
        /// What the user asks for, exactly.
        prompt: String,
    }
    /// How to go on.
    ResumeParams {
        /// From `session/new`.
        session: String,
        /// What to do.
        how: Resume,
    }
    /// A turn.
    TurnParams {
        /// From `session/new`.
        session: String,
        /// Its number in the session, from 1.
        turn: u32,
    }
    /// What was taken back.
    Undone {
        /// Files that are as they were before the apply.
        restored: Vec<WirePath>,
        /// Files in which something of the apply stays.
        left: Vec<LeftFile>,
    }
    /// A file in which an undo left something.
    LeftFile {
        /// The file.
        path: WirePath,
        /// Why, in words for the user.
        reason: String,
    }
    /// A patch.
    PatchText {
        /// In git's unified form, without context.
        patch: String,
    }
    /// A page of rows.
    RowsParams {
        /// From `session/new`.
        session: String,
        /// The hunk.
        hunk: HunkId,
        /// First row, from 0.
        first: u32,
        /// Last row, inclusive.
        last: u32,
    }
    /// A verdict.
    DecideParams {
        /// From `session/new`.
        session: String,
        /// The hunk.
        hunk: HunkId,
        /// `null` clears it.
        verdict: Option<VerdictName>,
    }
    /// A comment.
    CommentParams {
        /// From `session/new`.
        session: String,
        /// The hunk.
        hunk: HunkId,
        /// The user's words, exactly.
        text: String,
        /// The line it is about, numbered on `side`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        line: Option<u32>,
        /// Default `new`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        side: Option<Side>,
    }
    /// A comment to take back.
    UncommentParams {
        /// From `session/new`.
        session: String,
        /// From `review/comment`.
        comment: String,
    }
    /// Where a hunk is split.
    SplitParams {
        /// From `session/new`.
        session: String,
        /// The hunk.
        hunk: HunkId,
        /// Rows of the hunk, from 0: unchanged ones between two changes, as `split_at` has them.
        at: Vec<u32>,
    }
    /// The parts of a split hunk.
    SplitHunks {
        /// In order.
        hunks: Vec<HunkId>,
        /// The session's revision after the change.
        revision: u64,
    }
    /// A file of the open review.
    FileParams {
        /// From `session/new`.
        session: String,
        /// The file.
        path: WirePath,
    }
    /// A file's text.
    FileText {
        /// The whole text, with its own line ends.
        content: String,
        /// Whether it is the user's own edit.
        edited: bool,
    }
    /// The user's own text of a proposed file.
    EditParams {
        /// From `session/new`.
        session: String,
        /// The file.
        path: WirePath,
        /// The whole text, with its line ends; `null` withdraws the edit.
        content: Option<String>,
    }
    /// What earlier rounds accepted.
    AcceptedDiff {
        /// The files, against the base.
        files: Vec<FileView>,
    }
    /// A hunk to take back.
    TakeBackParams {
        /// From `session/new`.
        session: String,
        /// Its id in `review/accepted`.
        hunk: HunkId,
    }
    /// Against what the user's own tree is reviewed.
    OpenReviewParams {
        /// From `session/new`.
        session: String,
        /// A revision as git names it; HEAD where it is left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        rev: Option<String>,
    }
    /// How the review is finished.
    FinishParams {
        /// From `session/new`.
        session: String,
        /// By which verb.
        how: Finish,
    }
    /// A refused re-proposal.
    AskParams {
        /// From `session/new`.
        session: String,
        /// Its id in the brief.
        reproposed: HunkId,
    }
    /// A constraint.
    LiftParams {
        /// From `session/new`.
        session: String,
        /// Its id in the review.
        constraint: ConstraintId,
    }
    /// A choice on a red state.
    RedParams {
        /// From `session/new`.
        session: String,
        /// The choice.
        choice: RedChoice,
    }
    /// An opened repository, and all that it would run.
    OpenedRepo {
        /// Names the repository in later calls.
        repo: String,
        /// Its working folder.
        root: WirePath,
        /// The folder's name.
        name: String,
        /// The branch, or a short commit id where HEAD is detached.
        branch: String,
        /// Its gates.
        gates: Vec<GateDefinition>,
        /// Whether the user agreed to `digest`. True where there is nothing to agree to.
        trusted: bool,
        /// What the agreement is bound to.
        digest: String,
        /// Every command of the repository's own, as it would be run.
        commands: Vec<String>,
        /// What is run when a worktree is new or the user's lockfiles changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        setup: Option<String>,
        /// Ignored files and folders that are copied into a worktree, `copy` and `link` alike.
        copied: Vec<String>,
        /// Gates that the repository's own files suggest, where it names none.
        found: Vec<GateDefinition>,
        /// The model that a session without one of its own gets.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        model: Option<ModelSettings>,
        /// What is wrong with the settings; the last good ones hold.
        problems: Vec<String>,
    }
    /// Repositories opened before.
    RecentRepos {
        /// The latest first.
        repos: Vec<RecentRepo>,
    }
    /// A repository opened before.
    RecentRepo {
        /// Its working folder.
        root: WirePath,
        /// The folder's name.
        name: String,
        /// Whether the folder is still there.
        exists: bool,
    }
    /// A new session's name.
    NewSession {
        /// Names the session in later calls.
        session: String,
    }
    /// The sessions of a repository.
    Sessions {
        /// The latest first.
        sessions: Vec<SessionLine>,
    }
    /// A started turn.
    StartedTurn {
        /// Its number in the session, from 1.
        turn: u32,
    }
    /// Rows of a hunk.
    Rows {
        /// In order.
        rows: Vec<Row>,
    }
    /// What was changed, and the revision that holds it.
    Revised {
        /// The session's revision after the change.
        revision: u64,
    }
    /// A new comment's name.
    NewComment {
        /// Names the comment.
        comment: String,
        /// The session's revision after the change.
        revision: u64,
    }
    /// A re-proposal that joined the review.
    AskedHunk {
        /// Its id in the review.
        hunk: HunkId,
    }
    /// One line of the list of sessions.
    SessionLine {
        /// Names the session.
        session: String,
        /// The first words of its first prompt.
        title: String,
        /// Where its latest turn is.
        phase: crate::PhaseName,
        /// How many turns it has had.
        turns: u32,
        /// In which round the latest turn is.
        round: u32,
        /// Whether the latest turn is held, and waits for the user.
        held: bool,
        /// How the latest turn ended, where none is open.
        ended: Option<crate::TurnEnded>,
        /// Seconds since 1970 of the latest event.
        at: i64,
    }
}

/// Which model, as `[model]` in the settings says it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ModelSettings {
    /// Who provides it.
    pub provider: Provider,
    /// As the provider names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    /// Provider `replay`: the file it plays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub file: Option<String>,
}

/// Who provides a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// A recorded or hand-written model in a file.
    Replay,
}

/// How a held turn goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Resume {
    /// Ask the model again.
    Continue,
    /// Review what is there.
    Review,
    /// Go on without the setup that failed.
    Skip,
    /// End the turn.
    Discard,
}

/// How a review is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// Every hunk has a verdict.
    Finish,
    /// What has no verdict is accepted.
    AcceptAll,
    /// What has no verdict is accepted, and applied although a gate is red; no round follows.
    ApplyAnyway,
    /// `q` on the brief: this round is refused whole, and the turn ends.
    RefuseAll,
    /// `q` in the middle: what has no verdict is rejected.
    RefuseRest,
    /// Esc: the review stops partway, and the turn ends.
    Stop,
}

/// What becomes of a red accepted state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RedChoice {
    /// Write it although a gate failed.
    ApplyAnyway,
    /// Review all that was accepted once more.
    Edit,
    /// Run the gates again, round the cache.
    RunAgain,
    /// Write nothing; the turn ends.
    Discard,
}
