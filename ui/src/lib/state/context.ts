import { createContext } from "svelte";
import type { App } from "./app.svelte";

/** The window's state, for every component below `Window`. */
export const [getApp, setApp] = createContext<App>();
