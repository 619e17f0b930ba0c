import type { PageBlock } from "@mailsvc/sdk/contract";
import { linkTarget } from "../../../html/urls.ts";
import { FORM_MARK } from "../../../html/sanitize.ts";
import { escapeHtml } from "../../../lib/html.ts";
import { assetPath } from "../../files/links.ts";

/** Parts of a page as HTML; all texts in them are shown as they are. */
export function blocksHtml(blocks: readonly PageBlock[]): string {
  return blocks.map(one).join("\n");
}

function paragraphs(text: string): string {
  return text
    .split(/(?:\r?\n){2,}/)
    .filter((part) => part.trim() !== "")
    .map((part) => `<p>${escapeHtml(part.trim()).replace(/\r?\n/g, "<br>")}</p>`)
    .join("");
}

function one(block: PageBlock): string {
  switch (block.type) {
    case "heading":
      return `<h${block.level}>${escapeHtml(block.text)}</h${block.level}>`;
    case "text":
      return paragraphs(block.text);
    case "image": {
      const caption = block.caption === undefined ? "" : `<figcaption>${escapeHtml(block.caption)}</figcaption>`;
      return `<figure><img src="${assetPath(escapeHtml(block.assetId))}" alt="${escapeHtml(block.alt)}" loading="lazy">${caption}</figure>`;
    }
    case "list": {
      const tag = block.ordered ? "ol" : "ul";
      return `<${tag}>${block.items.map((item) => `<li>${escapeHtml(item)}</li>`).join("")}</${tag}>`;
    }
    case "quote":
      return `<blockquote>${paragraphs(block.text)}${block.by === undefined ? "" : `<footer>${escapeHtml(block.by)}</footer>`}</blockquote>`;
    case "button": {
      const target = linkTarget(block.href);
      return target === null
        ? ""
        : `<p><a class="button" href="${escapeHtml(target)}" rel="noopener noreferrer">${escapeHtml(block.label)}</a></p>`;
    }
    case "divider":
      return "<hr>";
    case "form":
      return FORM_MARK;
  }
}
