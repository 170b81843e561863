import { fireEvent, screen, waitFor } from "@testing-library/svelte";
import { describe, expect, it } from "vitest";
import { hunk, press, show } from "./stage";

describe("the window", () => {
  it("offers a folder, the demo and the repositories opened before", async () => {
    await show("start");
    expect(screen.getByTestId("open-folder")).toBeTruthy();
    expect(screen.getByTestId("open-demo")).toBeTruthy();
    await waitFor(() => expect(screen.getByText(/parser-spike is no longer there/)).toBeTruthy());
    expect(screen.getByTestId("status").textContent).toBe("No repository open");
  });

  it("takes the user through a whole turn, with a rejection that is answered", async () => {
    await show("start");
    await fireEvent.click(screen.getByTestId("open-demo"));
    await fireEvent.click(await screen.findByTestId("send"));
    await screen.findByTestId("brief");
    await press("Enter");
    await waitFor(() => expect(hunk(0).dataset.verdict).toBe("undecided"));
    await press("c");
    const field = await screen.findByTestId("comment-text");
    await fireEvent.input(field, { target: { value: "put it in the config file" } });
    await fireEvent.click(screen.getByTestId("reject-with-comment"));
    await waitFor(() => expect(hunk(0).dataset.verdict).toBe("reject"));
    await press("a");
    await press("a");
    expect(screen.getByTestId("status").textContent).toBe("Reviewing round 1, all hunks decided");
    await press("Enter");
    await waitFor(() => expect(screen.getByTestId("round").textContent).toBe("Round 2 of turn 1"));
    await screen.findByTestId("brief");
    await fireEvent.click(screen.getByTestId("start-review"));
    await press("j");
    await waitFor(() => expect(screen.getByTestId("answers").textContent).toContain("put it in the config file"));
    for (let left = 7; left > 0; left--) await press("a");
    await fireEvent.click(screen.getByTestId("finish"));
    await screen.findByTestId("ended");
    expect(screen.getByTestId("status").textContent).toBe("Applied 3 hunks in 2 files");
  });

  it("takes letters in a comment for letters", async () => {
    const { app } = await show("brief");
    app.run("start_review");
    await waitFor(() => hunk(0).dataset.verdict);
    await press("c");
    await fireEvent.keyDown(await screen.findByTestId("comment-text"), { key: "a" });
    await fireEvent.keyDown(screen.getByTestId("comment-text"), { key: "q" });
    expect(app.session!.review!.verdicts).toEqual([null, null, null]);
  });

  it("puts the focus on the hunk that the user goes to, but never takes it from a comment being written", async () => {
    const { app } = await show("brief");
    app.run("start_review");
    await waitFor(() => expect(document.activeElement).toBe(hunk(0)));
    await press("j");
    await waitFor(() => expect(document.activeElement).toBe(hunk(1)));
    await press("c");
    const field = await screen.findByTestId("comment-text");
    expect(document.activeElement).toBe(field);
    app.run("next");
    await waitFor(() => expect(hunk(2).getAttribute("aria-current")).toBe("true"));
    expect(document.activeElement).toBe(field);
  });

  it("of a review of 10,000 hunks makes only those in view", async () => {
    const { app } = await show("big", { files: 1000 });
    app.run("start_review");
    await waitFor(() => expect(hunk(0)).toBeTruthy());
    expect(app.session!.review!.places).toHaveLength(10_000);
    expect(screen.getAllByTestId("hunk").length).toBeLessThan(20);
  });

  it("reads a hunk out with its place and its verdict", async () => {
    const { app } = await show("review");
    app.run("start_review");
    await waitFor(() => expect(hunk(2).getAttribute("aria-label")).toBe("hunk 3 of 3, src/main.rs, lines 10 to 25, undecided"));
    expect(hunk(2).getAttribute("aria-current")).toBe("true");
  });

  it("lists the commands it asks agreement for, and runs none before", async () => {
    const { fake } = await show("untrusted");
    const banner = await screen.findByTestId("trust");
    expect(banner.textContent).toContain("cargo clippy --all-targets -- -D warnings");
    expect(fake.calls.some((call) => call.method === "repo/trust")).toBe(false);
  });

  it("gives a red state four ways out", async () => {
    const { fake } = await show("red");
    expect((await screen.findByTestId("red")).textContent).toContain("error[E0061]");
    for (const way of ["red-edit", "red-again", "apply-anyway"]) expect(screen.getByTestId(way)).toBeTruthy();
    await fireEvent.click(screen.getByTestId("red-discard"));
    expect(fake.calls.at(-1)).toMatchObject({ method: "red/choose", params: { choice: "discard" } });
  });

  it("shows what was left out of a review, and why", async () => {
    await show("brief2");
    expect((await screen.findByTestId("reproposed")).textContent).toContain("[re-proposed (round 1); rejected]");
    expect(screen.getByText(/Your text stands/)).toBeTruthy();
  });
});
