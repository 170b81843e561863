/**
 * Where every file, hunk and row of a review stands, so that only what is near the viewport has to exist.
 *
 * All measures are in CSS pixels from the top of the review. A file is its head and its hunks, one below
 * the other; a hunk is a card whose height is known, or estimated until it was once on screen.
 */

/** Height of one code row, `--lh-code`. */
export const ROW = 20;
/** Height of a file's head, `--h-file-head`. */
export const FILE_HEAD = 40;
/** Height of a hunk's head, `--h-hunk-head`; it and the file's head stay in view. */
export const HUNK_HEAD = 40;
/** Room under a hunk, `--space-8`. */
const HUNK_GAP = 8;
/** Room under a file, `--space-8`. */
const FILE_GAP = 8;

/** First and last index, inclusive; `null` where there is none. */
export type Range = [first: number, last: number] | null;

export interface Layout {
  /** Top of each file. */
  fileTops: number[];
  /** Height of each file, the room under it included. */
  fileHeights: number[];
  /** Top of each hunk's card, hunks counted through all files. */
  hunkTops: number[];
  /** Height of each hunk's card. */
  hunkHeights: number[];
  /** Height of all. */
  total: number;
}

/** Lays out files of so many hunks each; `heightOf` gives the height of one hunk's card. */
export function layOut(hunksPerFile: readonly number[], heightOf: (hunk: number) => number): Layout {
  const layout: Layout = { fileTops: [], fileHeights: [], hunkTops: [], hunkHeights: [], total: 0 };
  let top = 0;
  for (const count of hunksPerFile) {
    layout.fileTops.push(top);
    const start = top;
    top += FILE_HEAD;
    for (let left = count; left > 0; left--) {
      const height = heightOf(layout.hunkTops.length);
      layout.hunkTops.push(top);
      layout.hunkHeights.push(height);
      top += height + HUNK_GAP;
    }
    top += FILE_GAP;
    layout.fileHeights.push(top - start);
  }
  layout.total = top;
  return layout;
}

/** The items that lie at least partly between `from` and `to`; `tops` rises. */
export function within(tops: readonly number[], heights: readonly number[], from: number, to: number): Range {
  const last = countBefore(tops, to) - 1;
  let first = Math.max(0, countBefore(tops, from) - 1);
  while (first <= last && tops[first]! + heights[first]! <= from) first++;
  return first <= last ? [first, last] : null;
}

/** The rows of a block of `count` rows that lie between `from` and `to`, both counted from its top. */
export function rowsWithin(count: number, from: number, to: number): Range {
  const first = Math.max(0, Math.floor(from / ROW));
  const last = Math.min(count - 1, Math.ceil(to / ROW) - 1);
  return first <= last ? [first, last] : null;
}

/** What stays where it is on screen when heights change: a hunk, and how far above the viewport's top it begins. */
export interface Anchor {
  hunk: number;
  offset: number;
}

/** The first hunk that is visible below the heads at scroll position `scroll`; `null` in an empty review. */
export function anchorAt(layout: Layout, scroll: number): Anchor | null {
  const edge = scroll + FILE_HEAD;
  let hunk = Math.max(0, countBefore(layout.hunkTops, edge + 1) - 1);
  const count = layout.hunkTops.length;
  if (count === 0) return null;
  while (hunk < count - 1 && layout.hunkTops[hunk]! + layout.hunkHeights[hunk]! <= edge) hunk++;
  return { hunk, offset: scroll - layout.hunkTops[hunk]! };
}

/**
 * The scroll position that keeps `anchor` where it was. A hunk that shrank to less than what was scrolled
 * past it is brought to just under the file's head.
 */
export function scrollFor(layout: Layout, anchor: Anchor): number {
  const height = layout.hunkHeights[anchor.hunk] ?? 0;
  const offset = Math.min(anchor.offset, Math.max(height - HUNK_HEAD - FILE_HEAD, -FILE_HEAD));
  return Math.max(0, (layout.hunkTops[anchor.hunk] ?? 0) + offset);
}

/**
 * The scroll position that shows `hunk`, moving as little as can be: not at all where it is whole in view,
 * else with the hunk under its file's head, or a quarter down where it is short.
 */
export function reveal(layout: Layout, hunk: number, scroll: number, viewport: number): number {
  const top = layout.hunkTops[hunk];
  const height = layout.hunkHeights[hunk];
  if (top === undefined || height === undefined) return scroll;
  if (top >= scroll + FILE_HEAD && top + height <= scroll + viewport) return scroll;
  const room = viewport - FILE_HEAD - height;
  const above = FILE_HEAD + Math.max(0, Math.min(room / 2, viewport / 4 - FILE_HEAD));
  return Math.max(0, Math.min(top - above, layout.total - viewport));
}

/** How many of the rising `values` are less than `limit`. */
function countBefore(values: readonly number[], limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
