// Generated from heph-wire by `cargo xtask bindings`; do not edit.

/** What earlier rounds accepted. */
export type AcceptedDiff = {
  /** The files, against the base. */
  files: Array<FileView>,
};

/** Gates to be written. */
export type AddGatesParams = {
  /** From `repo/open`. */
  repo: string,
  /** The gates, in order. */
  gates: Array<GateDefinition>,
};

/** A rejection with a comment, as shown above the hunk that answers it. */
export type Answered = {
  /** The round of the rejection. */
  round: number,
  /** The rejected rows. */
  rows: Array<Row>,
  /** The user's words. */
  comments: Array<string>,
  /** Whether the model proposes the very same again. */
  unchanged: boolean,
};

/** A file that an apply wrote. */
export type AppliedFile = {
  /** The file. */
  path: WirePath,
  /** Hunks that landed or were there already. */
  hunks: number,
};

/** A refused re-proposal. */
export type AskParams = {
  /** From `session/new`. */
  session: string,
  /** Its id in the brief. */
  reproposed: string,
};

/** A re-proposal that joined the review. */
export type AskedHunk = {
  /** Its id in the review. */
  hunk: string,
};

/** A review's first page. */
export type Brief = {
  /** The model's closing words, Markdown, untrusted. */
  summary: string,
  /** Model stops in this round. */
  attempts: number,
  /** Gates on what is proposed. */
  gates: Array<GateView>,
  /** What was refused before the review. */
  reproposed: Array<ReproposedView>,
  /** Files with a hunk set aside earlier in the turn. */
  set_aside: Array<SetAsideView>,
  /** Files written under an ignored path; not part of the review. */
  ignored: Array<WirePath>,
};

/** Why a method was not carried out. Nothing of the user's has changed when one is returned. */
export type CallError = {
  /** What happened, what was kept and what to do, in words for the user. */
  message: string,
} & ({ "kind": "malformed" } | { "kind": "invalid_request" } | { "kind": "unknown_method" } | { "kind": "invalid_params" } | { "kind": "no_such_path" } | { "kind": "not_a_repository" } | { "kind": "not_found" } | { "kind": "turn_open" } | { "kind": "stale" } | { "kind": "undecided",
  /** How many hunks have none. */
  count: number,
} | { "kind": "refused" } | { "kind": "settings" } | { "kind": "internal" });

/** What happened to a file. */
export type ChangeName = "added" | "deleted" | "modified" | "mode" | "symlink" | "binary" | "renamed" | "line_endings";

/** A comment. */
export type CommentParams = {
  /** From `session/new`. */
  session: string,
  /** The hunk. */
  hunk: string,
  /** The user's words, exactly. */
  text: string,
  /** The line it is about, numbered on `side`. */
  line?: number,
  /** Default `new`. */
  side?: Side,
};

/** A comment. */
export type CommentView = {
  /** Its name. */
  id: string,
  /** The user's words, exactly. */
  text: string,
  /** The line it is about. */
  line?: number,
  /** The side `line` counts on. */
  side?: Side,
};

/** A rejected hunk, for the rest of the turn. */
export type ConstraintView = {
  /** For `review/lift`. */
  id: string,
  /** The file. */
  path: WirePath,
  /** The round of the rejection. */
  round: number,
  /** The user's words. */
  comments: Array<string>,
  /** Whether it no longer holds. */
  lifted: boolean,
};

/** A rejection in another file. */
export type CopyOf = {
  /** The file. */
  path: WirePath,
  /** The round of the rejection. */
  round: number,
};

/** Changed lines. */
export type Counts = {
  /** Lines added. */
  added: number,
  /** Lines removed. */
  removed: number,
};

/** A verdict. */
export type DecideParams = {
  /** From `session/new`. */
  session: string,
  /** The hunk. */
  hunk: string,
  /** `null` clears it. */
  verdict: VerdictName | null,
};

