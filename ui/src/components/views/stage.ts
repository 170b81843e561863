/** The whole window over the fake core, for the tests of its pages. */
import { cleanup, configure, fireEvent, render } from "@testing-library/svelte";
import { afterEach, beforeEach } from "vitest";
import { Fake } from "$lib/backend/fake";
import type { Scene } from "$lib/backend/fake/scenes";
import { App } from "$lib/state/app.svelte";
import Window from "./Window.svelte";

configure({ asyncUtilTimeout: 30_000 });
beforeEach(() => localStorage.clear());
afterEach(cleanup);

export async function show(scene: Scene, options = {}) {
  const fake = new Fake(scene, { pace: 0, ...options });
  const app = new App(fake);
  render(Window, { app });
  await app.start();
  return { app, fake };
}

/** The card of a hunk, counted through the whole review. */
export const hunk = (index: number) => document.querySelector<HTMLElement>(`[data-testid=hunk][data-index="${index}"]`)!;

export const press = (key: string) => fireEvent.keyDown(document.body, { key });

/** What the core was called with, oldest first. */
export const called = (fake: Fake, method: string) => fake.calls.filter((call) => call.method === method).map((call) => call.params);
