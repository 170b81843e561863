import type { EndingName, GateResult, GateView, ModelSettings, PhaseName, SessionLine, SessionView, TurnEnded } from "$lib/bindings/wire";
import { proseParts } from "./conversation";
import type { Tally } from "./review";

/** `1 hunk`, `7 hunks`, `10,000 hunks`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}

/** A text with its first letter as a capital. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A duration in seconds: `0.4 s`, `12.3 s`, `6 min 12 s`. */
export function duration(seconds: number): string {
  if (seconds < 59.95) return `${Math.max(0, seconds).toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** How long ago, in the list of sessions; `at` and `now` are seconds since 1970. */
export function ago(at: number, now: number): string {
  const minutes = Math.floor((now - at) / 60);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`;
  const date = new Date(at * 1000);
  const week = minutes < 7 * 24 * 60;
  return date.toLocaleDateString("en", week ? { weekday: "short" } : { day: "numeric", month: "short" });
}

/** The model's name, as the title bar has it. */
export function modelName(model: ModelSettings | null | undefined): string {
  if (model == null) return "No model";
  return model.name ?? `${model.provider} model`;
}

/** An icon's name in the sprite. */
export type IconName =
  | "alert" | "aside" | "branch" | "busy" | "check" | "comment" | "cross" | "done" | "down" | "edit" | "eye"
  | "file" | "fileplus" | "floor" | "gate" | "half" | "help" | "left" | "loop" | "more" | "now" | "play" | "plus" | "red"
  | "repo" | "right" | "ring" | "rows" | "search" | "shield" | "sidebar" | "slash" | "square" | "stop" | "sun" | "terminal"
  | "up" | "user";

/** What an icon's colour says, beside its shape. */
export type Tone = "plain" | "asks" | "pass" | "fail" | "dim";

/** One line of words with an icon. */
export interface Said {
  icon: IconName;
  tone: Tone;
  words: string;
}

/** Each ending has an icon of its own. */
export function endingIcon(ending: EndingName, setAside: boolean): { icon: IconName; tone: Tone } {
  if (ending === "applied") return { icon: setAside ? "aside" : "done", tone: "plain" };
  const icons: Record<Exclude<EndingName, "applied">, IconName> = {
    answered: "comment",
    refused: "slash",
    stopped: "half",
    floor: "floor",
    interrupted: "stop",
    out_of_rounds: "loop",
    red: "red",
    failed: "alert",
    reviewed: "eye",
  };
  return { icon: icons[ending], tone: ending === "red" || ending === "failed" ? "fail" : "plain" };
}

/** What an ending means for the user's files and for the model, beside its one line. */
export function endingExplained(ending: EndingName, applied: number): string {
  const stands = "Your files now hold the change. Nothing is staged or committed.";
  const besides = applied > 0 ? " What you accepted is in your files; nothing is staged or committed." : "";
  switch (ending) {
    case "applied":
      return stands;
    case "answered":
      return "Nothing was changed.";
    case "refused":
      return applied > 0 ? stands : "Your files are as they were. The model reads this with your next prompt.";
    case "stopped":
      return `The model is told that the review was not finished.${besides}`;
    case "floor":
      return `It proposed rejected changes again, so it was not asked further in this turn.${besides}`;
    case "interrupted":
      return `There was no further round. The model reads this with your next prompt.${besides}`;
    case "out_of_rounds":
      return `Something was still rejected in the last round.${besides}`;
    case "red":
      return "Nothing was written to your files.";
    case "reviewed":
      return applied > 0
        ? "What you rejected is out of your files, and out of the index where it was staged. The model reads your review with the next prompt."
        : "Your files are as they were. The model reads your review with the next prompt.";
    case "failed":
      return "Your files are as they were, and the conversation is kept.";
  }
}

/** The status bar's line: what is happening now, or how the last turn ended. */
export function status(view: SessionView, tally: Tally | null, page: "brief" | "hunks" | "elsewhere"): Said {
  if (view.held !== null) return { icon: "alert", tone: "asks", words: sentence(proseParts(view.held.reason).map((part) => part.text).join("")) };
  const busy = (words: string): Said => ({ icon: "busy", tone: "plain", words });
  switch (view.phase) {
    case "idle":
      return { icon: "ring", tone: "plain", words: view.model === null ? "No model is chosen" : "Ready for a prompt" };
    case "snapshot":
      return busy("Recording your files as they are now");
    case "setup":
      return busy("Setting up the worktree");
    case "model":
      return busy("Model is working");
    case "screen":
      return busy("Comparing with what you rejected");
    case "gates":
      return busy(`Gates are running on what is proposed${runningGate(view.gates)}`);
    case "review": {
      if (view.review?.of === "tree") return { icon: "now", tone: "asks", words: `Reviewing your tree${leftWords(tally)}` };
      if (view.review?.of === "accepted") return { icon: "now", tone: "asks", words: `Reviewing what you accepted once more${leftWords(tally)}` };
      const round = `round ${view.round}`;
      if (tally === null || page !== "hunks") return { icon: "now", tone: "asks", words: `${sentence(round)} is ready to review` };
      const left = tally.undecided === 0 ? "all hunks decided" : `${count(tally.undecided, "hunk")} undecided`;
      return { icon: "now", tone: "asks", words: `Reviewing ${round}, ${left}` };
    }
    case "accepted_gates":
      return busy(`Gates are running on what you accepted${runningGate(view.gates)}`);
    case "red":
      return { icon: "red", tone: "fail", words: `On what you accepted, ${redGates(view.gates)}; nothing is applied` };
    case "apply":
      return busy("Writing what you accepted to your files");
    case "ended": {
      const ended = view.messages.findLast((message) => message.kind === "ended") ?? null;
      const said = endedSaid(ended);
      const isUndone = view.messages.some((message) => message.kind === "undone" && message.turn === ended?.turn);
      return isUndone ? { ...said, words: `${said.words}. Undone since` } : said;
    }
  }
}

