import { EditorView } from "@codemirror/view";
import { fireEvent, screen, waitFor } from "@testing-library/svelte";
import { describe, expect, it } from "vitest";
import type { Fake } from "$lib/backend/fake";
import type { Scene } from "$lib/backend/fake/scenes";
import type { App } from "$lib/state/app.svelte";
import { called, hunk, press, show } from "./stage";

/** The hunks of a scene, with `index` as the current one. */
async function hunksOf(scene: Scene, index = 0): Promise<{ app: App; fake: Fake }> {
  const shown = await show(scene);
  shown.app.run("start_review");
  shown.app.session!.review!.goTo(index);
  await waitFor(() => expect(hunk(index)).toBeTruthy());
  return shown;
}

/** Where the scene `odd` has its hunk of three groups of changes. */
const GAPS = 8;

describe("splitting a hunk", () => {
  it("of two groups of changes needs one key, and goes on with its first part", async () => {
    const { app, fake } = await hunksOf("brief", 2);
    await press("s");
    await waitFor(() => expect(app.session!.review!.places).toHaveLength(4));
    expect(called(fake, "review/split")).toEqual([{ session: "session-1", hunk: "main-1", at: [7] }]);
    await waitFor(() => expect(document.activeElement).toBe(hunk(2)));
  });

  it("of several lets the user choose the gap", async () => {
    const { fake } = await hunksOf("odd", GAPS);
    await press("s");
    const all = await screen.findAllByTestId("split-here");
    await waitFor(() => expect(document.activeElement).toBe(all[0]));
    await press("j");
    await waitFor(() => expect(document.activeElement).toBe(all[1]));
    await press("j");
    expect(document.activeElement).toBe(all[1]);
    await fireEvent.click(all[1]!);
    await waitFor(() => expect(called(fake, "review/split")).toEqual([{ session: "session-1", hunk: "gaps", at: [7] }]));
  });

  it("at all gaps takes the key twice", async () => {
    const { app, fake } = await hunksOf("odd", GAPS);
    await press("s");
    await press("s");
    await waitFor(() => expect(app.session!.review!.places).toHaveLength(12));
    expect(called(fake, "review/split")).toEqual([{ session: "session-1", hunk: "gaps", at: [4, 7] }]);
  });

  it("can be left, and then the keys mean what they always mean", async () => {
    const { app, fake } = await hunksOf("odd", GAPS);
    await press("s");
    await press("a");
    expect(app.session!.review!.verdicts[GAPS]).toBeNull();
    await press("Escape");
    await waitFor(() => expect(document.activeElement).toBe(hunk(GAPS)));
    expect(app.dialog).toBeNull();
    await press("a");
    expect(app.session!.review!.verdicts[GAPS]).toBe("accept");
    expect(called(fake, "review/split")).toEqual([]);
  });

  it("is over when the user goes to another hunk", async () => {
    const { app } = await hunksOf("odd", GAPS);
    await press("s");
    hunk(GAPS - 1).dispatchEvent(new Event("pointerdown", { bubbles: true }));
    app.session!.review!.goTo(GAPS);
    expect(app.session!.review!.gap).toBeNull();
  });

  it("says why where it is not possible", async () => {
    await hunksOf("brief");
    const split = hunk(0).querySelector<HTMLButtonElement>("[data-testid=split]")!;
    expect(split.disabled).toBe(true);
    expect(split.title).toBe("No unchanged line lies between its changes");
  });
});

