import { asCallError, type Backend } from "$lib/backend";
import type { GateDefinition, Notification, OpenedRepo, RecentRepo, SessionLine, WirePath } from "$lib/bindings/wire";
import type { Command } from "$lib/model/keymap";
import { displayPath } from "$lib/model/path";
import type { Given } from "$lib/model/review";
import { debounce } from "$lib/model/when";
import { count } from "$lib/model/words";
import type { OpenReview } from "./review.svelte";
import { OpenSession } from "./session.svelte";

/** What the demo's composer suggests; the recorded model was made for it. */
export const DEMO_PROMPT =
  "The signing secret is hard-coded in src/auth.rs. Take it out of the source, and make a bad token an error instead of a panic.";

/** Above this width the sidebar stands beside the page; below, it lies over it. */
export const WIDE = "(min-width: 1000px)";

/** How long a page that came up by itself takes no letter that would end a review. */
const SETTLING_MS = 300;

/** What lies over the window. */
export type Dialog =
  | { kind: "keys" }
  | { kind: "gate"; name: string }
  | { kind: "patch"; turn: number; patch: string }
  | { kind: "question"; title: string; words: string; yes: string; no: string; run: () => void };

/** The window: a repository, its sessions, and the one that is open. */
export class App {
  readonly backend: Backend;
  repo = $state.raw<OpenedRepo | null>(null);
  recent = $state.raw<readonly RecentRepo[]>([]);
  sessions = $state.raw<readonly SessionLine[]>([]);
  session = $state.raw<OpenSession | null>(null);
  /** Whether the page to choose a repository is shown. */
  isChoosing = $state(true);
  isOpening = $state(false);
  trouble = $state<string | null>(null);
  /** What the user is told that is no trouble. */
  notice = $state<string | null>(null);
  dialog = $state.raw<Dialog | null>(null);
  /** Whether the sidebar stands beside the page. */
  side = $state(true);
  /** Whether the sidebar lies over the page, in a narrow window. */
  drawer = $state(false);
  /** Whether the user put off agreeing to the repository's commands. */
  trustLater = $state(false);
  /** Whether the user put off the gates that were found. */
  gatesLater = $state(false);
  #listSessions = debounce(() => void this.#loadSessions(), 50);

  constructor(backend: Backend) {
    this.backend = backend;
  }

