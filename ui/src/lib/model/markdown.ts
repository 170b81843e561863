import DOMPurify from "dompurify";
import { Marked } from "marked";

/**
 * The model's text is untrusted. Nothing in it may load, link, style or name anything: links show where
 * they lead as text, pictures show their description.
 */
const ALLOWED = [
  "p", "br", "strong", "em", "del", "code", "pre", "ul", "ol", "li", "blockquote", "hr",
  "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td",
];

const marked = new Marked({
  gfm: true,
  renderer: {
    link({ href, tokens }) {
      const words = this.parser.parseInline(tokens);
      return words === escapeText(href) ? words : `${words} (${escapeText(href)})`;
    },
    image({ text }) {
      return escapeText(text);
    },
    html({ text }) {
      return escapeText(text);
    },
  },
});

/** Markdown as HTML that is safe to put into the page. */
export function renderMarkdown(text: string): string {
  const html = marked.parse(text, { async: false });
  return DOMPurify.sanitize(html, { ALLOWED_TAGS: ALLOWED, ALLOWED_ATTR: ["start"] });
}

function escapeText(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