function leftWords(tally: Tally | null): string {
  if (tally === null) return "";
  return tally.undecided === 0 ? ", all hunks decided" : `, ${count(tally.undecided, "hunk")} undecided`;
}

function runningGate(gates: readonly GateView[]): string {
  const running = gates.find((gate) => gate.result === "running");
  return running === undefined ? "" : `: ${running.name}`;
}

/** `build is red`, `build and test are red`. */
export function redGates(gates: readonly GateView[]): string {
  const names = gates.filter((gate) => gate.result === "red" || gate.result === "stopped").map((gate) => gate.name);
  if (names.length === 0) return "a gate is red";
  const last = names.pop()!;
  return names.length === 0 ? `${last} is red` : `${names.join(", ")} and ${last} are red`;
}

/** A gate as a pill says it. */
export function gateSaid(result: GateResult, seconds: number | null, agreed: boolean): Said {
  const took = seconds === null ? "" : ` ${duration(seconds)}`;
  switch (result) {
    case "green":
      return { icon: "check", tone: "pass", words: `ok${took}` };
    case "red":
      return { icon: "cross", tone: "fail", words: `red${took}` };
    case "red_before":
      return { icon: "slash", tone: "dim", words: "red before this turn" };
    case "not_run":
      return agreed ? { icon: "ring", tone: "dim", words: "not run" } : { icon: "shield", tone: "asks", words: "not agreed" };
    case "could_not_run":
      return { icon: "alert", tone: "dim", words: "could not run" };
    case "stopped":
      return { icon: "stop", tone: "dim", words: "stopped" };
    case "running":
      return { icon: "busy", tone: "plain", words: "running" };
  }
}

/** How a turn ended, in its own words. */
function endedSaid(ended: TurnEnded | null): Said {
  if (ended === null) return { icon: "ring", tone: "plain", words: "Ready for a prompt" };
  return { ...endingIcon(ended.ending, ended.set_aside.length > 0), words: ended.message };
}

/** A session's second line in the sidebar. */
export function sessionSaid(line: Pick<SessionLine, "phase" | "round" | "held" | "ended">): Said {
  if (line.held) return { icon: "alert", tone: "asks", words: "Held, yours to decide" };
  const busy = (words: string): Said => ({ icon: "busy", tone: "plain", words });
  switch (line.phase) {
    case "idle":
      return { icon: "ring", tone: "plain", words: "No prompt yet" };
    case "snapshot":
    case "setup":
      return busy("Getting the worktree ready");
    case "model":
    case "screen":
      return busy(`Model is working, round ${line.round}`);
    case "gates":
      return busy(`Gates are running, round ${line.round}`);
    case "review":
      return { icon: "now", tone: "asks", words: `Review ready, round ${line.round}` };
    case "accepted_gates":
      return busy("Gates on what you accepted");
    case "red":
      return { icon: "red", tone: "asks", words: "A gate is red, yours to decide" };
    case "apply":
      return busy("Writing to your files");
    case "ended":
      return endedSaid(line.ended);
  }
}

/** Whether the model, or a command, works now and can be stopped. */
export function canStop(phase: PhaseName): boolean {
  return ["snapshot", "setup", "model", "screen", "gates", "accepted_gates"].includes(phase);
}

/** Whether a turn is open. */
export function isOpen(phase: PhaseName): boolean {
  return phase !== "idle" && phase !== "ended";
}

/** A step of the round indicator. */
export interface Step {
  name: string;
  state: "done" | "now" | "asks" | "red" | "todo";
  words: string;
}

/** The four steps of a round, the present one in words. */
export function steps(view: SessionView): Step[] {
  if (view.review?.of === "tree") return [{ name: "Review", state: "asks", words: "Yours to decide" }];
  const names = ["Model", "Gates", "Review", "Apply"];
  const present: Record<PhaseName, number> = {
    idle: 0, snapshot: 0, setup: 0, model: 0, screen: 0, gates: 1, review: 2, accepted_gates: 3, red: 3, apply: 3, ended: 4,
  };
  const at = view.phase === "ended" ? reached(view) : present[view.phase];
  return names.map((name, index) => {
    if (index < at) return { name, state: "done", words: name };
    if (index > at || view.phase === "ended") return { name, state: "todo", words: name };
    const asks = view.phase === "review" || view.held !== null;
    const state = view.phase === "red" ? "red" : asks ? "asks" : "now";
    return { name, state, words: view.phase === "setup" ? setupWords(view) : `${name}${presentWords(view)}` };
  });
}

function setupWords(view: SessionView): string {
  return view.held === null ? "Setting up the worktree" : "Setup failed";
}

function presentWords(view: SessionView): string {
  if (view.held !== null) return ": held";
  switch (view.phase) {
    case "snapshot":
      return ": getting ready";
    case "model":
      return view.attempt > 1 ? `, attempt ${view.attempt}` : "";
    case "accepted_gates":
      return ": gates on what you accepted";
    case "red":
      return `: ${redGates(view.gates)}`;
    default:
      return "";
  }
}

/** How many steps the last turn went through. */
function reached(view: SessionView): number {
  const ended = view.messages.findLast((message) => message.kind === "ended");
  if (ended === undefined || ended.applied.length > 0) return 4;
  const reviewed = view.messages.some((message) => message.kind === "reviewed" && message.turn === ended.turn);
  if (reviewed) return 3;
  return ended.ending === "failed" ? 0 : 1;
}
