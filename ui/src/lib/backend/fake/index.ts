import type {
  CallError, EndingName, FileView, HunkView, Methods, Notification, OpenedRepo, Review, SessionLine, SessionView, WirePath, TurnEnded } from "$lib/bindings/wire";
import type { Backend, Opening, Question } from "../index";
import { bigRows } from "./big";
import * as gatehouse from "./gatehouse";
import { partOf } from "./rows";
import { emptyView, reviewOf, SCENES, viewOf, type Scene } from "./scenes";

type Params<M extends keyof Methods> = Methods[M]["params"];
type Handlers = { [M in keyof Methods]: (params: Params<M>) => Methods[M]["result"] };

/**
 * The fake that the page's address asks for: `?fake=SCENE`, with `&ending=NAME` for the scene `ended`,
 * `&files=N` for `big`, and `&pace=X` to play the turn faster or slower.
 */
export function fakeFromAddress(address: string): Fake {
  const query = new URLSearchParams(address);
  const scene = SCENES.find((each) => each === query.get("fake")) ?? "start";
  const ending = (query.get("ending") ?? "applied") as EndingName;
  return new Fake(scene, { pace: Number(query.get("pace") ?? 1), files: Number(query.get("files") ?? 1000), ending });
}

/**
 * A core that lives in memory and plays one recorded turn. It serves development in a browser and the
 * tests of the user interface; the app never holds it.
 */
export class Fake implements Backend {
  /** Every call, in order. */
  readonly calls: { method: string; params: unknown }[] = [];
  #views: SessionView[];
  #hear: ((notification: Notification) => void)[] = [];
  #scene: Scene;
  #pace: number;
  #trusted: boolean;
  #names = 0;
  /** The user's own texts, by path. */
  #edits = new Map<string, string>();
  /** What earlier rounds accepted. */
  #accepted: FileView[] = gatehouse.accepted();

  constructor(scene: Scene, { pace = 1, ending = "applied" as EndingName, files = 1000 } = {}) {
    this.#scene = scene;
    this.#pace = pace;
    this.#trusted = scene !== "untrusted";
    this.#views = scene === "start" ? [] : [viewOf(scene, ending, files)];
  }

  call<M extends keyof Methods>(method: M, params: Params<M>): Promise<Methods[M]["result"]> {
    this.calls.push({ method, params: structuredClone(params) });
    const handler = this.#handlers[method] as (params: Params<M>) => Methods[M]["result"];
    return new Promise((resolve, reject) => {
      setTimeout(() => {
        try {
          resolve(structuredClone(handler(params)));
        } catch (error) {
          reject(error as CallError);
        }
      }, 0);
    });
  }

  listen(hear: (notification: Notification) => void): void {
    this.#hear.push(hear);
  }

  chooseFolder(): Promise<WirePath | null> {
    return Promise.resolve("/home/ada/code/gatehouse");
  }

