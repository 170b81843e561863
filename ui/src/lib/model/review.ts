import type { CommentView, FileView, HunkView, Review, Reviewed, Side, VerdictName, VerdictView } from "$lib/bindings/wire";
import { displayPath } from "./path";

/** What was decided on a hunk, or that nothing was. */
export type Verdict = VerdictView | null;

/** A verdict that can be given, or its clearing. */
export type Given = VerdictName | null;

/** A hunk and where it stands in the review. */
export interface Place {
  hunk: HunkView;
  file: number;
  path: string;
}

/** The line that a comment is about. */
export interface Line {
  line: number;
  side: Side;
}

/** All hunks of a review, in the order in which they are read. */
export function places(review: Review): Place[] {
  return review.files.flatMap((view, file) => {
    const path = displayPath(view.path);
    return view.hunks.map((hunk) => ({ hunk, file, path }));
  });
}

/** How many hunks have which verdict. */
export interface Tally {
  accepted: number;
  rejected: number;
  /** Decided by the user's own text of the file. */
  edited: number;
  undecided: number;
}

export function tally(verdicts: readonly Verdict[]): Tally {
  const result = { accepted: 0, rejected: 0, edited: 0, undecided: 0 };
  for (const verdict of verdicts) {
    if (verdict === "accept") result.accepted++;
    else if (verdict === "reject") result.rejected++;
    else if (verdict === "edited") result.edited++;
    else result.undecided++;
  }
  return result;
}

/** The undecided hunk after `from`, going round at the end; `null` where every hunk has a verdict. */
export function nextUndecided(verdicts: readonly Verdict[], from: number): number | null {
  for (let step = 1; step <= verdicts.length; step++) {
    const at = (from + step) % verdicts.length;
    if (verdicts[at] === null) return at;
  }
  return null;
}

/** The first hunk of the file after or before that of `from`; `from` itself where there is no such file. */
export function neighbourFile(all: readonly Place[], from: number, step: 1 | -1): number {
  const file = all[from]?.file;
  if (file === undefined) return from;
  if (step === 1) {
    const next = all.findIndex((place) => place.file > file);
    return next < 0 ? from : next;
  }
  const own = all.findIndex((place) => place.file === file);
  if (own < from || own === 0) return own;
  return all.findIndex((place) => place.file === all[own - 1]!.file);
}

/** Whether the hunk is a change without lines: of a mode, a symlink, a binary file. */
export function isWithoutLines(hunk: HunkView): boolean {
  return hunk.row_count === 0;
}

/** What a hunk is called in its head: a number, or the kind of a change without lines. */
export function hunkName(hunk: HunkView, change: FileView["change"]): string {
  if (!isWithoutLines(hunk)) return `Hunk ${hunk.number}`;
  if (hunk.what.startsWith("mode")) return "Mode";
  if (hunk.what.startsWith("renamed")) return "Rename";
  if (hunk.what === "line endings") return "Line ends";
  if (change === "symlink" || hunk.what.startsWith("symlink")) return "Symlink";
  if (change === "binary" || hunk.what.startsWith("binary")) return "Binary";
  if (change === "added") return "New file";
  if (change === "deleted") return "Deleted";
  return `Change ${hunk.number}`;
}

/** What a hunk is about, as its head has it beside its name: lines with a dash that joins numbers, else what the name does not say. */
export function printedWhat(what: string): string {
  if (what === "line endings") return "no other change";
  if (what === "binary") return "cannot be shown as text";
  return what.replace(/^lines (\d+)-(\d+)$/, "lines $1–$2");
}

/** What the two verdicts are called, before and after they are given. */
export interface VerdictWords {
  accept: string;
  accepted: string;
  reject: string;
  rejected: string;
}

/** In a review of the user's own tree nothing is proposed: a hunk is kept, or taken out when the review is finished. */
export function verdictWords(of: Reviewed): VerdictWords {
  if (of === "tree") return { accept: "Keep", accepted: "Kept", reject: "Take out", rejected: "Goes out" };
  return { accept: "Accept", accepted: "Accepted", reject: "Reject", rejected: "Rejected" };
}

/** A verdict as a folded hunk has it. */
export function saidOf(verdict: VerdictView, of: Reviewed): string {
  if (verdict === "edited") return "Edited by you";
  const { accepted, rejected } = verdictWords(of);
  return verdict === "accept" ? accepted : rejected;
}

/** What a screen reader says of a hunk. */
export function hunkLabel(place: Place, index: number, total: number, verdict: Verdict, of: Reviewed): string {
  const { hunk, path } = place;
  const what = hunk.what.replace(/^lines (\d+)-(\d+)$/, "lines $1 to $2");
  const said = verdict === null ? "undecided" : saidOf(verdict, of).toLowerCase();
  const answers = hunk.answers === undefined ? "" : ", answers your comment";
  return `hunk ${index + 1} of ${total}, ${path}, ${what}, ${said}${answers}`;
}

/** A part of a hunk's body, from top to bottom. */
export type Part =
  | { kind: "rows"; first: number; last: number }
  | { kind: "comment"; comment: CommentView }
  | { kind: "box" };

/**
 * Puts comments, and the box for a new one, under the rows that they are about; those about the whole
 * hunk, or about a row that is not known yet, come last. `rowOf` finds the row of a line.
 */
export function bodyParts(
  rows: number,
  comments: readonly CommentView[],
  box: { on: Line | null } | null,
  rowOf: (on: Line) => number | undefined,
): Part[] {
  const under = new Map<number, Part[]>();
  const last: Part[] = [];
  const put = (on: Line | null, part: Part) => {
    const row = on === null ? undefined : rowOf(on);
    if (row === undefined) last.push(part);
    else under.set(row, [...(under.get(row) ?? []), part]);
  };
  for (const comment of comments) put(lineOf(comment), { kind: "comment", comment });
  if (box !== null) put(box.on, { kind: "box" });
  const parts: Part[] = [];
  let first = 0;
  for (const row of [...under.keys()].sort((a, b) => a - b)) {
    parts.push({ kind: "rows", first, last: row }, ...under.get(row)!);
    first = row + 1;
  }
  if (first < rows) parts.push({ kind: "rows", first, last: rows - 1 });
  return [...parts, ...last];
}

/** The line that a comment is about, where it names one. */
export function lineOf(comment: CommentView): Line | null {
  return comment.line === undefined ? null : { line: comment.line, side: comment.side ?? "new" };
}

/** `line 27`, or `old line 27`. */
export function printedLine(on: Line): string {
  return on.side === "old" ? `old line ${on.line}` : `line ${on.line}`;
}
