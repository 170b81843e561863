import { describe, expect, it } from "vitest";
import { lineEndOf, withEnds } from "./ends";

describe("line ends", () => {
  it("are told where they are of one kind, and only then put back", () => {
    expect(lineEndOf("a\nb")).toBe("lf");
    expect(lineEndOf("")).toBe("lf");
    expect(lineEndOf("a\r\nb\r\n")).toBe("crlf");
    expect(lineEndOf("a\r\nb\n")).toBe("mixed");
    expect(lineEndOf("a\rb")).toBe("mixed");
    expect(withEnds("a\nb\n", "crlf")).toBe("a\r\nb\r\n");
    expect(withEnds("a\nb\n", "lf")).toBe("a\nb\n");
  });
});
