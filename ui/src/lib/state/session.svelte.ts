import { asCallError, type Backend } from "$lib/backend";
import type { FileView, Notification, RedChoice, Resume, SessionView, Undone } from "$lib/bindings/wire";
import { notYetIn, reviewCommand } from "$lib/model/conversation";
import type { Page } from "$lib/model/keymap";
import { Revisions } from "$lib/model/revisions";
import { debounce } from "$lib/model/when";
import { canStop, isOpen } from "$lib/model/words";
import { OpenReview, type ReviewHost } from "./review.svelte";

type Heard<M extends Notification["method"]> = Extract<Notification, { method: M }>["params"];

/** The session on screen: the view that the core holds, and what streams in before the next view. */
export class OpenSession {
  readonly id: string;
  view: SessionView;
  /** What the model has said that no view holds yet. */
  live = $state("");
  /** What the setup of the worktree has printed so far. */
  setupOutput = $state("");
  review = $state.raw<OpenReview | null>(null);
  page = $state<Page>("conversation");
  draft = $state("");
  /** Why the last prompt was not taken. */
  refusal = $state<string | null>(null);
  sending = $state(false);
  /** When the present phase began, by `performance.now()`, where this window saw it begin. */
  since = $state<number | null>(null);
  /** Whether the user is in the middle of writing a prompt; then no page takes its place. */
  isComposing = false;
  /** When a page last came up by itself. */
  turnedAt = 0;
  #backend: Backend;
  #tell: (error: unknown) => void;
  #revisions = new Revisions();
  #newest = 0;
  #loading = false;
  #loadAgain = false;
  #reload = debounce(() => void this.#load(), 30);
  #keepDraft = debounce(() => void this.#saveDraft(), 400);

  constructor(backend: Backend, view: SessionView, tell: (error: unknown) => void) {
    this.id = view.session;
    this.view = $state.raw(view);
    this.#backend = backend;
    this.#tell = tell;
    this.draft = view.draft;
    this.#show(view);
    if (this.review !== null && this.review.use === "deciding" && this.review.tally.undecided < this.review.places.length) {
      this.page = "hunks";
    }
  }

  /** Whether the model, or a command, works now and can be stopped. */
  get canStop(): boolean {
    return canStop(this.view.phase) && this.view.held === null;
  }

  /** Whether a turn is open. */
  get isOpen(): boolean {
    return isOpen(this.view.phase);
  }

  /** Takes in what the core sent about this session. */
  hear(notification: Notification): void {
    switch (notification.method) {
      case "phase":
        this.#hearPhase(notification.params);
        break;
      case "model/text":
        this.live += notification.params.text;
        break;
      case "model/tool":
        this.#hearTool(notification.params);
        break;
      case "setup":
        this.setupOutput += notification.params.output;
        break;
      case "gate":
        this.#hearGate(notification.params);
        break;
      case "session/changed":
        this.#newest = Math.max(this.#newest, notification.params.revision);
        this.#check();
        break;
      case "model/told":
      case "review/ready":
      case "turn/ended":
        this.#reload();
        break;
      case "error":
        this.#tell(notification.params);
    }
  }

  /** Sends the prompt. Refused, it stays in the composer. */
  async send(): Promise<void> {
    const prompt = this.draft;
    if (prompt.trim() === "" || this.sending) return;
    const review = reviewCommand(prompt);
    this.sending = true;
    try {
      if (review === null) await this.#backend.call("turn/start", { session: this.id, prompt });
      else await this.#backend.call("review/open", { session: this.id, ...review });
      this.refusal = null;
      if (this.draft === prompt) this.write("");
      this.#reload();
    } catch (error) {
      this.refusal = asCallError(error).message;
    } finally {
      this.sending = false;
    }
  }

  /** Changes the composer's text; it is kept a moment later. */
  write(text: string): void {
    this.draft = text;
    this.#keepDraft();
  }

  /** Keeps now what was written. */
  leave(): void {
    this.#keepDraft.flush();
  }

  interrupt(): Promise<void> {
    return this.#ask(() => this.#backend.call("turn/interrupt", { session: this.id }));
  }

  resume(how: Resume): Promise<void> {
    return this.#ask(() => this.#backend.call("turn/resume", { session: this.id, how }));
  }

  choose(choice: RedChoice): Promise<void> {
    return this.#ask(() => this.#backend.call("red/choose", { session: this.id, choice }));
  }

