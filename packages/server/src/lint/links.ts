import { isSafeUrl } from "../html/urls.ts";
import type { MailDocument, MailElement } from "./document.ts";
import type { Findings } from "./findings.ts";

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
export function shorten(text: string): string {
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
