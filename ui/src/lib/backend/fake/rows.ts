import type { Counts, HunkView, Row } from "$lib/bindings/wire";

/** Enough of a highlighter for the recorded hunks. */
const TOKENS: [string, RegExp][] = [
  ["c", /\/\/.*|#(?!\[).*$/y],
  ["a", /#\[[^\]]*\]/y],
  ["s", /b?"(?:[^"\\]|\\.)*"/y],
  ["k", /\b(?:pub|fn|let|use|struct|impl|async|await|mut|match|return|if|else|for|in|const|export|function|throw|new)\b/y],
  ["f", /\b[a-z_]\w*!?(?=\()/y],
  ["t", /\b[A-Z]\w*\b/y],
  ["n", /\b\d[\d_]*\b/y],
  ["o", /::|->|=>|[=&|?<>!+*-]+/y],
  ["p", /[(){}[\];:,.]+/y],
];

function spansOf(text: string): [number, number, string][] {
  const spans: [number, number, string][] = [];
  for (let at = 0; at < text.length; ) {
    const hit = TOKENS.map(([colour, pattern]) => {
      pattern.lastIndex = at;
      return { colour, found: pattern.exec(text)?.[0] };
    }).find(({ found }) => found !== undefined);
    const length = hit?.found?.length ?? /^\w+|^[^\w]/.exec(text.slice(at))![0].length;
    if (hit !== undefined) spans.push([at, at + length, hit.colour]);
    at += length;
  }
  return spans;
}

/** Marks what differs between a removed line and the added one in its place. */
function markPair(removed: Row, added: Row): void {
  const [a, b] = [removed.text, added.text];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  if (start + end < Math.min(a.length, b.length) / 3) return;
  if (start < a.length - end) removed.marks = [[start, a.length - end]];
  if (start < b.length - end) added.marks = [[start, b.length - end]];
}

/** Rows from the text of a unified diff, numbered from the two first lines. */
export function rowsOf(diff: string, first: [old: number, fresh: number]): Row[] {
  let [old, fresh] = first;
  const rows = diff.replace(/^\n|\n$/g, "").split("\n").map((line): Row => {
    const text = line.slice(1);
    const spans = spansOf(text);
    if (line[0] === "-") return { kind: "-", old: old++, text, spans };
    if (line[0] === "+") return { kind: "+", new: fresh++, text, spans };
    return { kind: " ", old: old++, new: fresh++, text, spans };
  });
  for (let at = 0; at < rows.length; ) {
    if (rows[at]!.kind !== "-") {
      at++;
      continue;
    }
    let added = at;
    while (rows[added]?.kind === "-") added++;
    let end = added;
    while (rows[end]?.kind === "+") end++;
    for (let pair = 0; pair < Math.min(added - at, end - added); pair++) markPair(rows[at + pair]!, rows[added + pair]!);
    at = end;
  }
  return rows;
}

export function countsOf(rows: readonly Row[]): Counts {
  return {
    added: rows.filter((row) => row.kind === "+").length,
    removed: rows.filter((row) => row.kind === "-").length,
  };
}

/** A hunk, with its rows, from the text of a unified diff. */
export function hunkOf(
  id: string,
  number: number,
  first: [number, number],
  context: string,
  rationale: string | undefined,
  diff: string,
): HunkView {
  return { ...hunkView(id, number, context, rowsOf(diff, first)), rationale };
}

/** The part of a hunk that its rows from `from` up to `to` are, as a hunk of its own. */
export function partOf(whole: HunkView, id: string, from: number, to: number): HunkView {
  const part = hunkView(id, whole.number, whole.context, (whole.rows ?? []).slice(from, to));
  return { ...part, rationale: whole.rationale, comments: from === 0 ? whole.comments : [] };
}

function hunkView(id: string, number: number, context: string, rows: Row[]): HunkView {
  const olds = rows.flatMap((row) => row.old ?? []);
  const news = rows.flatMap((row) => row.new ?? []);
  const range: [number, number] = [news[0] ?? 0, news.at(-1) ?? 0];
  return {
    id,
    number,
    what: `lines ${range[0]}-${range[1]}`,
    old: [olds[0] ?? 0, olds.at(-1) ?? 0],
    new: range,
    header: `@@ -${olds[0] ?? 0},${olds.length} +${news[0] ?? 0},${news.length} @@ ${context}`,
    context,
    row_count: rows.length, split_at: splitsOf(rows), changes_your_edit: false,
    rows,
    counts: countsOf(rows),
    verdict: null,
    comments: [],
  };
}

/** The first unchanged row of each gap between two groups of changes. */
function splitsOf(rows: readonly Row[]): number[] {
  const changed = rows.flatMap((row, index) => (row.kind === " " ? [] : [index]));
  return changed.slice(1).flatMap((row, at) => (row > changed[at]! + 1 ? [changed[at]! + 1] : []));
}
