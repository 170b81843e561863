import { describe, expect, it } from "vitest";
import css from "./tokens.css?raw";

type Tokens = Record<string, string>;

function block(head: string): Tokens {
  const start = css.indexOf("{", css.indexOf(head)) + 1;
  const body = css.slice(start, css.indexOf("}", start));
  return Object.fromEntries([...body.matchAll(/(--[\w-]+):\s*([^;]+);/g)].map((found) => [found[1]!, found[2]!.trim()]));
}

const light = block("/* Light */");
const dark = block(':root[data-theme="dark"]');

/** Relative luminance and contrast ratio, as WCAG 2.2 defines them. */
function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5]
    .map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

function contrast(front: string, back: string): number {
  const [low, high] = [luminance(front), luminance(back)].sort((a, b) => a - b);
  return (high! + 0.05) / (low! + 0.05);
}

const names = (prefix: string, list: string) => list.split(" ").map((name) => `--${prefix}${name}`);
const surfaces = names("bg-", "chrome canvas surface sunken raised hover selected");
const tints = names("", "forge-tint voice-tint fail-tint");
const syntax = names("syn-", "text keyword string number constant type function variable punctuation operator tag attribute");
const plain = names("", "bg-surface bg-sunken gap-row bg-canvas");
const changed = names("", "add-row add-mark del-row del-mark");

/** What stands on what, and how strong it has to be: AA for words, 7:1 for code, 3:1 for the edges of controls. */
const pairs: [what: string, least: number, fronts: string[], backs: string[]][] = [
  ["words", 4.5, names("", "ink ink-2 ink-3"), [...surfaces, ...tints]],
  ["what asks", 4.5, ["--forge"], [...surfaces, "--forge-tint"]],
  ["a filled button", 4.5, ["--on-forge"], names("", "forge-fill forge-fill-hover")],
  ["a given verdict", 4.5, ["--on-ink"], ["--bg-ink"]],
  ["the model's words", 4.5, ["--voice"], [...surfaces, "--voice-tint", "--forge-tint"]],
  ["results", 4.5, names("", "pass fail"), [...surfaces, "--fail-tint"]],
  ["the sign of an added line", 4.5, ["--add-sign"], ["--add-row", "--add-gutter", ...surfaces]],
  ["the sign of a removed line", 4.5, ["--del-sign"], ["--del-row", "--del-gutter", ...surfaces]],
  ["line numbers", 4.5, ["--lineno"], names("", "bg-surface gap-row bg-sunken")],
  ["line numbers of changed lines", 4.5, ["--lineno-change"], names("", "add-gutter del-gutter")],
  ["code", 7, syntax, [...plain, ...changed]],
  ["comments in code", 7, ["--syn-comment"], plain],
  ["comments in changed code", 7, ["--syn-comment-change"], changed],
  ["edges of controls", 3, names("", "line-control focus forge-line"), names("bg-", "surface canvas chrome")],
];

describe("the colours", () => {
  it.each([["light", light], ["dark", dark]] as const)("of %s are strong enough wherever they stand", (_, tokens) => {
    const weak = pairs.flatMap(([what, least, fronts, backs]) =>
      fronts.flatMap((front) =>
        backs
          .filter((back) => contrast(tokens[front]!, tokens[back]!) < least)
          .map((back) => `${what}: ${front} on ${back} is ${contrast(tokens[front]!, tokens[back]!).toFixed(2)}, not ${least}`),
      ),
    );
    expect(weak).toEqual([]);
  });

  it("of the system's dark are those of the chosen dark, and every name has both", () => {
    expect(block(':root:not([data-theme="light"])')).toEqual(dark);
    expect(Object.keys(dark)).toEqual(Object.keys(light));
  });
});
