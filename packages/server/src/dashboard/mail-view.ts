import type { Attachment, Email } from "postal-mime";
import { ApiError } from "../lib/api-error.ts";

// Images that run nothing; SVG in an <img> runs no scripts either.
const IMAGE_TYPE = /^image\/(?:png|jpe?g|gif|webp|avif|bmp|svg\+xml)$/;

const BASE = '<base target="_blank">';

/** The HTML of a mail for a frame, with its images inlined. Throws ApiError not_found when it has none. */
export function renderMailHtml({ html, attachments }: Pick<Email, "html" | "attachments">): string {
  if (!html) throw new ApiError("not_found", "This mail has no HTML part.");
  return openLinksInNewTabs(inlineImages(html, attachments));
}

/**
 * The Content-Security-Policy of a mail's HTML. The sandbox denies scripts, forms and this server's origin, also when the
 * address is opened outside of its frame; links open in new tabs. `remote` allows images and styles of other servers, by
 * which a sender learns that the mail was opened.
 */
export function buildMailPolicy(remote: boolean): string {
  const from = remote ? "data: http: https:" : "data:";
  return [
    "sandbox allow-popups allow-popups-to-escape-sandbox",
    "default-src 'none'",
    `img-src ${from}`,
    `media-src ${from}`,
    `font-src ${from}`,
    `style-src 'unsafe-inline'${remote ? " http: https:" : ""}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join("; ");
}

/**
 * A mail as a program in the light or the dark scheme shows it: its rules for that scheme always apply, those for the other never. A frame
 * cannot be told its scheme in all browsers.
 */
export function applyScheme(html: string, scheme: "light" | "dark"): string {
  const chosen = html.replace(/\(\s*prefers-color-scheme\s*:\s*(light|dark)\s*\)/gi, (_, wanted: string) =>
    wanted.toLowerCase() === scheme ? "(min-width: 0)" : "(max-width: 0)",
  );
  return scheme === "dark" && chosen !== html ? chosen.replace(BASE, `${BASE}<meta name="color-scheme" content="dark">`) : chosen;
}

/** An attachment by its position, from 0. Throws ApiError not_found. */
export function getAttachment({ attachments }: Email, position: string): { filename: string; bytes: Buffer } {
  const found = /^\d{1,3}$/.test(position) ? attachments[Number(position)] : undefined;
  if (!found) throw new ApiError("not_found", "Attachment not found.");
  return { filename: found.filename ?? "attachment", bytes: toBytes(found) };
}

/** A Content-Disposition that saves a file under its name, with any characters (RFC 6266). */
export function buildContentDisposition(filename: string): string {
  const ascii = filename.replace(/[^A-Za-z0-9._ -]/g, "_");
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

function toBytes({ content }: Attachment): Buffer {
  return typeof content === "string"
    ? Buffer.from(content)
    : Buffer.from(content instanceof ArrayBuffer ? new Uint8Array(content) : content);
}

/** Replaces `cid:` references to attached images by `data:` URLs. */
function inlineImages(html: string, attachments: readonly Attachment[]): string {
  return html.replace(/cid:([^"'\s)>]+)/gi, (whole, id: string) => {
    const found = attachments.find((a) => a.contentId?.replace(/^<|>$/g, "") === id && IMAGE_TYPE.test(a.mimeType));
    return found ? `data:${found.mimeType};base64,${toBytes(found).toString("base64")}` : whole;
  });
}

/** Adds a <base> for new tabs, after the doctype: before it, browsers would change to quirks mode. */
function openLinksInNewTabs(html: string): string {
  const place = /<head(?:\s[^>]*)?>/i.exec(html) ?? /^\s*<!doctype[^>]*>/i.exec(html);
  const at = place ? place.index + place[0].length : 0;
  return html.slice(0, at) + BASE + html.slice(at);
}
