import { describe, expect, it, vi } from "vitest";
import type { Row } from "$lib/bindings/wire";
import { PAGE, RowPages } from "./pages";

const row = (hunk: string, index: number): Row => ({ kind: " ", old: index + 1, new: index + 1, text: `${hunk} ${index}` });

function setUp(rows = 1000) {
  const waiting: (() => void)[] = [];
  const asked: string[] = [];
  const pages = new RowPages(
    (hunk, first, last) =>
      new Promise((resolve) => {
        asked.push(`${hunk} ${first}`);
        waiting.push(() => resolve(Array.from({ length: Math.min(rows, last + 1) - first }, (_, at) => row(hunk, first + at))));
      }),
    () => {},
  );
  return { pages, waiting, asked };
}

const eventually = (check: () => void) => vi.waitFor(check, { timeout: 30_000 });

describe("rows of a review", () => {
  it("come a page at a time, and are asked for once", async () => {
    const { pages, waiting, asked } = setUp();
    pages.want([{ hunk: "a", page: 1 }]);
    pages.want([{ hunk: "a", page: 1 }]);
    expect(asked).toEqual([`a ${PAGE}`]);
    expect(pages.row("a", PAGE)).toBeUndefined();
    waiting.forEach((answer) => answer());
    await eventually(() => expect(pages.row("a", PAGE)?.text).toBe(`a ${PAGE}`));
    pages.want([{ hunk: "a", page: 1 }]);
    expect(asked).toHaveLength(1);
  });

  it("that were only scrolled past are not asked for", async () => {
    const { pages, waiting, asked } = setUp();
    pages.want(["a", "b", "c", "d", "e", "f"].map((hunk) => ({ hunk, page: 0 })));
    expect(asked).toHaveLength(4);
    pages.want([{ hunk: "z", page: 0 }]);
    waiting.forEach((answer) => answer());
    await eventually(() => expect(asked).toContain("z 0"));
    expect(asked).not.toContain("e 0");
  });

  it("that the core refuses are not asked for again and again", async () => {
    const fetch = vi.fn(() => Promise.reject(new Error("no")));
    const arrived = vi.fn();
    const pages = new RowPages(fetch, arrived);
    pages.want([{ hunk: "a", page: 0 }]);
    await eventually(() => expect(arrived).toHaveBeenCalled());
    pages.want([{ hunk: "a", page: 0 }]);
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it("are found by their line", async () => {
    const { pages, waiting } = setUp();
    pages.want([{ hunk: "a", page: 0 }]);
    waiting.forEach((answer) => answer());
    await eventually(() => expect(pages.find("a", 1000, (each) => each.new === 7)).toBe(6));
    expect(pages.find("a", 1000, (each) => each.new === 900)).toBeUndefined();
  });
});
