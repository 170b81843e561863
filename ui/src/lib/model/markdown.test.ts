import { describe, expect, it } from "vitest";
import { markdownHtml, renderMarkdown } from "./markdown";

const HOSTILE = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "![a picture](https://example.com/p.png)",
  "[click](javascript:alert(1))",
  "<a href='https://example.com'>there</a>",
  "inline <iframe src='https://example.com'></iframe>",
  "<p style='position:fixed' onclick='alert(1)' class='btn' id='app'>x</p>",
  "<svg><use href='#icon-check'/></svg>",
  "- [x] <input autofocus onfocus=alert(1)>",
  "```\"><script>alert(1)</script>\n</code></pre><script>alert(1)</script>\n```",
].join("\n\n");

describe("the model's Markdown", () => {
  it("keeps words, lists and code", () => {
    const html = markdownHtml("The **key** is in `auth.rs`:\n\n- one\n- two\n\n```rust\nfn a() {}\n```");
    expect(html).toContain("<strong>key</strong>");
    expect(html).toContain("<code>auth.rs</code>");
    expect(html).toContain("<li>one</li>");
    expect(html).toContain("<pre><code>fn a() {}</code></pre>");
  });

  it.each([["as rendered", markdownHtml], ["as sanitised", renderMarkdown]])("cannot run, load or link anything, %s", (_, render) => {
    const page = document.createElement("div");
    page.innerHTML = render(HOSTILE);
    expect(page.querySelectorAll("script, img, a, iframe, svg, style, form, input")).toHaveLength(0);
    for (const element of page.querySelectorAll("*")) expect(element.getAttributeNames()).toEqual([]);
  });

  it("shows HTML as it is written", () => {
    const page = document.createElement("div");
    page.innerHTML = markdownHtml(HOSTILE);
    expect(page.textContent).toContain("<script>alert(1)</script>");
    expect(page.textContent).toContain("a picture");
  });

  it("says where a link leads", () => {
    expect(markdownHtml("see [the manual](https://example.com/m)")).toContain("the manual (https://example.com/m)");
    expect(markdownHtml("<https://example.com/m>")).toContain("<p>https://example.com/m</p>");
  });

  it("that is not finished yet is shown as far as it goes", () => {
    expect(markdownHtml("A list:\n\n- one\n- `tw")).toContain("<li>one</li>");
  });
});
