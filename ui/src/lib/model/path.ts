import type { WirePath } from "$lib/bindings/wire";

/** The path as text, with the replacement character where it is not UTF-8. */
export function displayPath(path: WirePath): string {
  if (typeof path === "string") return path;
  const bytes = Uint8Array.from(atob(path.bytes), (character) => character.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}

/** Splits a path before its last part: `["src/", "auth.rs"]`. */
export function splitPath(path: string): [folder: string, name: string] {
  const cut = path.lastIndexOf("/") + 1;
  return [path.slice(0, cut), path.slice(cut)];
}
