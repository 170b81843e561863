import type { Row } from "$lib/bindings/wire";

/** A stretch of one colour; `colour` is a class of the theme, or empty. */
export interface Stretch {
  text: string;
  colour: string;
}

/** Stretches that are all inside, or all outside, one word mark. */
export interface Piece {
  marked: boolean;
  stretches: Stretch[];
}

/** The classes that a theme has a colour for. Nothing else may become a class of an element. */
const COLOURS = new Set("kscnmtfvpoga");

/** Cuts a row's text where its colours and its word marks begin and end. Both are sorted and do not overlap. */
export function pieces(row: Row): Piece[] {
  const { text, spans = [], marks = [] } = row;
  const result: Piece[] = [];
  let at = 0;
  let span = 0;
  let mark = 0;
  while (at < text.length) {
    while (span < spans.length && spans[span]![1] <= at) span++;
    while (mark < marks.length && marks[mark]![1] <= at) mark++;
    const [spanStart, spanEnd, colour] = spans[span] ?? [text.length, text.length, ""];
    const [markStart, markEnd] = marks[mark] ?? [text.length, text.length];
    const coloured = spanStart <= at;
    const marked = markStart <= at;
    const end = Math.min(text.length, coloured ? spanEnd : spanStart, marked ? markEnd : markStart);
    const stretch = { text: text.slice(at, end), colour: coloured && COLOURS.has(colour) ? colour : "" };
    const last = result.at(-1);
    // Two marks that touch are still two.
    if (last !== undefined && last.marked === marked && !(marked && at === markStart)) last.stretches.push(stretch);
    else result.push({ marked, stretches: [stretch] });
    at = end;
  }
  return result;
}

/**
 * A row's code as HTML. Rows come by the hundred while one scrolls, and a string is parsed several times
 * faster than as many elements are made one by one. Text is escaped, and a class is one of the theme's.
 */
export function codeHtml(row: Row): string {
  return pieces(row)
    .map(({ marked, stretches }) => {
      const inner = stretches
        .map(({ text, colour }) => (colour === "" ? escaped(text) : `<span class="${colour}">${escaped(text)}</span>`))
        .join("");
      return marked ? `<mark>${inner}</mark>` : inner;
    })
    .join("");
}

/**
 * What changes how a line reads and is not seen itself: controls but the tab, marks of direction, and
 * characters without a width. In an emoji, joiners and variation selectors do what they are there for.
 */
const UNSEEN = /(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?)[\u200d\ufe0f]|(?![\u200d\ufe0f\t])[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/gu;

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replace(UNSEEN, (character) => `<span class="unseen">${codePoint(character)}</span>`);
}

/** `U+202E`. */
function codePoint(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
}