describe("the editor", () => {
  it("saves the user's text, which decides all hunks of the file", async () => {
    const { app, fake } = await hunksOf("brief");
    await press("e");
    expect((await screen.findByTestId("editor")).textContent).toContain("all 2 hunks of this file");
    await waitFor(() => expect(document.querySelector(".cm-content")).toBeTruthy());
    await fireEvent.keyDown(document.querySelector(".cm-content")!, { key: "s", ctrlKey: true });
    await waitFor(() => expect(hunk(0).dataset.verdict).toBe("edited"));
    expect(hunk(1).dataset.verdict).toBe("edited");
    expect(called(fake, "review/edit")).toHaveLength(1);
    await press("u");
    await fireEvent.click(await screen.findByTestId("yes"));
    await waitFor(() => expect(app.session!.review!.verdicts).toEqual([null, null, null]));
  });

  it("keeps what is not saved as a draft, and says so when it is opened again", async () => {
    const draft = "fn mine() {}\n";
    localStorage.setItem("heph.text.session-1.1.src/auth.rs", draft);
    const { fake } = await hunksOf("brief");
    await press("e");
    await waitFor(() => expect(document.querySelector(".cm-content")?.textContent).toContain("fn mine"));
    expect(screen.getByText(/draft that you left here/)).toBeTruthy();
    await fireEvent.click(screen.getByTestId("editor-close"));
    await fireEvent.click(await screen.findByTestId("yes"));
    await waitFor(() => expect(hunk(0)).toBeTruthy());
    expect(localStorage.getItem("heph.text.session-1.1.src/auth.rs")).toBe(draft);
    expect(called(fake, "review/edit")).toEqual([]);
  });

  it("keeps every letter that was written before it was left", async () => {
    await hunksOf("brief");
    await press("e");
    await waitFor(() => expect(document.querySelector(".cm-content")).toBeTruthy());
    const content = document.querySelector<HTMLElement>(".cm-content")!;
    EditorView.findFromDOM(content)!.dispatch({ changes: { from: 0, insert: "mine" } });
    await fireEvent.keyDown(content, { key: "Escape" });
    await fireEvent.click(await screen.findByTestId("yes"));
    await waitFor(() => expect(hunk(0)).toBeTruthy());
    expect(localStorage.getItem("heph.text.session-1.1.src/auth.rs")).toMatch(/^mine/);
  });

  it("does not save a file whose line ends it would change", async () => {
    await hunksOf("mixed");
    await press("e");
    await screen.findByText(/mixes two kinds of line ends/);
    expect(screen.getByTestId<HTMLButtonElement>("editor-save").disabled).toBe(true);
  });

  it("of the user's own opens with its key", async () => {
    const { fake } = await hunksOf("brief");
    await press("E");
    expect((await screen.findByTestId("notice")).textContent).toContain("becomes your edit");
    expect(called(fake, "review/edit_outside")).toEqual([{ session: "session-1", path: "src/auth.rs" }]);
  });

  it("is not offered for what is no text", async () => {
    const { app } = await hunksOf("odd", 2);
    await press("e");
    expect(app.session!.page).toBe("hunks");
    await waitFor(() => expect(screen.getByTestId("edit").title).toBe("Only text can be edited"));
  });
});

describe("while gates run", () => {
  it("hunks can be read and commented, and say why they cannot be decided", async () => {
    const { fake } = await show("reading");
    await fireEvent.click(await screen.findByText("Brief"));
    await fireEvent.click(await screen.findByTestId("start-review"));
    const accept = await waitFor(() => hunk(0).querySelector<HTMLButtonElement>("[data-testid=accept]")!);
    expect(accept.disabled).toBe(true);
    expect(accept.parentElement!.title).toBe("Verdicts can be given once the gates have run");
    await press("a");
    await press("c");
    await fireEvent.input(await screen.findByTestId("comment-text"), { target: { value: "why here?" } });
    await fireEvent.click(screen.getByTestId("comment-save"));
    await waitFor(() => expect(called(fake, "review/comment")).toHaveLength(1));
    expect(called(fake, "review/decide")).toEqual([]);
  });
});

describe("when the gates have run", () => {
  it("who reads goes on where they are, and can decide", async () => {
    const { app, fake } = await hunksOf("reading", 1);
    await press("c");
    const field = await screen.findByTestId("comment-text");
    fake.endGates();
    await waitFor(() => expect(app.session!.view.phase).toBe("review"));
    await waitFor(() => expect(app.session!.review!.use).toBe("deciding"));
    expect(app.session!.page).toBe("hunks");
    expect(document.activeElement).toBe(field);
    expect(hunk(1).getAttribute("aria-current")).toBe("true");
  });

  it("the brief comes up for who waited in the conversation", async () => {
    const { app, fake } = await show("reading");
    await screen.findByTestId("composer");
    fake.endGates();
    await waitFor(() => expect(app.session!.page).toBe("brief"));
  });
});

describe("the brief", () => {
  it("says what a red gate means for finishing, and what gates could not do", async () => {
    const { fake } = await show("redbrief");
    const brief = await screen.findByTestId("brief");
    expect(brief.textContent).toContain("lint could not run: its command could not be run (exit 127)");
    expect(brief.textContent).toContain("gen wrote src/schema.rs; that was put back");
    expect(screen.getByTestId("red-brief").textContent).toContain("Ask the model again");
    fake.confirm = () => Promise.resolve(false);
    await fireEvent.click(screen.getByTestId("apply-anyway"));
    await Promise.resolve();
    expect(called(fake, "review/finish")).toEqual([]);
    fake.confirm = () => Promise.resolve(true);
    await fireEvent.click(screen.getByTestId("apply-anyway"));
    await waitFor(() => expect(called(fake, "review/finish")).toEqual([{ session: "session-1", how: "apply_anyway" }]));
  });

  it("asks about a re-proposal only while the worktree holds it", async () => {
    await show("floor");
    const [last, earlier] = await screen.findAllByTestId("reproposed");
    expect(last!.querySelector("[data-testid=ask]")).toBeTruthy();
    expect(earlier!.querySelector("[data-testid=ask]")).toBeNull();
    expect(earlier!.textContent).toContain("80 % of the lines that you rejected in round 1");
  });

  it("lifts what was rejected", async () => {
    await show("floor");
    await fireEvent.click((await screen.findAllByTestId("lift"))[0]!);
    await waitFor(() => expect(screen.getAllByTestId("lift")).toHaveLength(1));
  });

  it("leads to what was accepted before, where a hunk can be taken back", async () => {
    const { app } = await show("brief2");
    await fireEvent.click(await screen.findByTestId("accepted-so-far"));
    await fireEvent.click(await screen.findByTestId("take-back"));
    await screen.findByText("Nothing is accepted and not yet applied.");
    const { places, verdicts } = app.session!.review!;
    expect(verdicts[places.findIndex((place) => place.hunk.id === "auth-2")]).toBe("reject");
    await press("Escape");
    expect(await screen.findByTestId("brief")).toBeTruthy();
  });
});

