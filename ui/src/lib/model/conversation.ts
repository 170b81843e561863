import type { Counts, Message, ToolCall, TurnEnded } from "$lib/bindings/wire";

/** What was said and done in a round, in order. Tool calls without words between them stand together. */
export type Item =
  | { kind: "words"; text: string }
  | { kind: "tools"; calls: ToolCall[] };

/** A finished review. */
export type Reviewed = Extract<Message, { kind: "reviewed" }>;

/** What an undo did. */
export type Undone = Extract<Message, { kind: "undone" }>;

export interface Round {
  round: number;
  items: Item[];
  /** What the model was told in or after this round, whole and exact. */
  told: string[];
  reviewed: Reviewed | null;
}

export interface Turn {
  turn: number;
  prompt: string;
  rounds: Round[];
  ended: TurnEnded | null;
  undone: Undone | null;
}

/** Groups the messages of a session into turns and rounds. */
export function turns(messages: readonly Message[]): Turn[] {
  const result: Turn[] = [];
  const turnOf = (turn: number): Turn => {
    const last = result.at(-1);
    if (last?.turn === turn) return last;
    result.push({ turn, prompt: "", rounds: [], ended: null, undone: null });
    return result.at(-1)!;
  };
  const roundOf = (turn: number, round: number): Round => {
    const rounds = turnOf(turn).rounds;
    const known = rounds.find((each) => each.round === round);
    if (known !== undefined) return known;
    rounds.push({ round, items: [], told: [], reviewed: null });
    return rounds.at(-1)!;
  };
  for (const message of messages) {
    switch (message.kind) {
      case "prompt":
        turnOf(message.turn).prompt = message.text;
        break;
      case "model":
        roundOf(message.turn, message.round).items.push({ kind: "words", text: message.text });
        break;
      case "tool":
        addCall(roundOf(message.turn, message.round).items, message);
        break;
      case "told":
        roundOf(message.turn, message.round).told.push(message.text);
        break;
      case "reviewed":
        roundOf(message.turn, message.round).reviewed = message;
        break;
      case "ended":
        turnOf(message.turn).ended = message;
        break;
      case "undone": {
        // It may come long after its turn.
        const undone = result.find((turn) => turn.turn === message.turn);
        if (undone !== undefined) undone.undone = message;
      }
    }
  }
  return result;
}

function addCall(items: Item[], call: ToolCall): void {
  const last = items.at(-1);
  if (last?.kind === "tools") last.calls.push(call);
  else items.push({ kind: "tools", calls: [call] });
}

/** The model's last words in a turn. */
export function closingWords(turn: Turn): string {
  for (const round of turn.rounds.toReversed()) {
    const words = round.items.findLast((item) => item.kind === "words");
    if (words !== undefined) return words.text;
  }
  return "";
}

/** How many tool calls a round has. */
export function callCount(round: Round): number {
  return round.items.reduce((sum, item) => sum + (item.kind === "tools" ? item.calls.length : 0), 0);
}

/** What the tool calls of a turn have changed so far, by file. */
export function changedSoFar(turn: Turn): Map<string, Counts> {
  const result = new Map<string, Counts>();
  for (const round of turn.rounds) {
    for (const item of round.items) {
      if (item.kind !== "tools") continue;
      for (const { target, counts, failed } of item.calls) {
        if (counts === null || failed) continue;
        const { added, removed } = result.get(target) ?? { added: 0, removed: 0 };
        result.set(target, { added: added + counts.added, removed: removed + counts.removed });
      }
    }
  }
  return result;
}

/**
 * What of the streamed text `live` a newly loaded conversation does not hold yet. The two come by
 * different ways, so either may be ahead of the other.
 */
export function notYetIn(messages: readonly Message[], live: string): string {
  if (live === "") return "";
  for (const message of messages.slice(-8).toReversed()) {
    if (message.kind === "prompt") break;
    if (message.kind !== "model") continue;
    if (message.text.endsWith(live)) return "";
    if (live.startsWith(message.text)) return live.slice(message.text.length);
    break;
  }
  return live;
}

/** The review of the user's own tree that a prompt asks for: `/review`, or `/review REV`; `null` where it asks for none. */
export function reviewCommand(prompt: string): { rev?: string } | null {
  const found = /^\/review(?:\s+(\S+))?$/.exec(prompt.trim());
  if (found === null) return null;
  return found[1] === undefined ? {} : { rev: found[1] };
}

/** Plain words, with what stands between backquotes as code. */
export function proseParts(text: string): { code: boolean; text: string }[] {
  return text
    .split(/`([^`\n]+)`/)
    .map((part, index) => ({ code: index % 2 === 1, text: part }))
    .filter((part) => part.text !== "");
}
