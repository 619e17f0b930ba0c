import type { MailDocument, MailElement } from "./document.ts";
import type { Findings } from "./findings.ts";
import { shorten } from "./links.ts";

/** Size beyond which Gmail clips a mail, in bytes: 102 kB. */
const GMAIL_BYTES = 102 * 1024;

const EMBEDDED = new Set("iframe frame object embed applet".split(" "));
const FIELDS = new Set("form input select textarea".split(" "));

/** Checks images, and elements that do not belong into a mail or are not closed. */
export function checkElements({ elements }: MailDocument, findings: Findings): void {
  for (const element of elements) {
    const { name, attributes, start } = element;
    if (name === "img") checkImage(element, findings);
    if (name === "script") findings.add("script", "html", start, "A script element.");
    if (EMBEDDED.has(name)) findings.add("embedded-content", "html", start, `An ${name} element.`);
    if (FIELDS.has(name)) findings.add("form", "html", start, `A ${name} element.`);
    if (name === "link" && /\bstylesheet\b/i.test(attributes.get("rel") ?? ""))
      findings.add("external-stylesheet", "html", start, `The style sheet ${shorten(attributes.get("href") ?? "")}.`);
    if (name === "table" && !element.hasHeaderCells && !attributes.has("role"))
      findings.add("table-no-role", "html", start, 'A table without th and without role="presentation".');
    const handler = [...attributes.keys()].find((key) => /^on[a-z]+$/.test(key));
    if (handler !== undefined) findings.add("script", "html", start, `The attribute ${handler}.`);
    if (element.isUnclosed) findings.add("tag-unclosed", "html", start, `<${name.slice(0, 40)}> is not closed.`);
  }
}

/** Checks what concerns a mail as a whole. */
export function checkWhole({ html, elements, texts }: MailDocument, bytes: number, findings: Findings): void {
  if (bytes > GMAIL_BYTES)
    findings.add("gmail-clipping", "html", null, `The HTML has ${Math.ceil(bytes / 1024)} kB; Gmail cuts it off after 102 kB.`);
  const root = elements.find(({ name }) => name === "html");
  if (!root?.attributes.get("lang"))
    findings.add("language-missing", "html", root?.start ?? null, "The language of the mail is not named.");
  const metas = new Set(elements.flatMap(({ name, attributes }) => (name === "meta" ? [attributes.get("name")?.toLowerCase()] : [])));
  if (!metas.has("viewport")) findings.add("viewport-missing", "html", null, "There is no viewport for phones.");
  if (!metas.has("color-scheme") && !/color-scheme\s*:/i.test(html))
    findings.add("dark-mode", "html", null, "The mail does not say whether it has colors for dark mode.");
  if (texts.length > 0 && !hasPreheader(elements))
    findings.add(
      "preheader-missing",
      "html",
      null,
      "The mail has no preview text of its own: inboxes show the beginning of its text after the subject.",
    );
}

function checkImage({ attributes, start, parent }: MailElement, findings: Findings): void {
  const src = attributes.get("src")?.trim() ?? "";
  const shown = shorten(src.startsWith("data:") ? "data:…" : src);
  if (src === "") findings.add("image-no-source", "html", start, "The image has no src.");
  if (!attributes.has("alt")) findings.add("image-no-alt", "html", start, `The image ${shown} has no alt.`);
  else if (parent === "a" && attributes.get("alt") === "" && src !== "")
    findings.add("image-no-alt", "html", start, `The image ${shown} is a link, and has no words.`);
  if (!attributes.has("width") && !isCountingPixel(attributes))
    findings.add("image-no-size", "html", start, `The image ${shown} has no width.`);
  if (/^data:/i.test(src)) findings.add("image-data", "html", start, "The image is part of the HTML.");
}

function isCountingPixel(attributes: ReadonlyMap<string, string>): boolean {
  return attributes.get("height") === "1";
}

/** True if one of the first elements of the body is a hidden text. */
function hasPreheader(elements: readonly MailElement[]): boolean {
  const body = elements.findIndex(({ name }) => name === "body");
  return elements.slice(body + 1, body + 8).some(({ style, hasWords }) => hasWords && style.some(hides));
}

function hides({ property, value }: { property: string; value: string }): boolean {
  return (
    (property === "display" && /^none\b/i.test(value)) ||
    (property === "mso-hide" && /^all\b/i.test(value)) ||
    (property === "max-height" && /^0(?:px)?$/.test(value)) ||
    (property === "opacity" && /^0$/.test(value))
  );
}