/** The composer's text. */
export type DraftParams = {
  /** From `session/new`. */
  session: string,
  /** The whole text. */
  text: string,
};

/** The user's own text of a proposed file. */
export type EditParams = {
  /** From `session/new`. */
  session: string,
  /** The file. */
  path: WirePath,
  /** The whole text, with its line ends; `null` withdraws the edit. */
  content: string | null,
};

/** Nothing. */
export type Empty = Record<symbol, never>;

/** The kinds of ending. */
export type EndingName = "applied" | "answered" | "refused" | "stopped" | "floor" | "interrupted" | "out_of_rounds" | "red" | "failed" | "reviewed";

/** A file of the open review. */
export type FileParams = {
  /** From `session/new`. */
  session: string,
  /** The file. */
  path: WirePath,
};

/** A file's text. */
export type FileText = {
  /** The whole text, with its own line ends. */
  content: string,
  /** Whether it is the user's own edit. */
  edited: boolean,
};

/** A changed file. */
export type FileView = {
  /** The file. */
  path: WirePath,
  /** The name it had, where it was renamed. */
  old_path?: WirePath,
  /** What happened to it. */
  change: ChangeName,
  /** Why *Accept all* leaves it out, where it does. */
  marked?: string,
  /** Whether the user can put text of their own in its place. */
  editable: boolean,
  /** Changed lines of the whole file. */
  counts: Counts,
  /** Its reviewable changes, in order. */
  hunks: Array<HunkView>,
};

/** How a review is finished. */
export type Finish = "finish" | "accept_all" | "apply_anyway" | "refuse_all" | "refuse_rest" | "stop";

/** How the review is finished. */
export type FinishParams = {
  /** From `session/new`. */
  session: string,
  /** By which verb. */
  how: Finish,
};

/** What a gate is. */
export type GateDefinition = {
  /** Its name. */
  name: string,
  /** What it runs. */
  run: string,
};

/** What a gate does. */
export type GateEvent = "start" | "output" | "end";

/** What came of a gate. */
export type GateResult = "green" | "red" | "red_before" | "not_run" | "could_not_run" | "stopped" | "running";

/** The state a gate runs on. */
export type GateTarget = "proposed" | "accepted" | "base";

/** A gate and its latest result in this turn. */
export type GateView = {
  /** Its name. */
  name: string,
  /** The result. */
  result: GateResult,
  /** How long it took. */
  seconds: number | null,
  /** What it printed, colours removed. */
  output: string,
  /** Why it could not run, where it could not. */
  reason?: string,
  /** Files that it wrote and that were put back. */
  put_back: Array<WirePath>,
};

/** Why a turn is held. */
export type Held = {
  /** In words for the user. */
  reason: string,
  /** How it came to it. */
  cause: HeldCause,
  /** What the failed setup printed, colours removed; empty for other causes. */
  output: string,
};

/** How a turn came to be held. */
export type HeldCause = "failed" | "cut_off" | "setup";

/** One reviewable change. */
export type HunkView = {
  /** Its name. */
  id: string,
  /** Its number in the file, from 1. */
  number: number,
  /** `lines a-b`, or what the item is: `file deleted`, `mode 644 -> 755`, `binary`, `symlink`. */
  what: string,
  /** First and last line before, context included; both 0 where there is none. */
  old: [number, number],
  /** First and last line proposed, context included; both 0 where there is none. */
  new: [number, number],
  /** As in a unified diff: `@@ -20,7 +20,9 @@ fn secret()`; empty for an item without lines. */
  header: string,
  /** The function or section it lies in, where one can be told. */
  context: string,
  /** How many rows it has. */
  row_count: number,
  /** Rows at which it can be split, from 0: one in each gap between its changes. */
  split_at: Array<number>,
  /** Whether it changes lines that the user wrote in an earlier round's edit. */
  changes_your_edit: boolean,
  /** What was rejected in another file, where this is a copy of it. */
  copy_of?: CopyOf,
  /** Its rows; left out where `rows` was false. */
  rows?: Array<Row>,
  /** Changed lines. */
  counts: Counts,
  /** The model's own reason. */
  rationale?: string,
  /** What it answers, where a rejection with a comment stands at this place. */
  answers?: Answered,
  /** The verdict. */
  verdict: VerdictView | null,
  /** The user's comments. */
  comments: Array<CommentView>,
};