  opening(): Promise<Opening | null> {
    return Promise.resolve(this.#scene === "start" ? null : { path: "/home/ada/code/gatehouse" });
  }

  confirm({ title, message }: Question): Promise<boolean> {
    return Promise.resolve(globalThis.confirm?.(`${title}\n\n${message}`) ?? true);
  }

  /** Sends a notification, as the core would. */
  send(notification: Notification): void {
    for (const hear of this.#hear) hear(structuredClone(notification));
  }

  /** Lets the gates of the latest session end, so that its review opens. */
  endGates(): void {
    const view = this.#views[0]!;
    view.gates = gatehouse.gates("green");
    view.review = { ...view.review!, decidable: true };
    this.#phase(view, "review");
  }

  #repo(path: WirePath): OpenedRepo {
    const demo = path === "/demo";
    return {
      repo: "repo-1", root: path, name: "gatehouse", branch: "main", gates: gatehouse.COMMANDS, trusted: this.#trusted, setup: "npm ci",
      digest: "5f3c", commands: ["npm ci", ...gatehouse.COMMANDS.map((gate) => gate.run)], problems: [], copied: [".env"], found: [],
      ...(this.#scene === "found" ? { gates: [], commands: [], found: gatehouse.COMMANDS } : {}),
      model: { provider: "replay", name: demo ? "Demo model" : "Recorded model" },
    };
  }

  #handlers: Handlers = {
    "repo/open": ({ path }) => {
      if (path === "/home/ada/code/notes") {
        throw refusal("not_a_repository", "/home/ada/code/notes is in no git repository. Nothing was changed there; choose another folder, or run `git init` in it first.");
      }
      return this.#repo(path);
    },
    "repo/demo": () => this.#repo("/demo"),
    "repo/recent": () => ({
      repos: [
        { root: "/home/ada/code/gatehouse", name: "gatehouse", exists: true },
        { root: "/home/ada/code/notes", name: "notes", exists: true },
        { root: "/home/ada/code/parser-spike", name: "parser-spike", exists: false },
      ],
    }),
    "repo/trust": () => {
      this.#trusted = true;
      return {};
    },
    "session/new": () => {
      const session = `session-${++this.#names + 1}`;
      this.#views.unshift(emptyView(session));
      return { session };
    },
    "session/list": () => ({ sessions: [...this.#views.map(lineOf), ...otherSessions(this.#scene)] }),
    "session/load": ({ session, rows }) => {
      const view = this.#view(session);
      if (this.#scene === "working") setTimeout(() => void this.#say(session, gatehouse.MIDDLE_WORDS.slice(0, 138)), 100);
      this.#scene = this.#scene === "working" ? "new" : this.#scene;
      return { ...view, review: view.review === null || rows !== false ? view.review : withoutRows(view.review) };
    },
    "session/draft": ({ session, text }) => {
      this.#view(session).draft = text;
      return {};
    },
    "turn/start": ({ session, prompt }) => {
      const view = this.#view(session);
      if (view.phase !== "idle" && view.phase !== "ended") {
        throw refusal("turn_open", "A turn is open in this session. Your prompt is kept as a draft; send it when the turn has ended.");
      }
      view.turn++;
      if (view.title === "") view.title = prompt.slice(0, 48);
      view.messages.push({ kind: "prompt", turn: view.turn, text: prompt });
      void this.#round(view, 1);
      return { turn: view.turn };
    },
    "turn/interrupt": ({ session }) => {
      this.#end(this.#view(session), "interrupted", "Interrupted in round 1. Nothing applied");
      return {};
    },
    "turn/resume": ({ session, how }) => {
      const view = this.#view(session);
      view.held = null;
      if (how === "discard") this.#end(view, "failed", "Ended without a review. Nothing applied");
      else void this.#round(view, view.round);
      return {};
    },
    "review/get": ({ session, rows }) => {
      const review = this.#view(session).review;
      if (review === null) throw refusal("refused", "No review is open.");
      return rows === false ? withoutRows(review) : review;
    },
    "review/rows": ({ session, hunk, first, last }) => {
      const found = this.#hunk(session, hunk);
      return { rows: found.rows?.slice(first, last + 1) ?? bigRows(hunk, first, last, found.row_count) };
    },
    "review/decide": ({ session, hunk, verdict }) => {
      this.#hunk(session, hunk).verdict = verdict;
      return { revision: this.#changed(this.#view(session)) };
    },
    "review/comment": ({ session, hunk, text, line, side }) => {
      const comment = `comment-${++this.#names}`;
      this.#hunk(session, hunk).comments.push({ id: comment, text, line, side });
      return { comment, revision: this.#changed(this.#view(session)) };
    },
    "review/uncomment": ({ session, comment }) => {
      for (const file of this.#view(session).review?.files ?? []) {
        for (const hunk of file.hunks) hunk.comments = hunk.comments.filter((each) => each.id !== comment);
      }
      return { revision: this.#changed(this.#view(session)) };
    },
    "review/split": ({ session, hunk, at }) => {
      const review = this.#view(session).review!;
      const file = review.files.find((each) => each.hunks.some((own) => own.id === hunk))!;
      const whole = file.hunks.find((own) => own.id === hunk)!;
      const cuts = [0, ...at, whole.row_count];
      const parts = cuts.slice(1).map((end, index) => partOf(whole, `${hunk}-${index}`, cuts[index]!, end));
      file.hunks.splice(file.hunks.indexOf(whole), 1, ...parts);
      file.hunks.forEach((own, index) => (own.number = index + 1));
      return { hunks: parts.map((part) => part.id), revision: this.#changed(this.#view(session)) };
    },
    "review/file": ({ session, path }) => {
      const file = this.#view(session).review!.files.find((each) => each.path === path)!;
      const lines: string[] = [];
      for (const row of file.hunks.flatMap((hunk) => hunk.rows ?? [])) if (row.new !== undefined) lines[row.new - 1] = row.text;
      const own = this.#edits.get(String(path));
      const ends = this.#scene === "mixed" ? ["\r\n", "\n"] : ["\n"];
      const proposed = Array.from(lines, (line, index) => `${line ?? ""}${ends[index % ends.length]}`).join("");
      return { content: own ?? proposed, edited: file.hunks.some((hunk) => hunk.verdict === "edited") };
    },
    "review/edit": ({ session, path, content }) => {
      const file = this.#view(session).review!.files.find((each) => each.path === path)!;
      for (const hunk of file.hunks) hunk.verdict = content === null ? null : "edited";
      if (content === null) this.#edits.delete(String(path));
      else this.#edits.set(String(path), content);
      return { revision: this.#changed(this.#view(session)) };
    },
    "review/edit_outside": () => ({}),
    "review/accepted": () => ({ files: this.#accepted }),
    "review/take_back": ({ session, hunk }) => {
      const review = this.#view(session).review!;
      const file = this.#accepted.find((each) => each.hunks.some((own) => own.id === hunk))!;
      const taken = { ...file.hunks.find((own) => own.id === hunk)!, verdict: "reject" as const };
      file.hunks = file.hunks.filter((own) => own.id !== hunk);
      this.#accepted = this.#accepted.filter((each) => each.hunks.length > 0);
      review.accepted_so_far = this.#accepted.map((each) => ({ path: each.path, hunks: each.hunks.length }));
      const known = review.files.find((each) => each.path === file.path);
      if (known === undefined) review.files.unshift({ ...file, hunks: [taken] });
      else known.hunks.push({ ...taken, number: known.hunks.length + 1 });
      return { revision: this.#changed(this.#view(session)) };
    },
    "review/open": ({ session, rev }) => {
      const view = this.#view(session);
      view.turn++;
      view.messages.push({ kind: "prompt", turn: view.turn, text: rev === undefined ? "/review" : `/review ${rev}` });
      view.review = { ...reviewOf(1, gatehouse.round1(), ""), of: "tree", last: true };
      this.#phase(view, "review");
      return { turn: view.turn };
    },
    "repo/add_gates": ({ gates }) => {
      this.#trusted = true;
      return { ...this.#repo("/home/ada/code/gatehouse"), gates, commands: gates.map((gate) => gate.run), found: [], trusted: true };
    },
    "turn/undo": ({ session, turn }) => {
      const view = this.#view(session);
      for (const message of view.messages) if (message.kind === "ended" && message.turn === turn) message.can_undo = false;
      view.messages.push({ kind: "undone", turn, restored: 4, left: 1 });
      this.#changed(view);
      return { restored: ["src/config.rs"], left: [{ path: "src/auth.rs", reason: "you changed this region after the turn began" }] };
    },
    "turn/set_aside": () => ({ patch: "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1,1 +1,1 @@\n-old\n+new\n" }),
    "review/finish": ({ session, how }) => {
      const view = this.#view(session);
      const hunks = view.review?.files.flatMap((file) => file.hunks) ?? [];
      const undecided = hunks.filter((hunk) => hunk.verdict === null);
      if (how === "finish" && undecided.length > 0) {
        throw { kind: "undecided", count: undecided.length, message: `${undecided.length} hunks have no verdict yet.` } satisfies CallError;
      }
      for (const hunk of undecided) hunk.verdict = how === "accept_all" ? "accept" : how === "stop" ? null : "reject";
      void this.#afterReview(view, hunks, how);
      return {};
    },
    "review/ask": ({ session, reproposed }) => {
      const review = this.#view(session).review!;
      const at = review.brief.reproposed.findIndex((each) => each.id === reproposed);
      const [asked] = review.brief.reproposed.splice(at, 1);
      const file = review.files.find((each) => each.path === asked!.path)!;
      const rows = asked!.rows;
      file.hunks.push({
        id: asked!.id, number: file.hunks.length + 1, what: asked!.what, old: [10, 18], new: [10, 25], header: "", context: "async fn main",
        row_count: rows.length, split_at: [], changes_your_edit: false, rows, counts: { added: 8, removed: 1 }, rationale: asked!.rationale ?? undefined, verdict: null, comments: [],
      });
      this.#changed(this.#view(session));
      return { hunk: asked!.id };
    },
    "review/lift": ({ session, constraint }) => {
      for (const each of this.#view(session).review!.constraints) if (each.id === constraint) each.lifted = true;
      this.#changed(this.#view(session));
      return {};
    },
    "red/choose": ({ session, choice }) => {
      const view = this.#view(session);
      if (choice === "discard") this.#end(view, "red", "Red, not applied: build fails");
      else if (choice === "apply_anyway") this.#apply(view);
      else if (choice === "edit") {
        view.review = { ...view.review!, of: "accepted" };
        for (const hunk of view.review.files.flatMap((file) => file.hunks)) hunk.verdict = "accept";
        this.#phase(view, "review");
      }
      return {};
    },
  };

  #view(session: string): SessionView {
    const view = this.#views.find((each) => each.session === session);
    if (view === undefined) throw refusal("not_found", "There is no such session.");
    return view;
  }

  #hunk(session: string, id: string): HunkView {
    const hunks = this.#view(session).review?.files.flatMap((file) => file.hunks) ?? [];
    const hunk = hunks.find((each) => each.id === id);
    if (hunk === undefined) throw refusal("stale", "That hunk is no longer in the review.");
    return hunk;
  }

  #changed(view: SessionView): number {
    view.revision++;
    this.send({ method: "session/changed", params: { session: view.session, revision: view.revision } });
    return view.revision;
  }

  #phase(view: SessionView, phase: SessionView["phase"]): void {
    view.phase = phase;
    const { session, turn, round, attempt } = view;
    this.send({ method: "phase", params: { session, turn, round, attempt, phase } });
    this.#changed(view);
  }

  #wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, milliseconds * this.#pace));
  }

  async #say(session: string, text: string): Promise<void> {
    for (const word of text.match(/\S+\s*/g) ?? []) {
      this.send({ method: "model/text", params: { session, text: word } });
      await this.#wait(25);
    }
  }

  async #round(view: SessionView, round: number): Promise<void> {
    const { session, turn } = view;
    view.round = round;
    view.attempt = 1;
    view.gates = gatehouse.gates("not_run");
    if (round === 1) this.#phase(view, "snapshot");
    await this.#wait(300);
    this.#phase(view, "model");
    await this.#say(session, gatehouse.OPENING_WORDS);
    view.messages.push({ kind: "model", turn, round, text: gatehouse.OPENING_WORDS });
    for (const each of gatehouse.calls(round)) {
      await this.#wait(350);
      const call = { ...each, turn };
      view.messages.push({ kind: "tool", ...call });
      this.send({ method: "model/tool", params: { session, name: call.name, summary: call.target, call } });
      this.#changed(view);
    }
    const summary = round === 1 ? gatehouse.SUMMARY_1 : gatehouse.SUMMARY_2;
    await this.#say(session, summary);
    view.messages.push({ kind: "model", turn, round, text: summary });
    this.#phase(view, "gates");
    view.gates = gatehouse.gates("running");
    this.#changed(view);
    await this.#wait(900);
    view.gates = gatehouse.gates("green");
    view.review = reviewOf(round, round === 1 ? gatehouse.round1() : gatehouse.round2(this.#comment(view)), summary);
    this.#phase(view, "review");
    this.send({ method: "review/ready", params: { session, round, hunks: 3 } });
  }

  #comment(view: SessionView): string {
    const told = view.messages.findLast((message) => message.kind === "told");
    return told?.text.match(/user: "(.*)"/)?.[1] ?? "put it in the config file instead, not the environment";
  }

  async #afterReview(view: SessionView, hunks: HunkView[], how: Params<"review/finish">["how"]): Promise<void> {
    const { turn, round } = view;
    const accepted = hunks.filter((hunk) => hunk.verdict === "accept").length;
    const rejected = hunks.filter((hunk) => hunk.verdict === "reject").length;
    const comments = hunks.flatMap((hunk) => hunk.comments);
    view.messages.push({ kind: "reviewed", turn, round, accepted, rejected, undecided: hunks.length - accepted - rejected, comments: comments.length, reproposed: 0 });
    view.review = null;
    if (how === "refuse_all") return this.#end(view, "refused", "Refused, nothing was applied");
    if (how === "stop") return this.#end(view, "stopped", "Stopped partway, nothing applied");
    this.#phase(view, "accepted_gates");
    await this.#wait(600);
    if (rejected > 0 && round === 1) {
      view.messages.push({ kind: "told", turn, round, text: comments.length > 0 ? `user: "${comments[0]!.text}"` : gatehouse.TOLD });
      return this.#round(view, round + 1);
    }
    this.#apply(view);
  }

  #apply(view: SessionView): void {
    this.#phase(view, "apply");
    view.review = null;
    view.messages.push({
      kind: "ended", turn: view.turn, ending: "applied", rounds: view.round, reproposals: 0, set_aside: [], can_undo: true,
      applied: [{ path: "src/auth.rs", hunks: 2 }, { path: "src/main.rs", hunks: 1 }], message: "Applied 3 hunks in 2 files",
    });
    this.#phase(view, "ended");
  }

  #end(view: SessionView, ending: EndingName, message: string): void {
    view.review = null;
    view.messages.push({ kind: "ended", turn: view.turn, ending, rounds: view.round, reproposals: 0, set_aside: [], applied: [], can_undo: false, message });
    this.#phase(view, "ended");
  }
}

function refusal(kind: Exclude<CallError["kind"], "undecided">, message: string): CallError {
  return { kind, message };
}

function withoutRows(review: Review): Review {
  const bare = (hunk: HunkView): HunkView => ({ ...hunk, rows: undefined });
  return { ...review, files: review.files.map((file) => ({ ...file, hunks: file.hunks.map(bare) })) };
}

function lineOf(view: SessionView): SessionLine {
  const ended = view.messages.findLast((message) => message.kind === "ended");
  const { session, title, phase, turn, round } = view;
  return { session, title, phase, turns: turn, round, held: view.held !== null, ended: phase === "ended" ? (ended ?? null) : null, at: Date.now() / 1000 };
}

const OTHER_ENDED: TurnEnded = {
  turn: 4, ending: "applied", applied: [{ path: "src/token.rs", hunks: 4 }], set_aside: [], reproposals: 0, rounds: 1, can_undo: false,
  message: "Applied 4 hunks in 2 files",
};

function otherSessions(scene: Scene): SessionLine[] {
  if (scene === "start" || scene === "new") return [];
  const at = Date.now() / 1000;
  return [
    { session: "other-1", title: "Rate-limit /login", phase: "red", turns: 2, round: 8, held: false, ended: null, at: at - 12 * 60 },
    { session: "other-2", title: "Cache session look-ups", phase: "model", turns: 1, round: 1, held: false, ended: null, at: at - 120 },
    { session: "other-3", title: "Split access and refresh tokens", phase: "ended", turns: 4, round: 1, held: false, ended: OTHER_ENDED, at: at - 3 * 86400 },
  ];
}
