import { beforeEach, describe, expect, it, vi } from "vitest";
import type { CallError } from "$lib/bindings/wire";
import { Fake } from "$lib/backend/fake";
import type { Scene } from "$lib/backend/fake/scenes";
import { App, DEMO_PROMPT } from "./app.svelte";

async function opened(scene: Scene): Promise<{ app: App; fake: Fake }> {
  const fake = new Fake(scene, { pace: 0, files: 2 });
  const app = new App(fake);
  await app.start();
  return { app, fake };
}

const review = (app: App) => app.session!.review!;
const calls = (fake: Fake, method: string) => fake.calls.filter((call) => call.method === method);
const refuse = (fake: Fake, method: string, error: CallError) => {
  const call = fake.call.bind(fake);
  vi.spyOn(fake, "call").mockImplementation((asked, params) => (asked === method ? Promise.reject(error) : call(asked, params)));
};

beforeEach(() => {
  localStorage.clear();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const eventually = (check: () => void) => vi.waitFor(check, { timeout: 30_000 });

describe("opening", () => {
  it("a folder that is no repository says so, and keeps what is open", async () => {
    const { app } = await opened("brief");
    const before = app.session;
    await app.openPath("/home/ada/code/notes");
    expect(app.trouble).toContain("is in no git repository");
    expect(app.session).toBe(before);
  });

  it("the demo suggests its prompt", async () => {
    const { app } = await opened("start");
    await app.openDemo();
    expect(app.session!.draft).toBe(DEMO_PROMPT);
  });

  it("loads no rows with the session", async () => {
    const { app, fake } = await opened("brief");
    expect(calls(fake, "session/load").every((call) => (call.params as { rows?: boolean }).rows === false)).toBe(true);
    expect(review(app).places[0]!.hunk.rows).toBeUndefined();
  });
});

describe("the prompt", () => {
  it("is kept when a turn is open, with the reason", async () => {
    const { app } = await opened("brief");
    app.session!.write("And the tests too");
    await app.session!.send();
    expect(app.session!.draft).toBe("And the tests too");
    expect(app.session!.refusal).toContain("A turn is open");
  });

  it("is kept by the core as it is written", async () => {
    const { app, fake } = await opened("new");
    app.session!.write("Half a thou");
    app.session!.write("Half a thought");
    app.session!.leave();
    await eventually(() => expect(calls(fake, "session/draft").map((call) => call.params)).toEqual([{ session: "session-1", text: "Half a thought" }]));
  });

  it("plays a whole turn up to its brief", async () => {
    const { app } = await opened("new");
    app.session!.write("Do it");
    await app.session!.send();
    expect(app.session!.draft).toBe("");
    await eventually(() => expect(app.session!.page).toBe("brief"));
    expect(review(app).places).toHaveLength(3);
  });

  it("that is being written is not covered by a brief", async () => {
    const { app } = await opened("new");
    app.session!.write("Do it");
    await app.session!.send();
    app.session!.isComposing = true;
    await eventually(() => expect(app.session!.review).not.toBeNull());
    expect(app.session!.page).toBe("conversation");
  });
});

describe("a verdict", () => {
  it("shows at once, goes on to the next hunk, and fetches nothing again", async () => {
    const { app, fake } = await opened("brief");
    vi.useFakeTimers();
    const loads = calls(fake, "session/load").length;
    const done = review(app).decide(0, "accept");
    expect(review(app).verdicts).toEqual(["accept", null, null]);
    expect(review(app).current).toBe(1);
    expect(review(app).isFolded(0)).toBe(true);
    await vi.runAllTimersAsync();
    await done;
    expect(calls(fake, "review/decide")).toHaveLength(1);
    expect(calls(fake, "session/load")).toHaveLength(loads);
    expect(calls(fake, "review/get")).toHaveLength(0);
  });

  it("that the core refuses is taken back, with the reason", async () => {
    const { app, fake } = await opened("brief");
    refuse(fake, "review/decide", { kind: "internal", message: "The disk is full." });
    await review(app).decide(1, "reject");
    expect(review(app).verdicts).toEqual([null, null, null]);
    expect(app.trouble).toBe("The disk is full.");
  });

  it("is not lost when the view is loaded while it is on its way", async () => {
    const { app } = await opened("brief");
    const done = review(app).decide(0, "accept");
    const stale = structuredClone(review(app).review);
    review(app).refresh(stale);
    expect(review(app).verdicts[0]).toBe("accept");
    await done;
  });

  it("of the rest of a file leaves the file's other verdicts and the other files alone", async () => {
    const { app } = await opened("brief");
    await review(app).decide(0, "reject");
    review(app).goTo(1);
    await review(app).decideRestOfFile("accept");
    expect(review(app).verdicts).toEqual(["reject", "accept", null]);
    expect(review(app).current).toBe(2);
  });

  it("is shown by the next start where it was left", async () => {
    const { app, fake } = await opened("brief");
    await review(app).decide(0, "accept");
    review(app).goTo(2);
    const again = new App(fake);
    await again.start();
    expect(again.session!.page).toBe("hunks");
    expect(review(again).current).toBe(2);
  });
});

describe("a comment", () => {
  it("is a draft until it is saved, also over a new start", async () => {
    const { app, fake } = await opened("brief");
    review(app).openBox(0);
    review(app).keepDraft(0, { text: "put it in the config", on: { line: 27, side: "new" } });
    review(app).closeBox(0);
    const again = new App(fake);
    await again.start();
    expect(review(again).draftOf(0)).toEqual({ text: "put it in the config", on: { line: 27, side: "new" } });
    expect(review(again).draftOf(1).text).toBe("");
    review(again).openBox(0);
    expect(review(again).boxOf(0)).toEqual({ on: { line: 27, side: "new" } });
  });

  it("names its line, closes its box and forgets its draft", async () => {
    const { app, fake } = await opened("brief");
    review(app).openBox(0, { line: 27, side: "old" });
    review(app).keepDraft(0, { text: "why", on: { line: 27, side: "old" } });
    expect(await review(app).comment(0, "why", { line: 27, side: "old" })).toBe(true);
    expect(calls(fake, "review/comment")[0]!.params).toMatchObject({ text: "why", line: 27, side: "old" });
    expect(review(app).boxOf(0)).toBeNull();
    expect(review(app).draftOf(0).text).toBe("");
    expect(review(app).comments[0]).toHaveLength(1);
    await review(app).uncomment(0, review(app).comments[0]![0]!);
    expect(review(app).comments[0]).toHaveLength(0);
  });

  it("that cannot be saved stays in its box", async () => {
    const { app, fake } = await opened("brief");
    refuse(fake, "review/comment", { kind: "internal", message: "The disk is full." });
    review(app).openBox(0);
    review(app).keepDraft(0, { text: "why", on: null });
    expect(await review(app).comment(0, "why", null)).toBe(false);
    expect(review(app).boxOf(0)).toEqual({ on: null });
    expect(review(app).draftOf(0).text).toBe("why");
  });
});

describe("the review's end", () => {
  it("waits for every verdict", async () => {
    const { app, fake } = await opened("brief");
    app.run("start_review");
    app.run("finish");
    expect(calls(fake, "review/finish")).toHaveLength(0);
    for (const hunk of [0, 1, 2]) await review(app).decide(hunk, "accept");
    app.run("finish");
    await eventually(() => expect(app.session!.view.phase).toBe("ended"));
    expect(app.session!.page).toBe("conversation");
    expect(app.session!.review).toBeNull();
  });

  it("by q on the brief asks first where a verdict was given", async () => {
    const { app, fake } = await opened("brief");
    app.session!.turnedAt = -1000;
    await review(app).decide(0, "accept");
    app.run("refuse");
    expect(app.dialog?.kind).toBe("question");
    expect(calls(fake, "review/finish")).toHaveLength(0);
    if (app.dialog?.kind === "question") app.dialog.run();
    await eventually(() => expect(calls(fake, "review/finish")[0]?.params).toMatchObject({ how: "refuse_all" }));
  });

  it("by Esc is asked once", async () => {
    const { app, fake } = await opened("brief");
    app.run("stop");
    expect(app.dialog?.kind).toBe("question");
    if (app.dialog?.kind === "question") app.dialog.run();
    await eventually(() => expect(calls(fake, "review/finish")[0]?.params).toMatchObject({ how: "stop" }));
  });

  it("by a letter typed as the brief comes up does not happen", async () => {
    const { app, fake } = await opened("brief");
    app.session!.turnedAt = performance.now();
    app.run("accept_all");
    app.run("refuse");
    expect(calls(fake, "review/finish")).toHaveLength(0);
  });

  it("leaves what accept all may not accept to the user", async () => {
    const { app, fake } = await opened("brief");
    app.session!.turnedAt = -1000;
    refuse(fake, "review/finish", { kind: "undecided", count: 1, message: "1 hunk wants a verdict of its own." });
    app.run("accept_all");
    await eventually(() => expect(app.session!.page).toBe("hunks"));
    expect(app.trouble).toBe("1 hunk wants a verdict of its own.");
  });
});

describe("a re-proposal", () => {
  it("that the user asks about joins the review and is gone to", async () => {
    const { app } = await opened("brief2");
    await app.session!.askAbout("main-1-again");
    expect(app.session!.page).toBe("hunks");
    expect(review(app).places[review(app).current]!.hunk.id).toBe("main-1-again");
    expect(review(app).review.brief.reproposed).toEqual([]);
  });
});

describe("events", () => {
  it("of another session move nothing", async () => {
    const { app, fake } = await opened("review");
    const before = { page: app.session!.page, current: review(app).current };
    fake.send({ method: "phase", params: { session: "other-1", turn: 1, round: 1, attempt: 1, phase: "review" } });
    fake.send({ method: "model/text", params: { session: "other-1", text: "Hello" } });
    expect({ page: app.session!.page, current: review(app).current }).toEqual(before);
    expect(app.session!.live).toBe("");
  });

  it("of a gate that runs on show its output as it comes", async () => {
    const { app, fake } = await opened("working");
    const about = { session: "session-1", name: "test", on: "proposed" as const };
    fake.send({ method: "gate", params: { ...about, event: "start" } });
    fake.send({ method: "gate", params: { ...about, event: "output", output: "running 41 tests\n" } });
    fake.send({ method: "gate", params: { ...about, event: "output", output: "ok\n" } });
    fake.send({ method: "gate", params: { ...about, event: "end", result: "green", seconds: 1.5 } });
    expect(app.session!.view.gates.find((gate) => gate.name === "test")).toEqual({ name: "test", result: "green", seconds: 1.5, output: "running 41 tests\nok\n", put_back: [] });
  });

  it("of the core's own trouble are told", async () => {
    const { app, fake } = await opened("brief");
    fake.send({ method: "error", params: { message: "The log could not be written." } });
    expect(app.trouble).toBe("The log could not be written.");
  });
});
