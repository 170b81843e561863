import type { CallError, Methods, Notification, WirePath } from "$lib/bindings/wire";

/** What the app was started with. */
export type Opening = { path: WirePath } | { demo: true };

/** A question that only the system's own dialog may ask. */
export interface Question {
  title: string;
  message: string;
  /** The button that says yes. */
  ok: string;
}

/** The one way from the user interface to the core. */
export interface Backend {
  /** Calls a method of the protocol. Rejects with a `CallError`. */
  call<M extends keyof Methods>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]>;
  /** Hands every notification to `hear`, from now on. */
  listen(hear: (notification: Notification) => void): void;
  /** Lets the user choose a folder; `null` where they did not. */
  chooseFolder(): Promise<WirePath | null>;
  /** What the app was started with. */
  opening(): Promise<Opening | null>;
  /** Asks in a native dialog; whether the user said yes. */
  confirm(question: Question): Promise<boolean>;
}

/** The core in the app; in a browser, which only development has, one that plays a recorded turn. */
export async function connect(): Promise<Backend> {
  if (import.meta.env.DEV && !("__TAURI_INTERNALS__" in window)) {
    const { fakeFromAddress } = await import("./fake");
    return fakeFromAddress(location.search);
  }
  const { tauri } = await import("./tauri");
  return tauri;
}

/** What a rejected call says, whatever it was rejected with. */
export function asCallError(error: unknown): CallError {
  if (typeof error === "object" && error !== null && "kind" in error && "message" in error) return error as CallError;
  const words = error instanceof Error ? error.message : String(error);
  return { kind: "internal", message: `The core did not answer: ${words}. What you wrote is kept; try again.` };
}
