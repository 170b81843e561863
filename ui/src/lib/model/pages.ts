import type { Row } from "$lib/bindings/wire";

/** Rows in one page. */
export const PAGE = 200;
/** Pages kept; the ones not looked at for longest go first. */
const KEPT = 120;
/** Requests under way at one time. */
const AT_ONCE = 4;

/** One page of one hunk's rows. */
export interface PageKey {
  hunk: string;
  page: number;
}

/**
 * The rows of a review, fetched a page at a time when they come into view. Only what was wanted last is
 * fetched, so that a long scroll does not load what it passes.
 */
export class RowPages {
  #pages = new Map<string, Row[]>();
  #underWay = new Set<string>();
  #failed = new Set<string>();
  #wanted: PageKey[] = [];
  #fetch: (hunk: string, first: number, last: number) => Promise<Row[]>;
  #arrived: () => void;

  /** `fetch` gives rows `first..=last` of a hunk; `arrived` is called after each page. */
  constructor(fetch: (hunk: string, first: number, last: number) => Promise<Row[]>, arrived: () => void) {
    this.#fetch = fetch;
    this.#arrived = arrived;
  }

  /** A row, where its page has come. */
  row(hunk: string, index: number): Row | undefined {
    return this.#pages.get(name(hunk, Math.floor(index / PAGE)))?.[index % PAGE];
  }

  /** The index of the row with this line number, among the pages that have come. */
  find(hunk: string, rows: number, matches: (row: Row) => boolean): number | undefined {
    for (let page = 0; page * PAGE < rows; page++) {
      const at = this.#pages.get(name(hunk, page))?.findIndex(matches) ?? -1;
      if (at >= 0) return page * PAGE + at;
    }
    return undefined;
  }

  /** Says which pages are in view now, in place of those said before. */
  want(pages: PageKey[]): void {
    this.#wanted = pages;
    for (const { hunk, page } of pages) {
      const key = name(hunk, page);
      const rows = this.#pages.get(key);
      if (rows === undefined) continue;
      this.#pages.delete(key);
      this.#pages.set(key, rows);
    }
    this.#pump();
  }

  #pump(): void {
    for (const { hunk, page } of this.#wanted) {
      if (this.#underWay.size >= AT_ONCE) return;
      const key = name(hunk, page);
      if (this.#pages.has(key) || this.#underWay.has(key) || this.#failed.has(key)) continue;
      this.#underWay.add(key);
      void this.#load(hunk, page, key);
    }
  }

  async #load(hunk: string, page: number, key: string): Promise<void> {
    try {
      const rows = await this.#fetch(hunk, page * PAGE, (page + 1) * PAGE - 1);
      this.#pages.set(key, rows);
      for (const oldest of this.#pages.keys()) {
        if (this.#pages.size <= KEPT) break;
        this.#pages.delete(oldest);
      }
    } catch {
      // The fetch has told the user. Asking again and again for what is refused would help nobody.
      this.#failed.add(key);
    }
    this.#underWay.delete(key);
    this.#arrived();
    this.#pump();
  }
}

function name(hunk: string, page: number): string {
  return `${page} ${hunk}`;
}
