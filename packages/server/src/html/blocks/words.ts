import { parsePassages, parseSpans, type Span, splitVariables } from "@mailsvc/sdk/contract";
import { escapeHtml } from "../escape.ts";
import type { Look } from "./look.ts";

const LIST_STYLE = "margin:0 0 16px;padding-inline-start:24px";

/** The text of a block as HTML: paragraphs and lists. Variables stay as they are written, everything else is escaped. */
export function renderPassages(text: string, look: Look): string {
  return parsePassages(text)
    .map(({ kind, lines }, i, all) => {
      const margin = i === all.length - 1 ? "margin:0" : "margin:0 0 16px";
      if (kind === "paragraph") return `<p dir="auto" style="${margin}">${lines.map((spans) => renderSpans(spans, look)).join("<br>")}</p>`;
      const tag = kind === "bullets" ? "ul" : "ol";
      const items = lines.map((spans) => `<li style="margin:0 0 4px">${renderSpans(spans, look)}</li>`).join("");
      return `<${tag} dir="auto" style="${LIST_STYLE.replace("margin:0 0 16px", margin)}">${items}</${tag}>`;
    })
    .join("");
}

/** One line as HTML, such as a heading: variables stay, and no character has a meaning. */
export function renderLine(text: string): string {
  return splitVariables(text)
    .map((span, i, all) => renderPlain(span, all[i + 1]?.kind === "variable"))
    .join("");
}

/** A text as the value of an attribute in double quotes; variables stay, with single quotes in them. */
export function renderAttribute(text: string): string {
  return splitVariables(text)
    .map((span, i, all) =>
      span.kind === "variable" ? span.source.replaceAll('"', "'") : renderPlain(span, all[i + 1]?.kind === "variable"),
    )
    .join("");
}

/** True if a line has words or variables. */
export function hasWords(text: string): boolean {
  return parseSpans(text).some((span) => span.kind !== "words" || span.text.trim() !== "");
}

function renderSpans(spans: readonly Span[], look: Look): string {
  return spans
    .map((span, i) => {
      if (span.kind === "strong") return `<strong>${renderSpans(span.spans, look)}</strong>`;
      if (span.kind === "emphasis") return `<em>${renderSpans(span.spans, look)}</em>`;
      if (span.kind === "link")
        return `<a class="link" href="${renderAttribute(span.href)}" style="color:${look.link};text-decoration:underline">${renderSpans(span.spans, look)}</a>`;
      return renderPlain(span, spans[i + 1]?.kind === "variable");
    })
    .join("");
}

/** Words, or a variable. Before a variable, a \ would take the meaning from its braces. */
function renderPlain(span: Span, beforeVariable: boolean): string {
  if (span.kind === "variable") return span.source;
  if (span.kind !== "words") return "";
  const html = escapeHtml(span.text);
  return beforeVariable ? html.replace(/\\+$/, (slashes) => "&#92;".repeat(slashes.length)) : html;
}
