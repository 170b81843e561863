import { Channel, invoke } from "@tauri-apps/api/core";
import type { Notification, WirePath } from "$lib/bindings/wire";
import type { Backend } from "./index";

type ShellOpening = { kind: "folder"; path: WirePath } | { kind: "demo" } | { kind: "nothing" };

/** The core in the app: one command for all methods, one channel for all notifications. */
export const tauri: Backend = {
  call: (method, params) => invoke("call", { method, params }),
  listen(hear) {
    void invoke("subscribe", { channel: new Channel<Notification>(hear) });
  },
  chooseFolder: () => invoke<WirePath | null>("choose_folder"),
  async opening() {
    const opening = await invoke<ShellOpening>("opening");
    if (opening.kind === "folder") return { path: opening.path };
    return opening.kind === "demo" ? { demo: true } : null;
  },
  confirm: (question) => invoke<boolean>("confirm", { ...question }),
};
