import { describe, expect, it } from "vitest";
import type { EndingName, PhaseName } from "$lib/bindings/wire";
import { viewOf } from "$lib/backend/fake/scenes";
import { ago, count, duration, endingIcon, gateSaid, redGates, sessionSaid, status, steps } from "./words";
import { displayPath, splitPath } from "./path";

const ENDINGS: EndingName[] = ["applied", "answered", "refused", "stopped", "floor", "interrupted", "out_of_rounds", "red", "failed"];
const PHASES: PhaseName[] = ["idle", "snapshot", "setup", "model", "screen", "gates", "review", "accepted_gates", "red", "apply", "ended"];

describe("the status bar", () => {
  it("says in every phase what happens", () => {
    const view = viewOf("working", "applied", 0);
    const lines = PHASES.map((phase) => status({ ...view, phase }, null, "elsewhere").words);
    expect(lines.every((line) => line !== "")).toBe(true);
  });

  it("counts what is undecided while the hunks are open", () => {
    const view = viewOf("brief", "applied", 0);
    expect(status(view, { accepted: 1, rejected: 1, edited: 0, undecided: 1 }, "hunks").words).toBe("Reviewing round 1, 1 hunk undecided");
    expect(status(view, { accepted: 3, rejected: 0, edited: 0, undecided: 0 }, "hunks").words).toBe("Reviewing round 1, all hunks decided");
    expect(status(view, { accepted: 0, rejected: 0, edited: 0, undecided: 3 }, "brief").words).toBe("Round 1 is ready to review");
  });

  it("keeps the ending's own words", () => {
    expect(status(viewOf("ended", "floor", 0), null, "elsewhere").words).toBe("Floor: 2 re-proposals. Applied 3 hunks in 2 files");
  });

  it("says why a turn is held", () => {
    expect(status(viewOf("held", "applied", 0), null, "elsewhere").words).toContain("Heph was closed");
  });
});

describe("endings", () => {
  it("each have an icon of their own", () => {
    const icons = [...ENDINGS.map((ending) => endingIcon(ending, false).icon), endingIcon("applied", true).icon];
    expect(new Set(icons).size).toBe(ENDINGS.length + 1);
  });
});

describe("the round indicator", () => {
  it("names the present step in words", () => {
    const view = viewOf("working", "applied", 0);
    expect(steps({ ...view, attempt: 2 })[0]).toEqual({ name: "Model", state: "now", words: "Model, attempt 2" });
    expect(steps({ ...view, phase: "accepted_gates" })[3]!.words).toBe("Apply: gates on what you accepted");
    expect(steps(viewOf("red", "applied", 0))[3]).toEqual({ name: "Apply", state: "red", words: "Apply: build is red" });
    expect(steps(viewOf("brief", "applied", 0)).map((step) => step.state)).toEqual(["done", "done", "asks", "todo"]);
  });

  it("of an ended turn shows how far it came", () => {
    expect(steps(viewOf("ended", "applied", 0)).map((step) => step.state)).toEqual(["done", "done", "done", "done"]);
    expect(steps(viewOf("ended", "refused", 0)).map((step) => step.state)).toEqual(["done", "done", "done", "todo"]);
  });
});

describe("words", () => {
  it("count, and say how long and how long ago", () => {
    expect([count(1, "hunk"), count(7, "hunk"), count(10_000, "hunk")]).toEqual(["1 hunk", "7 hunks", "10,000 hunks"]);
    expect([duration(0.42), duration(12.3), duration(372)]).toEqual(["0.4 s", "12.3 s", "6 min 12 s"]);
    expect([ago(100, 130), ago(0, 12 * 60), ago(0, 7200)]).toEqual(["now", "12 min", "2 h"]);
  });

  it("name the gates that are red", () => {
    const gate = (name: string, result: "red" | "green") => ({ name, result, seconds: null, output: "", put_back: [] });
    expect(redGates([gate("fmt", "green"), gate("build", "red")])).toBe("build is red");
    expect(redGates([gate("build", "red"), gate("lint", "red"), gate("test", "red")])).toBe("build, lint and test are red");
  });

  it("tell a gate that was not agreed to from one that was not run", () => {
    expect(gateSaid("not_run", null, true).words).toBe("not run");
    expect(gateSaid("not_run", null, false).words).toBe("not agreed");
  });

  it("say of a session what it waits for", () => {
    expect(sessionSaid({ phase: "review", round: 2, held: false, ended: null })).toEqual({ icon: "now", tone: "asks", words: "Review ready, round 2" });
    expect(sessionSaid({ phase: "model", round: 2, held: true, ended: null }).tone).toBe("asks");
  });

  it("show a path that is not UTF-8", () => {
    expect(displayPath({ bytes: btoa("caf\xe9.rs") })).toBe("caf\ufffd.rs");
    expect(splitPath("src/a/b.rs")).toEqual(["src/a/", "b.rs"]);
    expect(splitPath("b.rs")).toEqual(["", "b.rs"]);
  });
});
