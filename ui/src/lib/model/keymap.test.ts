import { describe, expect, it } from "vitest";
import { BINDINGS, capOf, commandOf, focusOf, type Focus, type Scope } from "./keymap";

const press = (key: string, page: Scope, focus: Focus = "elsewhere", more = {}) =>
  commandOf({ key, ctrlKey: false, metaKey: false, altKey: false, repeat: false, ...more }, page, focus);

describe("keys", () => {
  it("of the hunks act on the hunks only", () => {
    expect(press("a", "hunks")).toBe("accept");
    expect(press("F", "hunks")).toBe("reject_file");
    expect(press("a", "conversation")).toBeNull();
    expect(press("A", "hunks")).toBeNull();
  });

  it("mean what the page means by them", () => {
    expect(press("q", "brief")).toBe("refuse");
    expect(press("q", "hunks")).toBe("refuse_rest");
    expect(press("Enter", "brief")).toBe("start_review");
    expect(press("Enter", "hunks")).toBe("finish");
    expect(press("Escape", "conversation")).toBe("interrupt");
    expect(press("Escape", "hunks")).toBe("stop");
  });

  it("mean something else while the user chooses where to split", () => {
    expect(press("s", "hunks")).toBe("split");
    expect(press("s", "splitting")).toBe("split_all");
    expect(press("Enter", "splitting")).toBe("split_here");
    expect(press("Escape", "splitting")).toBe("leave_split");
    expect(press("a", "splitting")).toBeNull();
  });

  it("never fire while the user types", () => {
    for (const { key, on } of BINDINGS.filter((each) => !each.key.startsWith("Ctrl"))) {
      expect(press(key, on ?? "hunks", "typing")).toBeNull();
    }
    expect(press("b", "hunks", "typing", { ctrlKey: true })).toBe("sidebar");
  });

  it("leave Enter and Space to the button that has the focus", () => {
    expect(press("Enter", "hunks", "control")).toBeNull();
    expect(press("a", "hunks", "control")).toBe("accept");
  });

  it("held down move, and do nothing else", () => {
    expect(press("j", "hunks", "elsewhere", { repeat: true })).toBe("next");
    expect(press("a", "hunks", "elsewhere", { repeat: true })).toBeNull();
    expect(press("A", "brief", "elsewhere", { repeat: true })).toBeNull();
  });

  it("with Ctrl, or the Mac's command key, are the window's", () => {
    expect(press("o", "hunks", "elsewhere", { ctrlKey: true })).toBe("open");
    expect(press("o", "hunks", "elsewhere", { metaKey: true })).toBe("open");
    expect(press("a", "hunks", "elsewhere", { ctrlKey: true })).toBeNull();
    expect(press("a", "hunks", "elsewhere", { altKey: true })).toBeNull();
  });

  it("are each bound once on a page", () => {
    const places = BINDINGS.flatMap(({ key, on }) => (on === undefined ? ["conversation", "brief", "hunks", "red"] : [on]).map((page) => `${page} ${key}`));
    expect(new Set(places).size).toBe(places.length);
  });

  it("have a cap that names them", () => {
    expect(capOf("open")).toBe("Ctrl O");
    expect(capOf("finish")).toBe("⏎");
    expect(capOf("stop")).toBe("Esc");
    expect(capOf("accept")).toBe("a");
  });

  it("know a text field by its element", () => {
    expect(focusOf(document.createElement("textarea"))).toBe("typing");
    expect(focusOf(document.createElement("button"))).toBe("control");
    expect(focusOf(document.createElement("section"))).toBe("elsewhere");
    expect(focusOf(null)).toBe("elsewhere");
  });
});