/** A file in which an undo left something. */
export type LeftFile = {
  /** The file. */
  path: WirePath,
  /** Why, in words for the user. */
  reason: string,
};

/** A constraint. */
export type LiftParams = {
  /** From `session/new`. */
  session: string,
  /** Its id in the review. */
  constraint: string,
};

/** One entry of the conversation. */
export type Message = { "kind": "prompt",
  /** Turn. */
  turn: number,
  /** The user's words. */
  text: string,
} | { "kind": "model",
  /** Turn. */
  turn: number,
  /** Round. */
  round: number,
  /** Markdown, untrusted. */
  text: string,
} | { "kind": "tool" } & ToolCall | { "kind": "told",
  /** Turn. */
  turn: number,
  /** Round that it closes. */
  round: number,
  /** The text. */
  text: string,
} | { "kind": "reviewed",
  /** Turn. */
  turn: number,
  /** Round. */
  round: number,
  /** Hunks accepted. */
  accepted: number,
  /** Hunks rejected by the user. */
  rejected: number,
  /** Hunks not reached. */
  undecided: number,
  /** Comments given. */
  comments: number,
  /** Re-proposals refused before the review. */
  reproposed: number,
} | { "kind": "ended" } & TurnEnded | { "kind": "undone",
  /** Turn. */
  turn: number,
  /** Files that are as they were before. */
  restored: number,
  /** Files in which something stays. */
  left: number,
};

/** Which model, as `[model]` in the settings says it. */
export type ModelSettings = {
  /** Who provides it. */
  provider: Provider,
  /** As the provider names it. */
  name?: string,
  /** Provider `replay`: the file it plays. */
  file?: string,
};

/** A new comment's name. */
export type NewComment = {
  /** Names the comment. */
  comment: string,
  /** The session's revision after the change. */
  revision: number,
};

/** A new session's name. */
export type NewSession = {
  /** Names the session in later calls. */
  session: string,
};

/** A new session. */
export type NewSessionParams = {
  /** From `repo/open`. */
  repo: string,
  /** The model; the one of the user's settings where it is left out. */
  model?: ModelSettings,
};

/** What the engine sends by itself. On the wire `method` is its name and `params` its fields. */
export type Notification = { "method": "phase", "params": {
    /** Session. */
    session: string,
    /** Turn. */
    turn: number,
    /** Round. */
    round: number,
    /** Attempt. */
    attempt: number,
    /** The phase. */
    phase: PhaseName,
} } | { "method": "model/text", "params": {
    /** Session. */
    session: string,
    /** The next piece. */
    text: string,
} } | { "method": "model/tool", "params": {
    /** Session. */
    session: string,
    /** The tool. */
    name: string,
    /** One line about it. */
    summary: string,
    /** The whole of it. */
    call: ToolCall,
} } | { "method": "model/told", "params": {
    /** Session. */
    session: string,
    /** The text. */
    message: string,
} } | { "method": "setup", "params": {
    /** Session. */
    session: string,
    /** What. */
    output: string,
} } | { "method": "gate", "params": {
    /** Session. */
    session: string,
    /** The gate. */
    name: string,
    /** The state it runs on. */
    on: GateTarget,
    /** What happened. */
    event: GateEvent,
    /** What it printed, for `output`. */
    output?: string,
    /** The result, for `end`. */
    result?: GateResult,
    /** How long it took, for `end`. */
    seconds?: number,
} } | { "method": "review/ready", "params": {
    /** Session. */
    session: string,
    /** Round. */
    round: number,
    /** Hunks to decide. */
    hunks: number,
} } | { "method": "turn/ended", "params": {
    /** Session. */
    session: string,
    /** Turn. */
    turn: number,
    /** The kind of ending. */
    ending: EndingName,
    /** What was written, or was there already. */
    applied: Array<AppliedFile>,
    /** Files with a hunk that was set aside. */
    set_aside: Array<WirePath>,
    /** Re-proposals refused in the turn. */
    reproposals: number,
    /** Rounds of the turn. */
    rounds: number,
    /** Whether `turn/undo` can take something back. */
    can_undo: boolean,
    /** The one line of the status bar. */
    message: string,
} } | { "method": "session/changed", "params": {
    /** Session. */
    session: string,
    /** Its revision. */
    revision: number,
} } | { "method": "error", "params": {
    /** The session it concerns, where it concerns one. */
    session?: string,
    /** What happened, what was kept and what to do. */
    message: string,
} };

