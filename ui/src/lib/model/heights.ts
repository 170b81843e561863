import type { HunkView } from "$lib/bindings/wire";
import { FILE_HEAD, HUNK_HEAD, ROW } from "./rows";

/** Height of a card of which only the head is shown: the head and its border. */
export const FOLDED = HUNK_HEAD + 2;
/** Room above and below code rows, `--space-4` each. */
const CODE_ROOM = 8;
/** Room and border around a band of text. */
const BAND_ROOM = 17;
/** Height of a saved comment of one line, of the box for a new one, of the folded answer. */
const COMMENT = 37;
const BOX = 100;
const ANSWER = 29;
/** What a line of the rationale holds on a window of usual width, in characters. */
const BAND_COLUMNS = 120;

/** What a card shows beside its head. */
export interface Shown {
  rows: boolean;
  comments: number;
  box: boolean;
}

/**
 * What a card's height will be before its rows are counted, until it can be measured. It only has to be
 * near: when the measure comes, what is in view stays where it is.
 */
export function estimateBesideRows(hunk: HunkView, shown: Shown): number {
  const rationale = hunk.rationale === undefined ? 0 : BAND_ROOM + ROW * Math.ceil(hunk.rationale.length / BAND_COLUMNS);
  const answer = hunk.answers === undefined ? 0 : ANSWER + ROW * Math.min(hunk.answers.rows.length, FILE_HEAD);
  const code = shown.rows && hunk.row_count > 0 ? CODE_ROOM : 0;
  return FOLDED + rationale + answer + code + shown.comments * COMMENT + (shown.box ? BOX : 0);
}
