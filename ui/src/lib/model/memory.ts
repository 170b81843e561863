/** What this window remembers by itself, between starts: drafts of comments, where one was, light or dark. */

/** The text kept under `key`. */
export function recall(key: string): string | null {
  try {
    return localStorage.getItem(`heph.${key}`);
  } catch {
    return null;
  }
}

/** Keeps `text` under `key`; `null` forgets it. */
export function remember(key: string, text: string | null): void {
  try {
    if (text === null) localStorage.removeItem(`heph.${key}`);
    else localStorage.setItem(`heph.${key}`, text);
  } catch {
    // Without storage the text lives as long as the window.
  }
}