/** Against what the user's own tree is reviewed. */
export type OpenReviewParams = {
  /** From `session/new`. */
  session: string,
  /** A revision as git names it; HEAD where it is left out. */
  rev?: string,
};

/** An opened repository, and all that it would run. */
export type OpenedRepo = {
  /** Names the repository in later calls. */
  repo: string,
  /** Its working folder. */
  root: WirePath,
  /** The folder's name. */
  name: string,
  /** The branch, or a short commit id where HEAD is detached. */
  branch: string,
  /** Its gates. */
  gates: Array<GateDefinition>,
  /** Whether the user agreed to `digest`. True where there is nothing to agree to. */
  trusted: boolean,
  /** What the agreement is bound to. */
  digest: string,
  /** Every command of the repository's own, as it would be run. */
  commands: Array<string>,
  /** What is run when a worktree is new or the user's lockfiles changed. */
  setup?: string,
  /** Ignored files and folders that are copied into a worktree, `copy` and `link` alike. */
  copied: Array<string>,
  /** Gates that the repository's own files suggest, where it names none. */
  found: Array<GateDefinition>,
  /** The model that a session without one of its own gets. */
  model?: ModelSettings,
  /** What is wrong with the settings; the last good ones hold. */
  problems: Array<string>,
};

/** A patch. */
export type PatchText = {
  /** In git's unified form, without context. */
  patch: string,
};

/** A folder. */
export type PathParams = {
  /** The folder, or a folder inside a repository. */
  path: WirePath,
};

/** Where a turn is. */
export type PhaseName = "idle" | "snapshot" | "setup" | "model" | "screen" | "gates" | "review" | "accepted_gates" | "red" | "apply" | "ended";

/** A prompt. */
export type PromptParams = {
  /** From `session/new`. */
  session: string,
  /** What the user asks for, exactly. */
  prompt: string,
};

/** Who provides a model. */
export type Provider = "replay";

/** A repository opened before. */
export type RecentRepo = {
  /** Its working folder. */
  root: WirePath,
  /** The folder's name. */
  name: string,
  /** Whether the folder is still there. */
  exists: boolean,
};

/** Repositories opened before. */
export type RecentRepos = {
  /** The latest first. */
  repos: Array<RecentRepo>,
};

/** What becomes of a red accepted state. */
export type RedChoice = "apply_anyway" | "edit" | "run_again" | "discard";

/** A choice on a red state. */
export type RedParams = {
  /** From `session/new`. */
  session: string,
  /** The choice. */
  choice: RedChoice,
};

/** A repository. */
export type RepoParams = {
  /** From `repo/open`. */
  repo: string,
};

