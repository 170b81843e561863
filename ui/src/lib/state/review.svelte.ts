import { asCallError, type Backend } from "$lib/backend";
import type { CommentView, FileText, FileView, Finish, HunkView, Review, WirePath } from "$lib/bindings/wire";
import { estimateBesideRows, FOLDED } from "$lib/model/heights";
import { recall, remember } from "$lib/model/memory";
import { RowPages } from "$lib/model/pages";
import type { Revisions } from "$lib/model/revisions";
import {
  isWithoutLines, neighbourFile, nextUndecided, places, tally, type Given, type Line, type Place, type Verdict,
} from "$lib/model/review";
import { layOut, ROW, type Layout } from "$lib/model/rows";

/** Whether the user decides, comments while gates still run, or only reads what was decided. */
export type Use = "deciding" | "commenting" | "reading";

/** An open box for a comment. */
export interface Box {
  on: Line | null;
}

/** A comment that is not saved yet. */
export interface Draft extends Box {
  text: string;
}

/** Why what decides a hunk does nothing while its review is only read. */
const NOT_NOW = "Verdicts cannot be given now";

/** A wish to see a hunk, and whether the focus goes there with it. */
interface Request {
  hunk: number;
  focus: boolean;
}

/** What a review needs of the session that it belongs to. */
export interface ReviewHost {
  backend: Backend;
  session: string;
  revisions: Revisions;
  /** Tells the user what went wrong. */
  tell(error: unknown): void;
  /** No call is under way any more. */
  settled(): void;
  /** Fetches the whole view again. */
  reload(): Promise<void>;
}

/** A review on screen: what the core holds, and at once what the user does to it. */
export class OpenReview {
  use = $state<Use>("reading");
  readonly pages: RowPages;
  review: Review;
  verdicts = $state.raw<readonly Verdict[]>([]);
  comments = $state.raw<readonly (readonly CommentView[])[]>([]);
  current = $state(0);
  request = $state.raw<Request | null>(null);
  finishing = $state(false);
  /** Counts the pages of rows that have come, so that what shows rows looks again. */
  arrivals = $state(0);
  #unfolded = $state.raw<ReadonlySet<string>>(new Set());
  #boxes = $state.raw<ReadonlyMap<string, Box>>(new Map());
  #measures = $state(0);
  #measured = new Map<string, number>();
  #host: ReviewHost;
  #underWay = 0;
  /** Verdicts that the core has not confirmed, by hunk. */
  #pending = new Map<string, Given>();

  /** Where the user is choosing to split: the hunk, and which of its gaps. */
  #splitting = $state.raw<{ hunk: string; gap: number } | null>(null);

