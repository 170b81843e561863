import { describe, expect, it } from "vitest";
import type { Message, ToolCall } from "$lib/bindings/wire";
import { callCount, changedSoFar, closingWords, notYetIn, proseParts, turns, reviewCommand } from "./conversation";

const call = (round: number, target: string, counts: ToolCall["counts"] = null, failed = false): Message => ({
  kind: "tool", turn: 1, round, name: counts === null ? "read" : "edit", target, outcome: "", failed, rationale: null, counts, detail: "", millis: 1,
});
const words = (round: number, text: string, turn = 1): Message => ({ kind: "model", turn, round, text });

const messages: Message[] = [
  { kind: "prompt", turn: 1, text: "Do it" },
  words(1, "I look."),
  call(1, "a.rs"),
  call(1, "a.rs", { added: 3, removed: 1 }),
  words(1, "Done."),
  { kind: "reviewed", turn: 1, round: 1, accepted: 1, rejected: 1, undecided: 0, comments: 1, reproposed: 0 },
  { kind: "told", turn: 1, round: 1, text: "hunk 1: REJECTED" },
  call(2, "a.rs", { added: 1, removed: 2 }),
  call(2, "b.rs", { added: 9, removed: 0 }, true),
  words(2, "Now it is in the config."),
];

describe("a conversation", () => {
  it("groups what was said and done by turn and round", () => {
    const [turn, ...others] = turns(messages);
    expect(others).toEqual([]);
    expect(turn!.prompt).toBe("Do it");
    expect(turn!.rounds.map((round) => round.items.map((item) => item.kind))).toEqual([["words", "tools", "words"], ["tools", "words"]]);
    expect(turn!.rounds[0]!.told).toEqual(["hunk 1: REJECTED"]);
    expect(turn!.rounds[0]!.reviewed?.rejected).toBe(1);
    expect(turn!.rounds.map(callCount)).toEqual([2, 2]);
  });

  it("keeps turns apart", () => {
    const both = turns([...messages, { kind: "prompt", turn: 2, text: "More" }, words(1, "Yes.", 2)]);
    expect(both.map((turn) => [turn.turn, turn.prompt, closingWords(turn)])).toEqual([
      [1, "Do it", "Now it is in the config."],
      [2, "More", "Yes."],
    ]);
  });

  it("sums what the edits have changed, without those that failed", () => {
    expect([...changedSoFar(turns(messages)[0]!)]).toEqual([["a.rs", { added: 4, removed: 3 }]]);
  });

  it("shows what stands between backquotes as code", () => {
    expect(proseParts("in `a.rs`, please")).toEqual([
      { code: false, text: "in " },
      { code: true, text: "a.rs" },
      { code: false, text: ", please" },
    ]);
    expect(proseParts("a ` alone")).toEqual([{ code: false, text: "a ` alone" }]);
  });
});

describe("text that streams in", () => {
  const before = messages.slice(0, 4);

  it("stays while no view holds it", () => {
    expect(notYetIn(before, "Done")).toBe("Done");
  });

  it("is gone when the view holds it all, or more", () => {
    expect(notYetIn([...before, words(1, "Done.")], "Done.")).toBe("");
    expect(notYetIn([...before, words(1, "I am Done.")], "Done.")).toBe("");
  });

  it("goes on where the view is behind", () => {
    expect(notYetIn([...before, words(1, "Done. And")], "Done. And so on")).toBe(" so on");
  });

  it("is not taken for the words of an earlier turn", () => {
    expect(notYetIn([...messages, { kind: "prompt", turn: 2, text: "Again" }], "Now it is in the config.")).toBe("Now it is in the config.");
  });
});

describe("a prompt that asks for a review of the user's own tree", () => {
  it("names a revision, or means HEAD", () => {
    expect(reviewCommand("/review")).toEqual({});
    expect(reviewCommand("  /review main~2\n")).toEqual({ rev: "main~2" });
  });

  it("is nothing else that begins so", () => {
    for (const prompt of ["/reviewer", "review", "/review a b", "Please /review"]) expect(reviewCommand(prompt)).toBeNull();
  });
});
