import { describe, expect, it } from "vitest";
import { anchorAt, FILE_HEAD, layOut, reveal, rowsWithin, scrollFor, within } from "./rows";

/** Two files of two hunks and one, each card 100 high. */
const layout = layOut([2, 1], () => 100);

describe("a review's layout", () => {
  it("puts hunks under their file's head, one below the other", () => {
    expect(layout.fileTops).toEqual([0, 264]);
    expect(layout.hunkTops).toEqual([40, 148, 304]);
    expect(layout.total).toBe(264 + 40 + 108 + 8);
  });

  it("of 10,000 hunks finds the few that are in view", () => {
    const large = layOut(Array.from({ length: 1000 }, () => 10), () => 450);
    const range = within(large.hunkTops, large.hunkHeights, 2_000_000, 2_000_800);
    expect(range).not.toBeNull();
    const [first, last] = range!;
    expect(last - first).toBeLessThan(4);
    expect(large.hunkTops[first]! + 450).toBeGreaterThan(2_000_000);
    expect(large.hunkTops[last]).toBeLessThan(2_000_800);
  });

  it("finds nothing above, below, or in an empty review", () => {
    expect(within(layout.hunkTops, layout.hunkHeights, -500, -10)).toBeNull();
    expect(within(layout.hunkTops, layout.hunkHeights, 5000, 6000)).toBeNull();
    expect(within([], [], 0, 100)).toBeNull();
  });
});

describe("rows in view", () => {
  it("are those of which a pixel shows", () => {
    expect(rowsWithin(100, 0, 40)).toEqual([0, 1]);
    expect(rowsWithin(100, 39, 41)).toEqual([1, 2]);
    expect(rowsWithin(100, -300, 20)).toEqual([0, 0]);
    expect(rowsWithin(3, 20, 900)).toEqual([1, 2]);
  });

  it("are none beside the block", () => {
    expect(rowsWithin(10, 200, 400)).toBeNull();
    expect(rowsWithin(10, -80, 0)).toBeNull();
    expect(rowsWithin(0, 0, 400)).toBeNull();
  });
});

describe("what the user looks at", () => {
  it("stays where it is when a hunk above it changes its height", () => {
    const anchor = anchorAt(layout, 280)!;
    expect(anchor.hunk).toBe(2);
    const taller = layOut([2, 1], (hunk) => (hunk === 0 ? 340 : 100));
    expect(scrollFor(taller, anchor)).toBe(280 + 240);
  });

  it("is not scrolled past when it folds itself", () => {
    const tall = layOut([2, 1], (hunk) => (hunk === 0 ? 2000 : 100));
    const anchor = anchorAt(tall, 1500)!;
    const folded = layOut([2, 1], (hunk) => (hunk === 0 ? 42 : 100));
    expect(scrollFor(folded, anchor)).toBeLessThan(FILE_HEAD);
  });

  it("does not move when the hunk asked for is whole in view", () => {
    expect(reveal(layout, 1, 50, 600)).toBe(50);
  });

  it("moves so that a hunk taller than the window begins under its file's head", () => {
    const tall = layOut([2, 1], () => 3000);
    expect(reveal(tall, 1, 0, 600)).toBe(tall.hunkTops[1]! - FILE_HEAD);
  });

  it("never moves past the end", () => {
    expect(reveal(layout, 2, 0, 200)).toBeLessThanOrEqual(layout.total - 200);
  });
});
