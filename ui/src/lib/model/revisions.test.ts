import { describe, expect, it } from "vitest";
import { Revisions } from "./revisions";

describe("a new revision", () => {
  it("that one's own verdict made is no news", () => {
    const revisions = new Revisions();
    revisions.shows(10);
    revisions.made(11);
    revisions.made(12);
    expect(revisions.isNews(12)).toBe(false);
  });

  it("is news where something else lies between", () => {
    const revisions = new Revisions();
    revisions.shows(10);
    revisions.made(12);
    expect(revisions.isNews(12)).toBe(true);
    revisions.shows(12);
    expect(revisions.isNews(12)).toBe(false);
    expect(revisions.isNews(13)).toBe(true);
  });

  it("that is older than the view is no news", () => {
    const revisions = new Revisions();
    revisions.shows(10);
    expect(revisions.isNews(9)).toBe(false);
  });
});