  /** Opens what the app was started with. */
  async start(): Promise<void> {
    this.backend.listen((notification) => this.#hear(notification));
    await this.#attempt(async () => {
      const opening = await this.backend.opening();
      if (opening === null) return;
      if ("demo" in opening) await this.#openDemo();
      else await this.#open(await this.backend.call("repo/open", { path: opening.path }));
    });
    await this.#loadRecent();
  }

  /** Lets the user choose a folder, and opens it. */
  async chooseFolder(): Promise<void> {
    await this.#attempt(async () => {
      const path = await this.backend.chooseFolder();
      if (path !== null) await this.#open(await this.backend.call("repo/open", { path }));
    });
  }

  openPath(path: WirePath): Promise<void> {
    return this.#attempt(async () => this.#open(await this.backend.call("repo/open", { path })));
  }

  openDemo(): Promise<void> {
    return this.#attempt(() => this.#openDemo());
  }

  /** Shows the page to choose a repository; the open one stays open. */
  async choose(): Promise<void> {
    this.isChoosing = true;
    await this.#loadRecent();
  }

  async newSession(): Promise<void> {
    const { repo } = this;
    if (repo === null) return;
    await this.#attempt(async () => {
      const { session } = await this.backend.call("session/new", { repo: repo.repo });
      await this.#openSession(session);
    });
  }

  openSession(session: string): Promise<void> {
    return this.#attempt(() => this.#openSession(session));
  }

  /** Agrees to the repository's commands, after the system's own dialog asked. */
  async trust(): Promise<void> {
    const { repo } = this;
    if (repo === null) return;
    await this.#attempt(async () => {
      const agreed = await this.backend.confirm({
        title: `Let ${repo.name} run commands`,
        message: `These commands may run on this machine whenever a turn needs them:\n\n${repo.commands.join("\n")}${copiedWords(repo.copied)}`,
        ok: "Agree",
      });
      if (!agreed) return;
      await this.backend.call("repo/trust", { repo: repo.repo, digest: repo.digest });
      this.repo = { ...repo, trusted: true };
    });
  }

  toggleSidebar(): void {
    if (matchMedia(WIDE).matches) this.side = !this.side;
    else this.drawer = !this.drawer;
  }

  /** Tells the user what went wrong. */
  tell(error: unknown): void {
    this.trouble = typeof error === "object" && error !== null && "message" in error && !(error instanceof Error)
      ? String(error.message)
      : asCallError(error).message;
  }

  /** Does what a key, or the control that stands for it, says. */
  run(command: Command): void {
    const { session } = this;
    const review = session?.review ?? null;
    switch (command) {
      case "open":
        void this.chooseFolder();
        return;
      case "new_session":
        void this.newSession();
        return;
      case "sidebar":
        this.toggleSidebar();
        return;
      case "keys":
        this.dialog = { kind: "keys" };
        return;
      case "interrupt":
        if (session?.canStop) void session.interrupt();
        return;
    }
    if (session === null || review === null) return;
    const at = review.current;
    switch (command) {
      case "next":
        return review.goTo(at + 1);
      case "previous":
        return review.goTo(at - 1);
      case "next_file":
        return review.goToFile(1);
      case "previous_file":
        return review.goToFile(-1);
      case "next_undecided":
        return review.goToUndecided();
    }
    if (command === "comment" && review.use !== "reading") return review.openBox(at);
    if (command === "red_edit") return void session.choose("edit");
    if (command === "close") return session.turnTo("brief");
    if (command === "start_review" && review.use === "commenting") {
      session.turnTo("hunks");
      return review.goTo(review.current);
    }
    if (review.use !== "deciding") return;
    switch (command) {
      case "accept":
        return this.#decide(review, at, "accept");
      case "reject":
        return this.#decide(review, at, "reject");
      case "clear":
        return this.#decide(review, at, null);
      case "split":
        return review.startSplit(at);
      case "next_gap":
        return review.chooseGap(review.gap! + 1);
      case "previous_gap":
        return review.chooseGap(review.gap! - 1);
      case "split_here":
        return void review.split(at, [review.places[at]!.hunk.split_at[review.gap!]!]);
      case "split_all":
        return void review.split(at, review.places[at]!.hunk.split_at);
      case "leave_split":
        return review.leaveSplit();
      case "edit":
        if (review.places.length > 0 && review.cannotEdit(at) === null) session.turnTo("editor");
        return;
      case "edit_outside":
        if (review.places.length > 0 && review.cannotEdit(at) === null) void this.#editOutside(review, at);
        return;
      case "accept_file":
        return void review.decideRestOfFile("accept");
      case "reject_file":
        return void review.decideRestOfFile("reject");
      case "finish":
        if (review.complete) this.#takingOut(review, () => void review.finish("finish"));
        return;
      case "refuse_rest":
        return void review.finish("refuse_rest");
      case "stop":
        return this.#askToStop(session);
      case "start_review":
        if (review.places.length === 0) return void review.finish("finish");
        session.turnTo("hunks");
        return review.goTo(review.current);
      case "accept_all":
        if (!this.#isSettling(session)) this.#takingOut(review, () => void this.#acceptAll(session));
        return;
      case "refuse":
        if (!this.#isSettling(session)) this.#askToRefuse(session);
    }
  }

  /** Finishes a review. What that takes out of the user's own files is asked about once. */
  #takingOut(review: OpenReview, finish: () => void): void {
    const { rejected } = review.tally;
    if (review.review.of !== "tree" || rejected === 0) return finish();
    this.dialog = {
      kind: "question",
      title: `Take ${count(rejected, "hunk")} out of your files?`,
      words: "What you chose to take out goes out of the index too, where it is staged. It can be undone afterwards. Everything else stays as it is.",
      yes: "Take out",
      no: "Go on reviewing",
      run: finish,
    };
  }

  /** Accepts what has no verdict and applies it although a gate is red, after the system's own dialog asked. */
  async applyAnyway(review: OpenReview, gates: string): Promise<void> {
    const yes = await this.backend.confirm({
      title: "Apply although a gate is red",
      message: `${gates} on what the model proposes. What you have not rejected is accepted and written to your files, and the model is not asked again.`,
      ok: "Apply a red state",
    });
    if (yes) await review.finish("apply_anyway");
  }

  async #editOutside(review: OpenReview, at: number): Promise<void> {
    if (await review.editOutside(review.fileOf(at).path)) this.notice = "Your editor is open on the file. What you save there before you close it becomes your edit.";
  }

  /** Gives or clears a verdict. The user's own text of the file is one, and goes first. */
  #decide(review: OpenReview, at: number, verdict: Given): void {
    if (review.verdicts[at] === "edited") this.#askToWithdraw(review, at);
    else void review.decide(at, verdict);
  }

  #askToWithdraw(review: OpenReview, at: number): void {
    const file = review.fileOf(at);
    this.dialog = {
      kind: "question",
      title: "Withdraw your edit?",
      words: `Your text of ${displayPath(file.path)} is given up, and ${count(file.hunks.length, "hunk is", "hunks are")} undecided again.`,
      yes: "Withdraw",
      no: "Keep it",
      run: () => void review.edit(file.path, null),
    };
  }

  /** Writes gates into the repository's `heph.toml`. */
  async addGates(gates: GateDefinition[]): Promise<void> {
    const { repo } = this;
    if (repo === null) return;
    await this.#attempt(async () => {
      this.repo = await this.backend.call("repo/add_gates", { repo: repo.repo, gates });
    });
  }

  #isSettling(session: OpenSession): boolean {
    return performance.now() - session.turnedAt < SETTLING_MS;
  }

  async #acceptAll(session: OpenSession): Promise<void> {
    if (await session.review?.finish("accept_all")) return;
    // What runs on the user's machine is left out of it, and wants a verdict of its own.
    session.turnTo("hunks");
    session.review?.goToUndecided();
  }

  #askToRefuse(session: OpenSession): void {
    const review = session.review!;
    const refuse = () => void review.finish("refuse_all");
    if (review.review.of === "tree") return refuse();
    const given = review.places.length - review.tally.undecided;
    if (given === 0) return refuse();
    this.dialog = {
      kind: "question",
      title: "Refuse this round?",
      words: `You have decided ${count(given, "hunk")} already. All of this round is refused, and the turn ends.`,
      yes: "Refuse the round",
      no: "Go on reviewing",
      run: refuse,
    };
  }

  #askToStop(session: OpenSession): void {
    const review = session.review!;
    const { undecided } = review.tally;
    if (review.review.of === "tree") return void review.finish("stop");
    this.dialog = {
      kind: "question",
      title: undecided === 0 ? "End the turn with this review?" : "Stop partway?",
      words: undecided === 0
        ? "What you accepted is applied. The model gets no further round."
        : `${count(undecided, "hunk")} not decided yet. What you accepted is applied, the rest is left out, and the model gets no further round.`,
      yes: undecided === 0 ? "End the turn" : "Stop partway",
      no: "Go on reviewing",
      run: () => void review.finish("stop"),
    };
  }

  #hear(notification: Notification): void {
    const { params } = notification;
    const id = "session" in params ? params.session : undefined;
    if (id === undefined) this.tell(params);
    else if (id === this.session?.id) this.session.hear(notification);
    if (notification.method === "phase" || notification.method === "turn/ended") this.#listSessions();
  }

  async #openDemo(): Promise<void> {
    await this.#open(await this.backend.call("repo/demo", {}));
    const { session } = this;
    if (session !== null && session.view.messages.length === 0 && session.draft === "") session.write(DEMO_PROMPT);
  }

  async #open(repo: OpenedRepo): Promise<void> {
    const { sessions } = await this.backend.call("session/list", { repo: repo.repo });
    const latest = sessions[0]?.session ?? (await this.backend.call("session/new", { repo: repo.repo })).session;
    const view = await this.backend.call("session/load", { session: latest, rows: false });
    this.repo = repo;
    this.trustLater = false;
    this.gatesLater = false;
    this.#place(new OpenSession(this.backend, view, (error) => this.tell(error)));
    if (repo.problems.length > 0) this.trouble = repo.problems.join("\n");
  }

  async #openSession(id: string): Promise<void> {
    const view = await this.backend.call("session/load", { session: id, rows: false });
    this.#place(new OpenSession(this.backend, view, (error) => this.tell(error)));
  }

  #place(session: OpenSession): void {
    this.session?.leave();
    this.session = session;
    this.isChoosing = false;
    this.drawer = false;
    this.#listSessions();
  }

  async #loadSessions(): Promise<void> {
    const { repo } = this;
    if (repo === null) return;
    try {
      this.sessions = (await this.backend.call("session/list", { repo: repo.repo })).sessions;
    } catch (error) {
      this.tell(error);
    }
  }

  async #loadRecent(): Promise<void> {
    try {
      this.recent = (await this.backend.call("repo/recent", {})).repos;
    } catch (error) {
      this.tell(error);
    }
  }

  async #attempt(run: () => Promise<void>): Promise<void> {
    this.isOpening = true;
    this.trouble = null;
    try {
      await run();
    } catch (error) {
      this.tell(error);
    } finally {
      this.isOpening = false;
    }
  }
}

function copiedWords(copied: readonly string[]): string {
  return copied.length === 0 ? "" : `\n\nThese ignored files are copied to where the model works:\n\n${copied.join("\n")}`;
}