/** A hunk refused as a re-proposal. */
export type ReproposedView = {
  /** For `review/ask`. */
  id: string,
  /** The file. */
  path: WirePath,
  /** `lines a-b`, or what the item is. */
  what: string,
  /** The round in which it was rejected. */
  round: number,
  /** The share of the rejected hunk's lines that came back, 0 to 1. */
  share: number,
  /** Its rows. */
  rows: Array<Row>,
  /** Which of its rows repeat what was rejected, from 0. */
  matched: Array<number>,
  /** The model's reason. */
  rationale: string | null,
  /** Whether it can be asked about: the worktree held it when the model stopped last. */
  askable: boolean,
};

/** How a held turn goes on. */
export type Resume = "continue" | "review" | "skip" | "discard";

/** How to go on. */
export type ResumeParams = {
  /** From `session/new`. */
  session: string,
  /** What to do. */
  how: Resume,
};

/** A review. */
export type Review = {
  /** What is reviewed. */
  of: Reviewed,
  /** Round. */
  round: number,
  /** The session's revision that this is. */
  revision: number,
  /** Whether the round was interrupted. */
  interrupted: boolean,
  /** Whether no round can follow. */
  last: boolean,
  /** Whether verdicts can be given; comments can be even while gates still run. */
  decidable: boolean,
  /** What earlier rounds of the turn accepted. */
  accepted_so_far: Array<AppliedFile>,
  /** The first page. */
  brief: Brief,
  /** What was rejected in this turn. */
  constraints: Array<ConstraintView>,
  /** The change, file by file. */
  files: Array<FileView>,
};

/** What a review is of. */
export type Reviewed = "round" | "accepted" | "tree";

/** What was changed, and the revision that holds it. */
export type Revised = {
  /** The session's revision after the change. */
  revision: number,
};

/** One row of a hunk. */
export type Row = {
  /** `" "` unchanged, `"+"` added, `"-"` removed. */
  kind: RowKind,
  /** Its line number before. */
  old?: number,
  /** Its line number proposed. */
  new?: number,
  /** The line without its end; bytes that are not UTF-8 shown as the replacement character. */
  text: string,
  /** Whether the file ends here without a line end. */
  no_newline?: boolean,
  /** Colours: start, end (UTF-16 units of `text`) and class (`k s c n m t f v p o g a`). */
  spans?: Array<[number, number, string]>,
  /** Changed words: start and end in UTF-16 units of `text`. */
  marks?: Array<[number, number]>,
};

/** What a row is. */
export type RowKind = " " | "+" | "-";

/** Rows of a hunk. */
export type Rows = {
  /** In order. */
  rows: Array<Row>,
};

/** A page of rows. */
export type RowsParams = {
  /** From `session/new`. */
  session: string,
  /** The hunk. */
  hunk: string,
  /** First row, from 0. */
  first: number,
  /** Last row, inclusive. */
  last: number,
};

/** One line of the list of sessions. */
export type SessionLine = {
  /** Names the session. */
  session: string,
  /** The first words of its first prompt. */
  title: string,
  /** Where its latest turn is. */
  phase: PhaseName,
  /** How many turns it has had. */
  turns: number,
  /** In which round the latest turn is. */
  round: number,
  /** Whether the latest turn is held, and waits for the user. */
  held: boolean,
  /** How the latest turn ended, where none is open. */
  ended: TurnEnded | null,
  /** Seconds since 1970 of the latest event. */
  at: number,
};

/** A session. */
export type SessionParams = {
  /** From `session/new`. */
  session: string,
};

/** All that a window shows of one session, at one revision. */
export type SessionView = {
  /** The session. */
  session: string,
  /** The repository it works in. */
  repo: string,
  /** The first words of its first prompt. */
  title: string,
  /** Counts every change of this view. */
  revision: number,
  /** Where the latest turn is. */
  phase: PhaseName,
  /** The latest turn's number, from 1; 0 before the first. */
  turn: number,
  /** The latest turn's round, from 1; 0 before the first. */
  round: number,
  /** The model stop inside the round, from 1. */
  attempt: number,
  /** `[review] max_rounds`. */
  max_rounds: number,
  /** Re-proposals refused in the latest turn. */
  reproposals: number,
  /** At so many the model is not asked again in this turn. */
  floor: number,
  /** Why the turn is held, where it is; then `turn/resume` goes on. */
  held: Held | null,
  /** The session's model. */
  model: ModelSettings | null,
  /** The latest results of the turn's gates. */
  gates: Array<GateView>,
  /** The composer's text. */
  draft: string,
  /** The open review, and the red accepted state where the phase is `red`. */
  review: Review | null,
  /** Everything said and done, oldest first. */
  messages: Array<Message>,
};

