import type { PageKey, RowPages } from "$lib/model/pages";

/** How far beyond what is visible rows and cards already exist, in pixels. */
const AHEAD = 600;

/** What of a review is on screen, and which pages of rows that takes. */
export class Viewport {
  scroll = $state(0);
  height = $state(0);
  readonly from = $derived(this.scroll - AHEAD);
  readonly to = $derived(this.scroll + this.height + AHEAD);
  #pages: RowPages;
  #wants = new Map<string, PageKey[]>();
  #isAsking = false;

  constructor(pages: RowPages) {
    this.#pages = pages;
  }

  /** Says which pages one block of rows shows now; the blocks of one frame ask together. */
  wants(hunk: string, first: number, pages: PageKey[]): void {
    const block = `${first} ${hunk}`;
    if (pages.length === 0) this.#wants.delete(block);
    else this.#wants.set(block, pages);
    if (this.#isAsking) return;
    this.#isAsking = true;
    queueMicrotask(() => {
      this.#isAsking = false;
      this.#pages.want([...this.#wants.values()].flat());
    });
  }
}
