import type { EndingName, FileView, Review, SessionView, TurnEnded } from "$lib/bindings/wire";
import { bigReview } from "./big";
import * as gatehouse from "./gatehouse";

/** Where a fake session begins. */
export const SCENES = [
  "start", "new", "untrusted", "working", "brief", "review", "brief2", "answered", "red", "held", "ended", "big",
  "reading", "tree", "redbrief", "setup", "edited", "found", "odd", "mixed", "floor",
] as const;
export type Scene = (typeof SCENES)[number];

export function emptyView(session: string): SessionView {
  return {
    session, repo: "repo-1", title: "", revision: 1, phase: "idle", turn: 0, round: 0, attempt: 0, max_rounds: 8,
    reproposals: 0, floor: 2, held: null, model: { provider: "replay", name: "Recorded model" },
    gates: [], draft: "", review: null, messages: [],
  };
}

export function reviewOf(round: number, files: FileView[], summary: string): Review {
  return {
    of: "round", decidable: true, round, revision: 1, interrupted: false, last: false, accepted_so_far: [], constraints: [], files,
    brief: { summary, attempts: round, gates: gatehouse.gates("green"), reproposed: [], set_aside: [], ignored: [] },
  };
}

const ENDINGS: Record<EndingName, Pick<TurnEnded, "message" | "applied" | "set_aside" | "reproposals" | "rounds">> = {
  applied: {
    message: "Applied 8 hunks in 5 files", rounds: 2, reproposals: 1, set_aside: [],
    applied: ["gatehouse.example.toml", "src/auth.rs", "src/config.rs", "src/main.rs", "web/src/session.ts"].map((path, index) => ({
      path, hunks: index === 1 || index > 2 ? 2 : 1,
    })),
  },
  answered: { message: "Answered, nothing was changed", rounds: 1, reproposals: 0, set_aside: [], applied: [] },
  refused: { message: "Refused, nothing was applied", rounds: 1, reproposals: 0, set_aside: [], applied: [] },
  stopped: { message: "Stopped partway, 4 undecided, nothing applied", rounds: 1, reproposals: 0, set_aside: [], applied: [] },
  floor: { message: "Floor: 2 re-proposals. Applied 3 hunks in 2 files", rounds: 3, reproposals: 2, set_aside: [], applied: [{ path: "src/auth.rs", hunks: 2 }, { path: "src/main.rs", hunks: 1 }] },
  interrupted: { message: "Interrupted in round 1. Applied 1 hunk in 1 file", rounds: 1, reproposals: 0, set_aside: [], applied: [{ path: "src/auth.rs", hunks: 1 }] },
  out_of_rounds: { message: "Out of rounds (8). Applied 5 hunks in 3 files", rounds: 8, reproposals: 1, set_aside: ["src/lib.rs"], applied: [{ path: "src/auth.rs", hunks: 5 }] },
  red: { message: "Red, not applied: build fails", rounds: 1, reproposals: 0, set_aside: [], applied: [] },
  reviewed: { message: "Reviewed. Took 2 hunks out of 1 file", rounds: 1, reproposals: 0, set_aside: [], applied: [{ path: "src/auth.rs", hunks: 2 }] },
  failed: { message: "Failed: the replay file ended in the middle of a reply", rounds: 1, reproposals: 0, set_aside: [], applied: [] },
};

