import { isSafeUrl } from "../html/urls.ts";
import type { MailDocument, MailElement } from "./document.ts";
import type { Findings } from "./findings.ts";

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

const PRIVATE_HOST =
  /^(?:localhost|[^.]*\.local|.*\.(?:localhost|test|internal)|127\.\d+\.\d+\.\d+|10\.\d+\.\d+\.\d+|192\.168\.\d+\.\d+|172\.(?:1[6-9]|2\d|3[01])\.\d+\.\d+|0\.0\.0\.0|\[::1\])$/i;

/** Checks links and the addresses of images. */
export function checkLinks({ elements }: MailDocument, findings: Findings): void {
  for (const element of elements) {
    const { name, attributes, start } = element;
    if (name === "a") {
      checkTarget(element, findings);
      if (!element.hasWords && !attributes.get("aria-label") && attributes.has("href"))
        findings.add("link-no-text", "html", start, `The link to ${shorten(attributes.get("href") ?? "")} has no text.`);
    }
    const address = attributes.get(name === "a" || name === "area" ? "href" : name === "img" ? "src" : "background");
    if (address !== undefined && address.trim() !== "") checkAddress(address, element, findings);
  }
}

/** Shortens an address for a message. */
function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function checkTarget({ attributes, start }: MailElement, findings: Findings): void {
  const href = attributes.get("href");
  // <a name="…"> and <a id="…"> are places to link to.
  if (href === undefined && (attributes.has("name") || attributes.has("id"))) return;
  if (href === undefined) findings.add("link-no-target", "html", start, "The link has no href.");
  else if (href.trim() === "" || href.trim() === "#")
    findings.add("link-no-target", "html", start, `The link's href is ${href.trim() === "" ? "empty" : "#"}.`);
}

function checkAddress(given: string, { start }: MailElement, findings: Findings): void {
  const address = given.trim();
  // Addresses in variables are unknown here, and fragments lead into the mail itself.
  if (address.startsWith("{{") || address.startsWith("#")) return;
  const shown = shorten(address);
  if (!isSafeUrl(address)) {
    findings.add("url-unsafe", "html", start, `Mail programs refuse ${shown}.`);
    return;
  }
  const [, scheme = "", rest = ""] = /^([a-z][a-z0-9+.-]*:)?(.*)$/is.exec(address) ?? [];
  if (scheme === "") {
    findings.add("url-relative", "html", start, `${shown} has no https:// and no host.`);
    return;
  }
  if (!/^https?:$/i.test(scheme)) return;
  const host = /^\/\/(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)/.exec(rest)?.[1] ?? "";
  if (PRIVATE_HOST.test(host)) findings.add("url-local", "html", start, `Readers cannot reach ${shown}.`);
  else if (/^http:$/i.test(scheme)) findings.add("url-insecure", "html", start, `${shown} is not encrypted.`);
}
