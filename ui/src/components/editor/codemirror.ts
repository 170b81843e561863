/** The text editor: CodeMirror, in Heph's colours. Loaded when a file is first edited. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting, type LanguageSupport } from "@codemirror/language";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export interface Editor {
  focus(): void;
  destroy(): void;
}

export interface EditorOptions {
  /** Tells the language. */
  path: string;
  text: string;
  /** Lines that the review proposes, from 1; they are marked at their edge. */
  newLines: readonly number[];
  /** The line that is shown first, from 1. */
  line: number;
  readOnly: boolean;
  /** Hears the whole text, its lines ended by `\n`. */
  change: (text: string) => void;
  save: () => void;
  close: () => void;
}

const LANGUAGES: [RegExp, () => Promise<LanguageSupport>][] = [
  [/\.rs$/, async () => (await import("@codemirror/lang-rust")).rust()],
  [/\.[cm]?jsx?$/, async () => (await import("@codemirror/lang-javascript")).javascript({ jsx: true })],
  [/\.[cm]?tsx?$/, async () => (await import("@codemirror/lang-javascript")).javascript({ jsx: true, typescript: true })],
  [/\.py$/, async () => (await import("@codemirror/lang-python")).python()],
  [/\.json$/, async () => (await import("@codemirror/lang-json")).json()],
  [/\.(md|markdown)$/, async () => (await import("@codemirror/lang-markdown")).markdown()],
  [/\.(css|scss)$/, async () => (await import("@codemirror/lang-css")).css()],
  [/\.(html?|svelte|vue)$/, async () => (await import("@codemirror/lang-html")).html()],
  [/\.go$/, async () => (await import("@codemirror/lang-go")).go()],
  [/\.(c|h|cc|cpp|hpp|cxx)$/, async () => (await import("@codemirror/lang-cpp")).cpp()],
];

/** The classes of `code.css`: one set of colours for reading and writing. */
const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier], class: "k" },
  { tag: [tags.string, tags.character, tags.regexp], class: "s" },
  { tag: tags.comment, class: "c" },
  { tag: tags.number, class: "n" },
  { tag: [tags.bool, tags.null, tags.atom], class: "m" },
  { tag: [tags.typeName, tags.className, tags.namespace], class: "t" },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.macroName], class: "f" },
  { tag: [tags.variableName, tags.propertyName], class: "v" },
  { tag: tags.punctuation, class: "p" },
  { tag: tags.operator, class: "o" },
  { tag: tags.tagName, class: "g" },
  { tag: [tags.attributeName, tags.meta], class: "a" },
]);

/** Marks lines at their edge; the marks go with them while the user writes. */
function marked(lines: readonly number[]) {
  const mark = Decoration.line({ class: "is-new" });
  return StateField.define<DecorationSet>({
    create: ({ doc }) => Decoration.set(lines.filter((line) => line <= doc.lines).map((line) => mark.range(doc.line(line).from))),
    update: (marks, { changes }) => marks.map(changes),
    provide: (field) => EditorView.decorations.from(field),
  });
}

export async function createEditor(parent: HTMLElement, options: EditorOptions): Promise<Editor> {
  const language = LANGUAGES.find(([name]) => name.test(options.path));
  const support = language === undefined ? [] : [await language[1]()];
  const own = (key: string, act: () => void) => ({ key, preventDefault: true, stopPropagation: true, run: () => (act(), true) });
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        keymap.of([own("Mod-s", options.save), own("Mod-Enter", options.save)]),
        // Esc first closes what the editor itself has open.
        keymap.of([...searchKeymap, ...historyKeymap, indentWithTab, ...defaultKeymap, own("Escape", options.close)]),
        lineNumbers(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        highlightSelectionMatches(),
        syntaxHighlighting(COLOURS),
        EditorState.readOnly.of(options.readOnly),
        EditorView.contentAttributes.of({ "aria-label": options.path }),
        EditorView.updateListener.of((update) => update.docChanged && options.change(update.state.doc.toString())),
        marked(options.newLines),
        ...support,
      ],
    }),
  });
  const { from } = view.state.doc.line(Math.max(1, Math.min(options.line, view.state.doc.lines)));
  view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
  return { focus: () => view.focus(), destroy: () => view.destroy() };
}
