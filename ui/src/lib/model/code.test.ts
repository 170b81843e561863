import { describe, expect, it } from "vitest";
import type { Row } from "$lib/bindings/wire";
import { codeHtml, pieces } from "./code";

const row = (text: string, spans?: Row["spans"], marks?: Row["marks"]): Row => ({ kind: "+", text, spans, marks });

describe("a code row", () => {
  it("is cut where colours and word marks begin and end", () => {
    expect(pieces(row("let x = 1;", [[0, 3, "k"], [8, 9, "n"]], [[4, 9]]))).toEqual([
      { marked: false, stretches: [{ text: "let", colour: "k" }, { text: " ", colour: "" }] },
      { marked: true, stretches: [{ text: "x = ", colour: "" }, { text: "1", colour: "n" }] },
      { marked: false, stretches: [{ text: ";", colour: "" }] },
    ]);
  });

  it("keeps every character, in order", () => {
    const text = "\tif (a < b && c) { return \"é😀\"; } // <b>";
    const cut = pieces(row(text, [[1, 3, "k"], [25, 31, "s"]], [[0, 5], [5, 9], [30, 40]]));
    expect(cut.flatMap((piece) => piece.stretches.map((each) => each.text)).join("")).toBe(text);
  });

  it("keeps apart two marks that touch", () => {
    expect(pieces(row("ab", [], [[0, 1], [1, 2]])).map((piece) => piece.marked)).toEqual([true, true]);
  });

  it("shows file text as text", () => {
    const element = document.createElement("span");
    element.innerHTML = codeHtml(row("<img src=x onerror=y> & &lt;", [[0, 4, "g"]]));
    expect(element.textContent).toBe("<img src=x onerror=y> & &lt;");
    expect(element.querySelector("img")).toBeNull();
  });

  it("takes no class but one of the theme's", () => {
    expect(codeHtml(row("a", [[0, 1, "btn\" onclick=\"x"]]))).toBe("a");
  });
});
