import DOMPurify from "dompurify";
import { Marked } from "marked";

/**
 * The model's text is untrusted. Nothing in it may load, link, style or name anything: links show where
 * they lead as text, pictures show their description, HTML shows as it is written.
 */
const marked = new Marked({
  gfm: true,
  renderer: {
    link({ href, tokens }) {
      const words = this.parser.parseInline(tokens);
      return words === escaped(href) ? words : `${words} (${escaped(href)})`;
    },
    image: ({ text }) => escaped(text),
    html: ({ text }) => escaped(text),
    checkbox: ({ checked }) => (checked ? "[x] " : "[ ] "),
    code: ({ text }) => `<pre><code>${escaped(text)}</code></pre>\n`,
  },
});

/** All that the renderer makes, and all that the page takes. */
const TAGS = [
  "p", "br", "strong", "em", "del", "code", "pre", "ul", "ol", "li", "blockquote", "hr",
  "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td",
];

/** Markdown as HTML that is safe to put into the page. */
export function renderMarkdown(text: string): string {
  return DOMPurify.sanitize(markdownHtml(text), { ALLOWED_TAGS: TAGS, ALLOWED_ATTR: ["start"] });
}

/** Markdown as HTML. It holds nothing of the model's but text; the sanitiser is a second lock. */
export function markdownHtml(text: string): string {
  return marked.parse(text, { async: false });
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