/** The sessions of a repository. */
export type Sessions = {
  /** The latest first. */
  sessions: Array<SessionLine>,
};

/** A file with a hunk that was set aside. */
export type SetAsideView = {
  /** The file. */
  path: WirePath,
  /** Why. */
  reason: string,
};

/** A side of a diff. */
export type Side = "old" | "new";

/** The parts of a split hunk. */
export type SplitHunks = {
  /** In order. */
  hunks: Array<string>,
  /** The session's revision after the change. */
  revision: number,
};

/** Where a hunk is split. */
export type SplitParams = {
  /** From `session/new`. */
  session: string,
  /** The hunk. */
  hunk: string,
  /** Rows of the hunk, from 0: unchanged ones between two changes, as `split_at` has them. */
  at: Array<number>,
};

/** A started turn. */
export type StartedTurn = {
  /** Its number in the session, from 1. */
  turn: number,
};

/** A hunk to take back. */
export type TakeBackParams = {
  /** From `session/new`. */
  session: string,
  /** Its id in `review/accepted`. */
  hunk: string,
};

/** A tool call that has done its work. */
export type ToolCall = {
  /** Turn. */
  turn: number,
  /** Round. */
  round: number,
  /** The tool: `list find search read edit write move delete run`. */
  name: string,
  /** What it was about: a path, a pattern, a command. */
  target: string,
  /** What came of it, in a few words: `112 lines`, `exit 0`, or the error. */
  outcome: string,
  /** Whether the tool refused or failed. */
  failed: boolean,
  /** The model's reason, where the tool edits. */
  rationale: string | null,
  /** Lines added and removed, where the tool edits. */
  counts: Counts | null,
  /** What the model was given back, whole. */
  detail: string,
  /** How long it took. */
  millis: number,
};

/** Agreement to what a repository would run. */
export type TrustParams = {
  /** From `repo/open`. */
  repo: string,
  /** From `repo/open`; an old one is `stale`. */
  digest: string,
};

/** How a turn ended. */
export type TurnEnded = {
  /** Turn. */
  turn: number,
  /** The kind of ending. */
  ending: EndingName,
  /** What was written, or was there already. */
  applied: Array<AppliedFile>,
  /** Files with a hunk that was set aside. */
  set_aside: Array<WirePath>,
  /** Re-proposals refused in the turn. */
  reproposals: number,
  /** Rounds of the turn. */
  rounds: number,
  /** Whether `turn/undo` can take something back. */
  can_undo: boolean,
  /** The one line of the status bar. */
  message: string,
};

/** A turn. */
export type TurnParams = {
  /** From `session/new`. */
  session: string,
  /** Its number in the session, from 1. */
  turn: number,
};

/** A comment to take back. */
export type UncommentParams = {
  /** From `session/new`. */
  session: string,
  /** From `review/comment`. */
  comment: string,
};

/** What was taken back. */
export type Undone = {
  /** Files that are as they were before the apply. */
  restored: Array<WirePath>,
  /** Files in which something of the apply stays. */
  left: Array<LeftFile>,
};

/** The user's verdict. */
export type VerdictName = "accept" | "reject";

/** What was decided on a hunk. */
export type VerdictView = "accept" | "reject" | "edited";

/** A view of a session. */
export type ViewParams = {
  /** From `session/new`. */
  session: string,
  /** Whether hunks carry their rows (default true). */
  rows?: boolean,
};

