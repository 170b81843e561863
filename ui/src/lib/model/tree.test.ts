import { describe, expect, it } from "vitest";
import { treeOf } from "./tree";

const paths = ["Cargo.toml", "src/auth.rs", "src/main.rs", "web/src/session.ts", "web/src/ui/login.ts"];

describe("the file tree", () => {
  it("stands files under their folders, and gives lone folders one line together", () => {
    expect(treeOf(paths, new Set()).map((leaf) => `${" ".repeat(leaf.depth)}${leaf.name}`)).toEqual([
      "Cargo.toml", "src", " auth.rs", " main.rs", "web/src", " session.ts", " ui", "  login.ts",
    ]);
  });

  it("leaves out what lies in a closed folder", () => {
    expect(treeOf(paths, new Set(["web/src/"])).map((leaf) => leaf.name)).toEqual(["Cargo.toml", "src", "auth.rs", "main.rs", "web/src"]);
  });

  it("says which path a line stands for", () => {
    const indexes = treeOf(paths, new Set()).flatMap((leaf) => (leaf.kind === "file" ? [paths[leaf.index]] : []));
    expect(indexes).toEqual(paths);
  });
});
