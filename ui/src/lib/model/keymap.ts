/** What the window shows of a session. */
export type Page = "conversation" | "brief" | "hunks" | "editor" | "accepted" | "red";

/** Where a key acts: on a page, or while the user chooses where a hunk is split. */
export type Scope = Page | "splitting";

/** What a key, or the control that stands for it, does. */
export type Command =
  | "accept" | "reject" | "comment" | "split" | "edit" | "edit_outside" | "clear" | "accept_file" | "reject_file"
  | "next_gap" | "previous_gap" | "split_here" | "split_all" | "leave_split"
  | "next" | "previous" | "next_file" | "previous_file" | "next_undecided"
  | "finish" | "refuse_rest" | "stop"
  | "close" | "start_review" | "accept_all" | "refuse" | "red_edit"
  | "interrupt"
  | "open" | "new_session" | "sidebar" | "keys";

/** The part of the key sheet that a key stands in. */
export type Group = "This hunk" | "Splitting" | "Move" | "Finish" | "Brief" | "Red gate" | "Conversation" | "Window";

interface Binding {
  command: Command;
  /** As `KeyboardEvent.key` has it; `Ctrl+` before it also means the Mac's command key. */
  key: string;
  words: string;
  group: Group;
  /** Where it acts; everywhere where it is left out. */
  on?: Scope;
  /** Whether holding the key down goes on. */
  repeats?: true;
}

/** Every key, in the order of the key sheet. */
export const BINDINGS: readonly Binding[] = [
  { command: "accept", key: "a", words: "Accept", group: "This hunk", on: "hunks" },
  { command: "reject", key: "r", words: "Reject", group: "This hunk", on: "hunks" },
  { command: "comment", key: "c", words: "Comment", group: "This hunk", on: "hunks" },
  { command: "split", key: "s", words: "Split at unchanged lines", group: "This hunk", on: "hunks" },
  { command: "edit", key: "e", words: "Edit the file", group: "This hunk", on: "hunks" },
  { command: "edit_outside", key: "E", words: "Open it in your own editor", group: "This hunk", on: "hunks" },
  { command: "clear", key: "u", words: "Clear the verdict", group: "This hunk", on: "hunks" },
  { command: "accept_file", key: "f", words: "Accept the rest of the file", group: "This hunk", on: "hunks" },
  { command: "reject_file", key: "F", words: "Reject the rest of the file", group: "This hunk", on: "hunks" },
  { command: "next_gap", key: "j", words: "Next gap", group: "Splitting", on: "splitting", repeats: true },
  { command: "previous_gap", key: "k", words: "Previous gap", group: "Splitting", on: "splitting", repeats: true },
  { command: "split_here", key: "Enter", words: "Split at this gap", group: "Splitting", on: "splitting" },
  { command: "split_all", key: "s", words: "Split at all gaps", group: "Splitting", on: "splitting" },
  { command: "leave_split", key: "Escape", words: "Leave it whole", group: "Splitting", on: "splitting" },
  { command: "next", key: "j", words: "Next hunk", group: "Move", on: "hunks", repeats: true },
  { command: "previous", key: "k", words: "Previous hunk", group: "Move", on: "hunks", repeats: true },
  { command: "next_file", key: "]", words: "Next file", group: "Move", on: "hunks", repeats: true },
  { command: "previous_file", key: "[", words: "Previous file", group: "Move", on: "hunks", repeats: true },
  { command: "next_undecided", key: "n", words: "Next undecided", group: "Move", on: "hunks" },
  { command: "finish", key: "Enter", words: "Finish, all decided", group: "Finish", on: "hunks" },
  { command: "refuse_rest", key: "q", words: "Refuse the rest and finish", group: "Finish", on: "hunks" },
  { command: "stop", key: "Escape", words: "Stop partway", group: "Finish", on: "hunks" },
  { command: "start_review", key: "Enter", words: "Open the hunks", group: "Brief", on: "brief" },
  { command: "accept_all", key: "A", words: "Accept all", group: "Brief", on: "brief" },
  { command: "refuse", key: "q", words: "Refuse all, end the turn", group: "Brief", on: "brief" },
  { command: "close", key: "Escape", words: "Back to the brief", group: "Brief", on: "accepted" },
  { command: "red_edit", key: "e", words: "Edit what you accepted", group: "Red gate", on: "red" },
  { command: "interrupt", key: "Escape", words: "Stop the model", group: "Conversation", on: "conversation" },
  { command: "open", key: "Ctrl+o", words: "Open a repository", group: "Window" },
  { command: "new_session", key: "Ctrl+n", words: "New session", group: "Window" },
  { command: "sidebar", key: "Ctrl+b", words: "Sidebar", group: "Window" },
  { command: "keys", key: "?", words: "All keys", group: "Window" },
];

/** What of a key press decides about its meaning. */
export interface Press {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  repeat: boolean;
}

/** Where the focus is when a key is pressed. */
export type Focus = "typing" | "control" | "elsewhere";

/** The command of a key press; `null` where the key is not Heph's there. */
export function commandOf(press: Press, scope: Scope, focus: Focus): Command | null {
  if (press.altKey) return null;
  const ctrl = press.ctrlKey || press.metaKey;
  // A letter in a text is a letter, and Enter or Space on a button press that button.
  if (!ctrl && focus === "typing") return null;
  if (!ctrl && focus === "control" && (press.key === "Enter" || press.key === " ")) return null;
  const key = ctrl ? `Ctrl+${press.key.toLowerCase()}` : press.key;
  const binding = BINDINGS.find((each) => each.key === key && (each.on === undefined || each.on === scope));
  if (binding === undefined || (press.repeat && !binding.repeats)) return null;
  return binding.command;
}

/** Where the focus is, by the element that has it. */
export function focusOf(target: EventTarget | null): Focus {
  if (!(target instanceof HTMLElement)) return "elsewhere";
  if (target.isContentEditable || target.matches("input, textarea, select")) return "typing";
  return target.matches("button, a, summary, [role=menuitem]") ? "control" : "elsewhere";
}

/** A key as its cap shows it. */
export function keyCap(key: string): string {
  return key.replace("Ctrl+", "Ctrl ").replace("Enter", "⏎").replace("Escape", "Esc").replace(/ (\w)$/, (cap) => cap.toUpperCase());
}

/** The cap of a command's key. */
export function capOf(command: Command): string {
  const binding = BINDINGS.find((each) => each.command === command);
  return binding === undefined ? "" : keyCap(binding.key);
}
