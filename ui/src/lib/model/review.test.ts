import { describe, expect, it } from "vitest";
import { round1, round2 } from "$lib/backend/fake/gatehouse";
import { reviewOf } from "$lib/backend/fake/scenes";
import { bodyParts, hunkLabel, hunkName, neighbourFile, nextUndecided, places, printedWhat, tally, type Verdict } from "./review";

const all = places(reviewOf(1, round1(), ""));

describe("the next undecided hunk", () => {
  it("is the one after, going round at the end", () => {
    const verdicts: Verdict[] = [null, "accept", null, "reject"];
    expect(nextUndecided(verdicts, 0)).toBe(2);
    expect(nextUndecided(verdicts, 2)).toBe(0);
    expect(nextUndecided(verdicts, 3)).toBe(0);
  });

  it("may be the only one left, where the user is", () => {
    expect(nextUndecided(["accept", null], 1)).toBe(1);
  });

  it("is none when all are decided, or there are none", () => {
    expect(nextUndecided(["accept", "reject"], 0)).toBeNull();
    expect(nextUndecided([], 0)).toBeNull();
  });
});

describe("a review", () => {
  it("counts its hunks through all files", () => {
    expect(all.map((place) => [place.file, place.path, place.hunk.number])).toEqual([
      [0, "src/auth.rs", 1],
      [0, "src/auth.rs", 2],
      [1, "src/main.rs", 1],
    ]);
  });

  it("tallies verdicts", () => {
    expect(tally(["accept", null, "reject", "accept"])).toEqual({ accepted: 2, rejected: 1, edited: 0, undecided: 1 });
  });

  it("goes to the first hunk of the next and of the previous file", () => {
    expect(neighbourFile(all, 0, 1)).toBe(2);
    expect(neighbourFile(all, 2, 1)).toBe(2);
    expect(neighbourFile(all, 2, -1)).toBe(0);
    expect(neighbourFile(all, 1, -1)).toBe(0);
  });
});

describe("a hunk", () => {
  it("is read out with its place, its lines and its verdict", () => {
    expect(hunkLabel(all[1]!, 1, 7, null, "round")).toBe("hunk 2 of 7, src/auth.rs, lines 58 to 68, undecided");
    const answering = places(reviewOf(2, round2("no"), ""))[1]!;
    expect(hunkLabel(answering, 1, 7, "accept", "round")).toBe("hunk 2 of 7, src/auth.rs, lines 23 to 29, accepted, answers your comment");
  });

  it("of the user's own tree is kept or goes out", () => {
    expect(hunkLabel(all[1]!, 1, 7, "reject", "tree")).toBe("hunk 2 of 7, src/auth.rs, lines 58 to 68, goes out");
    expect(hunkLabel(all[1]!, 1, 7, "edited", "tree")).toBe("hunk 2 of 7, src/auth.rs, lines 58 to 68, edited by you");
  });

  it("without lines is named by what it changes", () => {
    const bare = { ...all[0]!.hunk, row_count: 0, what: "mode 644 -> 755" };
    expect(hunkName(bare, "mode")).toBe("Mode");
    expect(hunkName({ ...bare, what: "file deleted" }, "deleted")).toBe("Deleted");
    expect(hunkName(all[0]!.hunk, "modified")).toBe("Hunk 1");
  });

  it("prints its lines with a dash", () => {
    expect(printedWhat("lines 23-31")).toBe("lines 23–31");
    expect(printedWhat("mode 644 -> 755")).toBe("mode 644 -> 755");
  });
});

describe("comments in a hunk", () => {
  const comment = (id: string, line?: number) => ({ id, text: id, line });
  const rowOf = ({ line }: { line: number }) => (line < 100 ? line : undefined);

  it("stand under the line that they are about, the others at the end", () => {
    const parts = bodyParts(10, [comment("whole"), comment("b", 6), comment("a", 2)], null, rowOf);
    expect(parts.map((part) => (part.kind === "rows" ? [part.first, part.last] : part.kind === "comment" ? part.comment.id : "box"))).toEqual([
      [0, 2], "a", [3, 6], "b", [7, 9], "whole",
    ]);
  });

  it("about a line whose row is not known yet come last", () => {
    const parts = bodyParts(3, [comment("far", 400)], { on: { line: 1, side: "new" } }, rowOf);
    expect(parts.map((part) => part.kind)).toEqual(["rows", "box", "rows", "comment"]);
  });

  it("leave no empty block of rows after the last row", () => {
    expect(bodyParts(3, [comment("end", 2)], null, rowOf).map((part) => part.kind)).toEqual(["rows", "comment"]);
  });
});