/** A session as `scene` has it; `files` are those of the scene `big`, ten hunks each. */
export function viewOf(scene: Scene, ending: EndingName, files: number): SessionView {
  const view = emptyView("session-1");
  if (scene === "start" || scene === "new" || scene === "untrusted" || scene === "found") return view;
  view.title = "Take the JWT secret out of the source";
  view.turn = 5;
  view.round = 1;
  view.attempt = 1;
  view.messages = [
    ...gatehouse.earlierTurn(),
    { kind: "prompt", turn: 5, text: gatehouse.PROMPT },
    { kind: "model", turn: 5, round: 1, text: gatehouse.OPENING_WORDS },
    ...gatehouse.calls(1).map((call) => ({ kind: "tool" as const, ...call })),
  ];
  view.gates = gatehouse.gates("green");
  if (scene === "setup") {
    view.phase = "setup";
    view.messages = view.messages.filter((message) => message.kind !== "tool" && (message.kind !== "model" || message.turn < 5));
    view.gates = [];
    view.held = { cause: "setup", output: "npm error code ENOTFOUND\nnpm error network request failed\n", reason: "`npm ci` failed (exit 1)." };
    return view;
  }
  if (scene === "working" || scene === "held") {
    view.phase = "model";
    view.gates = gatehouse.gates("not_run");
    if (scene === "held") view.held = { cause: "cut_off", output: "", reason: "Heph was closed while the model worked. What it had done is kept." };
    return view;
  }
  view.messages.push({ kind: "model", turn: 5, round: 1, text: gatehouse.SUMMARY_1 });
  view.phase = "review";
  if (["brief", "review", "reading", "tree", "redbrief", "edited", "odd", "mixed"].includes(scene)) {
    view.review = reviewOf(1, scene === "odd" ? gatehouse.oddities() : gatehouse.round1(), gatehouse.SUMMARY_1);
    if (scene === "tree") {
      view.messages = [...gatehouse.earlierTurn(), { kind: "prompt", turn: 5, text: "/review" }];
      view.gates = [];
      view.review = { ...reviewOf(1, gatehouse.round1(), ""), of: "tree", last: true };
      view.review.brief.gates = [];
    }
    if (scene === "reading") {
      view.phase = "gates";
      view.gates = gatehouse.gates("running");
      view.review.decidable = false;
    }
    if (scene === "redbrief") {
      const [fmt, build] = gatehouse.gates("green");
      view.gates = [
        fmt!,
        { ...build!, name: "build", result: "red", output: gatehouse.BUILD_OUTPUT },
        { name: "lint", result: "could_not_run", seconds: 0.1, output: "", reason: "its command could not be run (exit 127)", put_back: [] },
        { name: "gen", result: "green", seconds: 0.3, output: "", put_back: ["src/schema.rs"] },
      ];
      view.review.brief.gates = view.gates;
      view.review.brief.attempts = 3;
    }
    if (scene === "edited") {
      const file = view.review.files[0]!;
      for (const hunk of file.hunks) hunk.verdict = "edited";
    }
    if (scene === "review") {
      const [first, second] = view.review.files[0]!.hunks;
      first!.verdict = "reject";
      second!.verdict = "accept";
    }
    return view;
  }
  if (scene === "big") {
    view.review = reviewOf(1, bigReview(files, 10, 20), gatehouse.SUMMARY_1);
    return view;
  }
  view.round = 2;
  view.reproposals = 1;
  view.messages.push(
    { kind: "reviewed", turn: 5, round: 1, accepted: 1, rejected: 2, undecided: 0, comments: 1, reproposed: 0 },
    { kind: "told", turn: 5, round: 1, text: gatehouse.TOLD },
    ...gatehouse.calls(2).map((call) => ({ kind: "tool" as const, ...call })),
    { kind: "model", turn: 5, round: 2, text: gatehouse.SUMMARY_2 },
  );
  if (scene === "brief2" || scene === "answered" || scene === "floor") {
    const review = reviewOf(2, gatehouse.round2("put it in the config file instead, not the environment"), gatehouse.SUMMARY_2);
    review.brief.reproposed = [gatehouse.reproposed()];
    review.brief.set_aside = [gatehouse.SET_ASIDE];
    review.accepted_so_far = [{ path: "src/auth.rs", hunks: 1 }];
    review.constraints = gatehouse.constraints();
    if (scene === "floor") {
      review.brief.reproposed.push({ ...gatehouse.reproposed(), id: "earlier", share: 0.8, askable: false });
      review.brief.ignored = ["target/debug/gatehouse", "web/node_modules/.cache/x"];
      review.last = true;
      view.reproposals = 2;
    }
    view.review = review;
    return view;
  }
  if (scene === "red") {
    view.phase = "red";
    view.gates = [
      gatehouse.gates("green")[0]!,
      { name: "build", result: "red", seconds: 3.8, output: gatehouse.BUILD_OUTPUT, put_back: [] },
      gatehouse.gates("not_run")[2]!,
    ];
    view.review = reviewOf(2, gatehouse.round2("put it in the config file").slice(0, 3), gatehouse.SUMMARY_2);
    return view;
  }
  view.phase = "ended";
  view.messages.push(
    { kind: "reviewed", turn: 5, round: 2, accepted: 7, rejected: 0, undecided: 0, comments: 0, reproposed: 1 },
    { kind: "ended", turn: 5, ending, can_undo: ENDINGS[ending].applied.length > 0, ...ENDINGS[ending] },
  );
  return view;
}
