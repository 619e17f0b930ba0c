import type { Attachment, Email } from "postal-mime";
import { ApiError } from "../lib/api-error.ts";

// Pictures a browser draws without running anything; SVG in an <img> has no scripts either.
const PICTURE = /^image\/(?:png|jpe?g|gif|webp|avif|bmp|svg\+xml)$/;

/** The HTML of a mail, ready for a frame. Throws ApiError not_found when it has none. */
export function mailHtml({ html, attachments }: Email): string {
  if (!html) throw new ApiError("not_found", "This mail has no HTML part.");
  return withNewTabs(withPictures(html, attachments));
}

/**
 * What a mail's HTML may do: look like something, and open links in new tabs. The sandbox takes scripts, forms and this
 * server's origin away, also when the address is opened outside its frame. `remote` lets pictures and styles of other
 * servers in, by which a sender learns that the mail was opened.
 */
export function mailPolicy(remote: boolean): string {
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

/** One attached file, by its place. Throws ApiError not_found. */
export function attachmentAt({ attachments }: Email, place: string): { filename: string; bytes: Buffer } {
  const found = /^\d{1,3}$/.test(place) ? attachments[Number(place)] : undefined;
  if (!found) throw new ApiError("not_found", "This mail has no such attachment.");
  return { filename: found.filename ?? "attachment", bytes: bytesOf(found) };
}

/** A Content-Disposition that saves a file under its name, whatever the name is (RFC 6266). */
export function saveAs(filename: string): string {
  const ascii = filename.replace(/[^A-Za-z0-9._ -]/g, "_");
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

function bytesOf({ content }: Attachment): Buffer {
  return typeof content === "string"
    ? Buffer.from(content)
    : Buffer.from(content instanceof ArrayBuffer ? new Uint8Array(content) : content);
}

/** Puts pictures that travel with the mail where it shows them: `cid:` becomes `data:`. */
function withPictures(html: string, attachments: readonly Attachment[]): string {
  return html.replace(/cid:([^"'\s)>]+)/gi, (whole, id: string) => {
    const found = attachments.find((a) => a.contentId?.replace(/^<|>$/g, "") === id && PICTURE.test(a.mimeType));
    return found ? `data:${found.mimeType};base64,${bytesOf(found).toString("base64")}` : whole;
  });
}

/** Lets links open in a tab of their own; put where it does not stand before the doctype, which would change the layout. */
function withNewTabs(html: string): string {
  const base = '<base target="_blank">';
  const place = /<head(?:\s[^>]*)?>/i.exec(html) ?? /^\s*<!doctype[^>]*>/i.exec(html);
  const at = place ? place.index + place[0].length : 0;
  return html.slice(0, at) + base + html.slice(at);
}