export type WirePath = string | { bytes: string, };

export interface Methods {
  /** Opens the repository that holds `path`. Runs nothing from it. */
  "repo/open": { params: PathParams; result: OpenedRepo };
  /** Makes a fresh copy of the demo repository and opens it, with the replay model made for it. */
  "repo/demo": { params: Empty; result: OpenedRepo };
  /** Repositories opened before, the latest first. */
  "repo/recent": { params: Empty; result: RecentRepos };
  /** Agrees to what the repository would run, as shown under `digest`. */
  "repo/trust": { params: TrustParams; result: Empty };
  /** Writes gates into the repository's `heph.toml`; they are agreed to with that. */
  "repo/add_gates": { params: AddGatesParams; result: OpenedRepo };
  /** Starts a session in a repository. */
  "session/new": { params: NewSessionParams; result: NewSession };
  /** The sessions of a repository, the latest first. */
  "session/list": { params: RepoParams; result: Sessions };
  /** The whole view of a session, also after a crash. */
  "session/load": { params: ViewParams; result: SessionView };
  /** Keeps the text of the composer. */
  "session/draft": { params: DraftParams; result: Empty };
  /** Gives the model a prompt; opens a turn. */
  "turn/start": { params: PromptParams; result: StartedTurn };
  /** Stops model or gates at once; what is there is reviewed and the turn ends. */
  "turn/interrupt": { params: SessionParams; result: Empty };
  /** Goes on after a turn was held: the model failed, or the app was killed. */
  "turn/resume": { params: ResumeParams; result: Empty };
  /** Takes back what an ended turn applied, as far as the user has not changed it since. */
  "turn/undo": { params: TurnParams; result: Undone };
  /** What an ended turn set aside, as a patch of its base. */
  "turn/set_aside": { params: TurnParams; result: PatchText };
  /** The open review. */
  "review/get": { params: ViewParams; result: Review };
  /** Rows `first..=last` (from 0) of one hunk, with colours and word marks. */
  "review/rows": { params: RowsParams; result: Rows };
  /** Gives or clears the verdict on a hunk. */
  "review/decide": { params: DecideParams; result: Revised };
  /** Adds a comment to a hunk, or to one of its lines. */
  "review/comment": { params: CommentParams; result: NewComment };
  /** Takes a comment back. */
  "review/uncomment": { params: UncommentParams; result: Revised };
  /** Splits a hunk at unchanged rows; each part is a hunk of its own. */
  "review/split": { params: SplitParams; result: SplitHunks };
  /** The text of a proposed file, or of what the user made of it. */
  "review/file": { params: FileParams; result: FileText };
  /** Puts the user's own text in the place of a proposed file; it decides all its hunks. */
  "review/edit": { params: EditParams; result: Revised };
  /** Opens a proposed file in `$VISUAL` or `$EDITOR`; what is saved there is taken as an edit. */
  "review/edit_outside": { params: FileParams; result: Empty };
  /** What earlier rounds of the turn accepted, as one diff. */
  "review/accepted": { params: ViewParams; result: AcceptedDiff };
  /** Takes back a hunk that an earlier round accepted: it joins the open review, rejected. */
  "review/take_back": { params: TakeBackParams; result: Revised };
  /** Opens a review of the user's own tree, against HEAD or `rev`. */
  "review/open": { params: OpenReviewParams; result: StartedTurn };
  /** Finishes the review. */
  "review/finish": { params: FinishParams; result: Empty };
  /** Puts a refused re-proposal into the review; its count is taken back. */
  "review/ask": { params: AskParams; result: AskedHunk };
  /** Lifts a constraint for the rest of the turn. */
  "review/lift": { params: LiftParams; result: Empty };
  /** Decides what becomes of an accepted state that its gates call red. */
  "red/choose": { params: RedParams; result: Empty };
}