describe("a review of the user's own tree", () => {
  it("opens from the composer, against the revision that it names", async () => {
    const { fake } = await show("new");
    const field = await screen.findByTestId("composer");
    await fireEvent.input(field, { target: { value: "/rev" } });
    expect(screen.getByTestId("review-hint")).toBeTruthy();
    await fireEvent.input(field, { target: { value: "/review main~2" } });
    await fireEvent.keyDown(field, { key: "Enter" });
    await screen.findByText("Your changes against main~2: 3 hunks in 2 files");
    expect(called(fake, "review/open")).toEqual([{ session: "session-1", rev: "main~2" }]);
    expect(screen.getByTestId("round").textContent).toBe("Review of your tree");
  });

  it("keeps or takes out, and asks once before anything leaves the files", async () => {
    const { fake } = await hunksOf("tree");
    expect(hunk(0).querySelector("[data-testid=accept]")!.textContent).toContain("Keep");
    await press("r");
    await press("a");
    await press("a");
    await press("Enter");
    await screen.findByText("Take 1 hunk out of your files?");
    expect(called(fake, "review/finish")).toEqual([]);
    await fireEvent.click(screen.getByTestId("yes"));
    await waitFor(() => expect(called(fake, "review/finish")).toEqual([{ session: "session-1", how: "finish" }]));
  });

  it("asks too when the rest is kept from the brief", async () => {
    const { app, fake } = await hunksOf("tree");
    await press("r");
    app.session!.turnTo("brief");
    app.session!.turnedAt = -1000;
    await fireEvent.click(await screen.findByText("Keep the rest"));
    await screen.findByText("Take 1 hunk out of your files?");
    expect(called(fake, "review/finish")).toEqual([]);
  });

  it("that is closed is not asked about, since it changes nothing", async () => {
    const { app, fake } = await hunksOf("tree");
    await press("r");
    await press("Escape");
    expect(app.dialog).toBeNull();
    await waitFor(() => expect(called(fake, "review/finish")).toEqual([{ session: "session-1", how: "stop" }]));
  });
});

describe("an ended turn", () => {
  it("is undone after one question, and says what stayed", async () => {
    const { fake } = await show("ended");
    await fireEvent.click(await screen.findByTestId("undo"));
    expect(called(fake, "turn/undo")).toEqual([]);
    await fireEvent.click(await screen.findByTestId("yes"));
    const undone = await screen.findByTestId("undone");
    expect(undone.textContent).toContain("src/auth.rs stays: you changed this region after the turn began.");
    expect(screen.queryByTestId("undo")).toBeNull();
  });

  it("that applied nothing has nothing to undo", async () => {
    await show("ended", { ending: "refused" });
    await screen.findByTestId("ended");
    expect(screen.queryByTestId("undo")).toBeNull();
  });

  it("shows what was set aside where the clipboard cannot be had", async () => {
    await show("ended", { ending: "out_of_rounds" });
    Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
    await fireEvent.click(await screen.findByTestId("copy-set-aside"));
    expect((await screen.findByTestId("patch")).textContent).toContain("+++ b/src/lib.rs");
  });
});

describe("a worktree that could not be set up", () => {
  it("shows why, and can be gone on without", async () => {
    const { fake } = await show("setup");
    expect((await screen.findByTestId("held")).textContent).toContain("npm error code ENOTFOUND");
    expect(screen.getByText("Setup failed")).toBeTruthy();
    await fireEvent.click(screen.getByTestId("skip-setup"));
    expect(called(fake, "turn/resume")).toEqual([{ session: "session-1", how: "skip" }]);
  });
});

describe("a repository without gates", () => {
  it("writes those found gates that the user left chosen", async () => {
    const { app, fake } = await show("found");
    const banner = await screen.findByTestId("found-gates");
    await fireEvent.click(banner.querySelectorAll("input")[1]!);
    await fireEvent.click(screen.getByTestId("add-gates"));
    await waitFor(() => expect(screen.queryByTestId("found-gates")).toBeNull());
    expect(called(fake, "repo/add_gates")).toMatchObject([{ gates: [{ name: "fmt" }, { name: "test" }] }]);
    expect(app.repo!.gates.map((gate) => gate.name)).toEqual(["fmt", "test"]);
  });
});