  /** Puts a refused re-proposal into the review and goes to it. */
  async askAbout(reproposed: string): Promise<void> {
    await this.#ask(async () => {
      const { hunk } = await this.#backend.call("review/ask", { session: this.id, reproposed });
      await this.#load();
      const at = this.review?.places.findIndex((place) => place.hunk.id === hunk) ?? -1;
      if (at < 0) return;
      this.page = "hunks";
      this.review?.goTo(at);
    });
  }

  /** Lifts a constraint for the rest of the turn. */
  lift(constraint: string): Promise<void> {
    return this.#ask(() => this.#backend.call("review/lift", { session: this.id, constraint }));
  }

  /** What earlier rounds of the turn accepted, as one diff. */
  async accepted(): Promise<readonly FileView[]> {
    try {
      return (await this.#backend.call("review/accepted", { session: this.id })).files;
    } catch (error) {
      this.#tell(error);
      return [];
    }
  }

  /** Takes back a hunk that an earlier round accepted; it joins the review, rejected. */
  takeBack(hunk: string): Promise<void> {
    return this.#ask(async () => {
      await this.#backend.call("review/take_back", { session: this.id, hunk });
      await this.#load();
    });
  }

  /** Takes back what a turn applied; `null` where that could not be done. */
  async undo(turn: number): Promise<Undone | null> {
    try {
      const undone = await this.#backend.call("turn/undo", { session: this.id, turn });
      this.#reload();
      return undone;
    } catch (error) {
      this.#tell(error);
      return null;
    }
  }

  /** What a turn set aside, as a patch. */
  async setAside(turn: number): Promise<string | null> {
    try {
      return (await this.#backend.call("turn/set_aside", { session: this.id, turn })).patch;
    } catch (error) {
      this.#tell(error);
      return null;
    }
  }

  /** Shows a page because the user asked for it. */
  turnTo(page: Page): void {
    this.page = page;
  }

  async #ask(call: () => Promise<unknown>): Promise<void> {
    try {
      await call();
      this.#reload();
    } catch (error) {
      this.#tell(error);
    }
  }

  async #saveDraft(): Promise<void> {
    try {
      await this.#backend.call("session/draft", { session: this.id, text: this.draft });
    } catch (error) {
      this.#tell(error);
    }
  }

  #hearPhase({ turn, round, attempt, phase }: Heard<"phase">): void {
    const changed = phase !== this.view.phase || round !== this.view.round;
    if (changed) {
      this.since = performance.now();
      this.refusal = null;
      if (phase !== "setup") this.setupOutput = "";
    }
    const review = phase === this.view.phase ? this.view.review : null;
    this.#place({ ...this.view, turn, round, attempt, phase, review });
    this.#reload();
  }

  #hearTool({ call }: Heard<"model/tool">): void {
    const messages = [...this.view.messages];
    const text = notYetIn(messages, this.live);
    const { turn, round } = call;
    if (text !== "") messages.push({ kind: "model", turn, round, text });
    const known = messages.slice(-4).some(
      (each) => each.kind === "tool" && each.name === call.name && each.target === call.target && each.millis === call.millis,
    );
    if (!known) messages.push({ kind: "tool", ...call });
    this.live = "";
    this.view = { ...this.view, messages };
  }

  #hearGate({ name, event, output = "", result, seconds }: Heard<"gate">): void {
    const known = this.view.gates.find((gate) => gate.name === name);
    const before = known ?? { name, result: "not_run" as const, seconds: null, output: "", put_back: [] };
    const gate =
      event === "start" ? { name, result: "running" as const, seconds: null, output: "", put_back: [] }
      : event === "output" ? { ...before, output: before.output + output }
      : { ...before, result: result ?? before.result, seconds: seconds ?? null };
    const gates = known === undefined ? [...this.view.gates, gate] : this.view.gates.map((each) => (each.name === name ? gate : each));
    this.view = { ...this.view, gates };
  }

  /** Loads the view anew where it holds something that this window did not do itself. */
  #check(): void {
    if (this.review?.isBusy) return;
    if (this.#revisions.isNews(this.#newest)) this.#reload();
  }

  async #load(): Promise<void> {
    if (this.#loading) {
      this.#loadAgain = true;
      return;
    }
    this.#loading = true;
    try {
      do {
        this.#loadAgain = false;
        this.#show(await this.#backend.call("session/load", { session: this.id, rows: false }));
      } while (this.#loadAgain);
    } catch (error) {
      this.#tell(error);
    } finally {
      this.#loading = false;
    }
  }

  #show(view: SessionView): void {
    this.#revisions.shows(view.revision);
    this.live = view.phase === "model" ? notYetIn(view.messages, this.live) : "";
    this.#place(view);
  }

  /** Shows `view`, and brings up the page that its phase asks for, once. */
  #place(view: SessionView): void {
    this.view = view;
    const readable = view.phase === "review" || view.phase === "red" || view.phase === "gates";
    if (!readable) {
      this.review = null;
      this.page = "conversation";
      return;
    }
    if (view.review === null) return;
    const use = view.phase === "red" ? "reading" : view.review.decidable ? "deciding" : "commenting";
    const shown = this.review?.review;
    const isSame = shown?.round === view.review.round && shown.of === view.review.of && (this.review?.use === "reading") === (use === "reading");
    if (this.review !== null && isSame) {
      const opens = this.review.use === "commenting" && use === "deciding";
      this.review.use = use;
      this.review.refresh(view.review);
      // Who reads already goes on reading; for the others the review comes up now.
      if (opens && this.page === "conversation") this.#turnToReview("brief");
      return;
    }
    this.review = new OpenReview(this.#host(), view.review, use);
    if (use !== "commenting") this.#turnToReview(use === "reading" ? "red" : "brief");
  }

  #turnToReview(page: Page): void {
    if (this.isComposing) return;
    this.page = page;
    this.turnedAt = performance.now();
  }

  #host(): ReviewHost {
    return {
      backend: this.#backend,
      session: this.id,
      revisions: this.#revisions,
      tell: this.#tell,
      settled: () => this.#check(),
      reload: () => this.#load(),
    };
  }
}
