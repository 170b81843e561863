/** How the lines of a text end. */
export type LineEnd = "lf" | "crlf" | "mixed";

export function lineEndOf(text: string): LineEnd {
  const all = text.match(/\r\n|\r|\n/g) ?? [];
  if (all.every((end) => end === "\n")) return "lf";
  return all.every((end) => end === "\r\n") ? "crlf" : "mixed";
}

/** A text whose lines end in `\n`, with the ends that it is to have. */
export function withEnds(text: string, end: LineEnd): string {
  return end === "crlf" ? text.replaceAll("\n", "\r\n") : text;
}