  readonly places: readonly Place[] = $derived.by(() => places(this.review));
  readonly tally = $derived(tally(this.verdicts));
  /** Whether every hunk has a verdict. */
  readonly complete = $derived(this.tally.undecided === 0);
  readonly layout = $derived.by(() => this.#layOut());
  /** The gap of the current hunk that the user has come to, counted from 0; `null` where none is chosen. */
  readonly gap = $derived.by(() => {
    const hunk = this.places[this.current]?.hunk.id;
    return this.#splitting !== null && this.#splitting.hunk === hunk ? this.#splitting.gap : null;
  });

  constructor(host: ReviewHost, review: Review, use: Use) {
    this.review = $state.raw(review);
    this.#host = host;
    this.use = use;
    this.pages = new RowPages(
      async (hunk, first, last) => {
        try {
          return (await host.backend.call("review/rows", { session: host.session, hunk, first, last })).rows;
        } catch (error) {
          host.tell(error);
          throw error;
        }
      },
      () => this.arrivals++,
    );
    this.refresh(review);
    this.current = Math.max(0, this.verdicts.indexOf(null));
    this.#resume();
  }

  /** Takes over the same round's review in a newer state; what the user does now goes on. */
  refresh(review: Review): void {
    const hunk = this.places[this.current]?.hunk.id;
    this.review = review;
    this.verdicts = this.places.map((place) => {
      const pending = this.#pending.get(place.hunk.id);
      return pending === undefined || place.hunk.verdict === "edited" ? place.hunk.verdict : pending;
    });
    this.comments = this.places.map((place) => place.hunk.comments);
    const at = this.places.findIndex((place) => place.hunk.id === hunk);
    if (at >= 0) this.current = at;
    else this.current = Math.min(this.current, Math.max(0, this.places.length - 1));
  }

  /** Whether a verdict or comment is on its way to the core. */
  get isBusy(): boolean {
    return this.#underWay > 0;
  }

  isFolded(index: number): boolean {
    const id = this.#hunk(index).id;
    return this.use !== "reading" && this.verdicts[index] !== null && !this.#unfolded.has(id) && !this.#boxes.has(id);
  }

  boxOf(index: number): Box | null {
    return this.#boxes.get(this.#hunk(index).id) ?? null;
  }

  /**
   * Says how high a card is that is on screen now, so that the next layout is right. In a window of another
   * width the measure is an estimate, until the card is on screen again.
   */
  measure(index: number, height: number): void {
    const hunk = this.places[index]?.hunk;
    if (hunk === undefined || this.isFolded(index)) return;
    const beside = height - hunk.row_count * ROW;
    if (Math.abs((this.#measured.get(hunk.id) ?? -1) - beside) < 0.5) return;
    this.#measured.set(hunk.id, beside);
    this.#measures++;
  }

  /** Makes a hunk the current one and brings it into view. */
  goTo(index: number): void {
    if (this.places.length === 0) return;
    this.point(Math.max(0, Math.min(index, this.places.length - 1)));
    this.request = { hunk: this.current, focus: true };
    remember(this.#placeKey(), this.#hunk(this.current).id);
  }

  /** Makes a hunk the current one, where it is. */
  point(index: number): void {
    if (this.current === index) return;
    this.#splitting = null;
    this.current = index;
  }

  goToFile(step: 1 | -1): void {
    this.goTo(neighbourFile(this.places, this.current, step));
  }

  goToUndecided(): void {
    const next = nextUndecided(this.verdicts, this.current);
    if (next !== null) this.goTo(next);
  }

  /** Unfolds a decided hunk, or folds it again. */
  toggleFold(index: number): void {
    const id = this.#hunk(index).id;
    const unfolded = new Set(this.#unfolded);
    if (this.isFolded(index)) unfolded.add(id);
    else {
      unfolded.delete(id);
      this.closeBox(index);
    }
    this.#unfolded = unfolded;
    this.point(index);
  }

  /** Gives or clears a verdict; then the next undecided hunk is the current one. */
  async decide(index: number, verdict: Given): Promise<void> {
    const done = this.#give(index, verdict);
    const next = verdict === null ? null : nextUndecided(this.verdicts, index);
    this.goTo(next ?? index);
    await done;
  }

  /** Gives a verdict to every hunk of the current file that has none. */
  async decideRestOfFile(verdict: Given): Promise<void> {
    const file = this.places[this.current]?.file;
    const calls: Promise<void>[] = [];
    this.places.forEach((place, index) => {
      if (place.file === file && this.verdicts[index] === null) calls.push(this.#give(index, verdict));
    });
    this.goTo(nextUndecided(this.verdicts, this.current) ?? this.current);
    await Promise.all(calls);
  }

  async #give(index: number, verdict: Given): Promise<void> {
    const { id } = this.#hunk(index);
    const before = this.verdicts[index] ?? null;
    if (before === verdict || before === "edited" || this.use !== "deciding") return;
    this.#setVerdict(id, verdict);
    this.#unfolded = new Set([...this.#unfolded].filter((each) => each !== id));
    this.#pending.set(id, verdict);
    await this.#change(
      () => this.#host.backend.call("review/decide", { session: this.#host.session, hunk: id, verdict }),
      () => this.#pending.get(id) === verdict && this.#setVerdict(id, before),
    );
    if (this.#pending.get(id) === verdict) this.#pending.delete(id);
  }

  /** Why a hunk cannot be split; `null` where it can. */
  cannotSplit(index: number): string | null {
    if (this.use !== "deciding") return NOT_NOW;
    if (this.verdicts[index] === "edited") return "Your text decides this file";
    return this.#hunk(index).split_at.length > 0 ? null : "No unchanged line lies between its changes";
  }

  /** Splits a hunk in its gap. Where it has several, the user chooses among them. */
  startSplit(index: number): void {
    if (this.cannotSplit(index) !== null) return;
    const { id, split_at } = this.#hunk(index);
    if (split_at.length === 1) return void this.split(index, split_at);
    this.#unfolded = new Set(this.#unfolded).add(id);
    this.point(index);
    this.#splitting = { hunk: id, gap: 0 };
  }

  /** Goes to another gap of the hunk that is being split. */
  chooseGap(gap: number): void {
    const { id, split_at } = this.#hunk(this.current);
    if (this.gap !== null) this.#splitting = { hunk: id, gap: Math.max(0, Math.min(gap, split_at.length - 1)) };
  }

  /** Leaves the hunk whole. */
  leaveSplit(): void {
    this.#splitting = null;
    this.goTo(this.current);
  }

  /** Splits a hunk at these rows; its first part is then the current hunk. */
  async split(index: number, at: readonly number[]): Promise<void> {
    const hunk = this.#hunk(index).id;
    this.#splitting = null;
    const params = { session: this.#host.session, hunk, at: [...at] };
    const parts = await this.#change(() => this.#host.backend.call("review/split", params), () => {});
    if (parts === null) return;
    await this.#host.reload();
    const first = this.#indexOf(parts.hunks[0] ?? "");
    if (first >= 0) this.goTo(first);
  }

  /** The file that a hunk belongs to. */
  fileOf(index: number): FileView {
    return this.review.files[this.places[index]!.file]!;
  }

  /** The text of a file, as proposed or as the user made it. */
  async textOf(path: WirePath): Promise<FileText | null> {
    try {
      return await this.#host.backend.call("review/file", { session: this.#host.session, path });
    } catch (error) {
      this.#host.tell(error);
      return null;
    }
  }

  /** Which lines of a file's proposed text are new in this review, counted from 1. */
  async newLines(file: FileView): Promise<number[]> {
    const { session, backend } = this.#host;
    try {
      const all = await Promise.all(
        file.hunks.filter((hunk) => !isWithoutLines(hunk)).map(({ id, row_count }) =>
          backend.call("review/rows", { session, hunk: id, first: 0, last: row_count - 1 }),
        ),
      );
      return all.flatMap(({ rows }) => rows.flatMap((row) => (row.kind === "+" ? (row.new ?? []) : [])));
    } catch (error) {
      this.#host.tell(error);
      return [];
    }
  }

  /** Puts the user's own text in the place of a file, or withdraws it; whether that was taken. */
  async edit(path: WirePath, content: string | null): Promise<boolean> {
    const params = { session: this.#host.session, path, content };
    const done = await this.#change(() => this.#host.backend.call("review/edit", params), () => {});
    if (done === null) return false;
    await this.#host.reload();
    return true;
  }

  /** Opens a file in the user's own editor. */
  async editOutside(path: WirePath): Promise<boolean> {
    try {
      await this.#host.backend.call("review/edit_outside", { session: this.#host.session, path });
      return true;
    } catch (error) {
      this.#host.tell(error);
      return false;
    }
  }

  /** Why a hunk's file cannot be edited; `null` where it can. */
  cannotEdit(index: number): string | null {
    if (this.use !== "deciding") return NOT_NOW;
    if (this.review.of === "tree") return "It is your own file: edit it where it lies";
    return this.fileOf(index).editable ? null : "Only text can be edited";
  }

  /** Opens the box for a comment on a hunk, or on one of its lines; a draft goes on where it was. */
  openBox(index: number, on: Line | null = this.draftOf(index).on): void {
    const id = this.#hunk(index).id;
    this.#boxes = new Map(this.#boxes).set(id, { on });
    this.point(index);
  }

  closeBox(index: number): void {
    const boxes = new Map(this.#boxes);
    if (boxes.delete(this.#hunk(index).id)) this.#boxes = boxes;
  }

  /** The comment on a hunk that is not saved yet. */
  draftOf(index: number): Draft {
    const kept = recall(this.#draftKey(this.#hunk(index).id));
    return kept === null ? { text: "", on: null } : (JSON.parse(kept) as Draft);
  }

  keepDraft(index: number, draft: Draft): void {
    remember(this.#draftKey(this.#hunk(index).id), draft.text === "" ? null : JSON.stringify(draft));
  }

  /** Saves a comment; whether it was saved. What could not be saved stays in the box. */
  async comment(index: number, text: string, on: Line | null): Promise<boolean> {
    const hunk = this.#hunk(index).id;
    const params = { session: this.#host.session, hunk, text, ...on };
    const made = await this.#change(() => this.#host.backend.call("review/comment", params), () => {});
    if (made === null) return false;
    this.#setComments(hunk, (comments) => [...comments, { id: made.comment, text, ...on }]);
    remember(this.#draftKey(hunk), null);
    this.closeBox(index);
    return true;
  }

  /** Takes a saved comment back. */
  async uncomment(index: number, comment: CommentView): Promise<void> {
    const hunk = this.#hunk(index).id;
    this.#setComments(hunk, (comments) => comments.filter((each) => each.id !== comment.id));
    await this.#change(
      () => this.#host.backend.call("review/uncomment", { session: this.#host.session, comment: comment.id }),
      () => this.#setComments(hunk, (comments) => [...comments, comment]),
    );
  }

  /** Finishes the review; whether the core took it. */
  async finish(how: Finish): Promise<boolean> {
    if (this.finishing) return false;
    this.finishing = true;
    try {
      await this.#host.backend.call("review/finish", { session: this.#host.session, how });
      return true;
    } catch (error) {
      this.#host.tell(error);
      if (asCallError(error).kind === "undecided") void this.#host.reload();
      return false;
    } finally {
      this.finishing = false;
    }
  }

  /** Makes a change that is shown already; `undo` shows the state before where the core refuses it. */
  async #change<T extends { revision: number }>(call: () => Promise<T>, undo: () => void): Promise<T | null> {
    this.#underWay++;
    try {
      const result = await call();
      this.#host.revisions.made(result.revision);
      return result;
    } catch (error) {
      undo();
      this.#host.tell(error);
      if (asCallError(error).kind === "stale") void this.#host.reload();
      return null;
    } finally {
      this.#underWay--;
      if (this.#underWay === 0) this.#host.settled();
    }
  }

  #hunk(index: number): HunkView {
    return this.places[index]!.hunk;
  }

  #indexOf(id: string): number {
    return this.places.findIndex((place) => place.hunk.id === id);
  }

  #setVerdict(id: string, verdict: Verdict): void {
    const at = this.#indexOf(id);
    if (at >= 0) this.verdicts = this.verdicts.with(at, verdict);
  }

  #setComments(id: string, change: (comments: readonly CommentView[]) => readonly CommentView[]): void {
    const at = this.#indexOf(id);
    if (at >= 0) this.comments = this.comments.with(at, change(this.comments[at]!));
  }

  /** Runs on every verdict, over every hunk: what it reads of the state it reads once. */
  #layOut(): Layout {
    void this.#measures;
    const { places, verdicts, comments, use } = this;
    const [unfolded, boxes] = [this.#unfolded, this.#boxes];
    return layOut(this.review.files.map((file) => file.hunks.length), (index) => {
      const { hunk } = places[index]!;
      if (use === "deciding" && verdicts[index] !== null && !unfolded.has(hunk.id) && !boxes.has(hunk.id)) return FOLDED;
      const shown = { rows: !isWithoutLines(hunk), comments: comments[index]!.length, box: boxes.has(hunk.id) };
      return (this.#measured.get(hunk.id) ?? estimateBesideRows(hunk, shown)) + hunk.row_count * ROW;
    });
  }

  /** Goes back to where this round's review was left. */
  #resume(): void {
    const at = this.#indexOf(recall(this.#placeKey()) ?? "");
    if (at < 0) return;
    this.current = at;
    this.request = { hunk: at, focus: false };
  }

  #placeKey(): string {
    return `place.${this.#host.session}.${this.review.round}`;
  }

  #draftKey(hunk: string): string {
    return `comment.${this.#host.session}.${hunk}`;
  }
}
