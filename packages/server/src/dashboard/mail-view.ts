import { assetPath } from "../html/urls.ts";
import type { CapturedFile } from "../inbound/inbound.ts";
import { ApiError } from "../lib/api-error.ts";
import { MB } from "../lib/units.ts";

// Images that run nothing; SVG in an <img> runs no scripts either.
const IMAGE_TYPE = /^image\/(?:png|jpe?g|gif|webp|avif|bmp|svg\+xml)$/;

// References to attached files.
const CID = /cid:([^"'\s)>]+)/gi;

/** Tag that makes links open in new tabs. */
export const BASE = '<base target="_blank">';

/** Replacements that show a mail in one color scheme: its rules for that scheme always apply, those for the other never do. */
export const SCHEMES = {
  pattern: String.raw`\(\s*prefers-color-scheme\s*:\s*(light|dark)\s*\)`,
  always: "(min-width: 0)",
  never: "(max-width: 0)",
  /** For a mail that has rules for the dark scheme. */
  dark: '<meta name="color-scheme" content="dark">',
} as const;

// Maximum characters of inlined images; further ones are left out. A mail of a megabyte can name an image a hundred thousand times.
const MAX_INLINED = 32 * MB;

interface ShownMail {
  readonly html?: string | null | undefined;
  readonly attachments: readonly ShownFile[];
}

type ShownFile = Pick<CapturedFile, "contentId" | "contentType"> & { readonly content: Uint8Array };

/** The HTML of a mail for a frame, with its images inlined. Throws ApiError not_found when it has none. */
export function renderMailHtml({ html, attachments }: ShownMail): string {
  if (!html) throw new ApiError("not_found", "This mail has no HTML part.");
  return openLinksInNewTabs(inlineImages(html, attachments));
}

/**
 * The Content-Security-Policy of a mail's HTML. The sandbox denies scripts, forms and this server's origin, also when the
 * address is opened outside of its frame; links open in new tabs. `remote` allows images and styles of other servers, by
 * which a sender learns that the mail was opened. Pictures of the asset libraries are this server's, whose address is `baseUrl`.
 */
export function buildMailPolicy(remote: boolean, baseUrl?: string): string {
  return ["sandbox allow-popups allow-popups-to-escape-sandbox", ...buildDocumentPolicy(remote, baseUrl)].join("; ");
}

/** Content security policy for a document with the HTML of a mail, without its sandbox. */
export function buildDocumentPolicy(remote: boolean, baseUrl?: string): string[] {
  const from = remote ? "data: http: https:" : "data:";
  return [
    "default-src 'none'",
    `img-src ${from}${baseUrl === undefined || remote ? "" : ` ${baseUrl}${assetPath("")}`}`,
    `media-src ${from}`,
    `font-src ${from}`,
    `style-src 'unsafe-inline'${remote ? " http: https:" : ""}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ];
}

/** A mail as a program in the light or the dark scheme shows it. A frame cannot be told its scheme in all browsers. */
export function applyScheme(html: string, scheme: "light" | "dark"): string {
  const chosen = html.replace(new RegExp(SCHEMES.pattern, "gi"), (_, wanted: string) =>
    wanted.toLowerCase() === scheme ? SCHEMES.always : SCHEMES.never,
  );
  return scheme === "dark" && chosen !== html ? chosen.replace(BASE, `${BASE}${SCHEMES.dark}`) : chosen;
}

/** An attachment by its position, from 0. Throws ApiError not_found. */
export function getAttachment(files: readonly CapturedFile[], position: string): { filename: string; bytes: Uint8Array } {
  const found = /^\d{1,4}$/.test(position) ? files[Number(position)] : undefined;
  if (!found) throw new ApiError("not_found", "Attachment not found.");
  return { filename: found.filename || "attachment", bytes: found.content };
}

/** A Content-Disposition that saves a file under its name, with any characters (RFC 6266). */
export function buildContentDisposition(filename: string): string {
  const ascii = filename.replace(/[^A-Za-z0-9._ -]/g, "_");
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

/** The Content-IDs of the files that the HTML of a mail shows. */
export function listReferenced(html: string): ReadonlySet<string> {
  return new Set(Array.from(html.matchAll(CID), ([, id = ""]) => id));
}

/** Replaces `cid:` references to attached images by `data:` URLs. */
function inlineImages(html: string, attachments: readonly ShownFile[]): string {
  const images = new Map<string, ShownFile>();
  for (const file of attachments)
    if (file.contentId && !images.has(file.contentId) && IMAGE_TYPE.test(file.contentType)) images.set(file.contentId, file);
  const urls = new Map<ShownFile, string>();
  let left = MAX_INLINED;
  return html.replace(CID, (whole, id: string) => {
    const found = images.get(id);
    if (!found) return whole;
    const url = urls.get(found) ?? toDataUrl(found);
    urls.set(found, url);
    left -= url.length;
    return left < 0 ? whole : url;
  });
}

function toDataUrl({ contentType, content }: ShownFile): string {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  return `data:${contentType};base64,${bytes.toString("base64")}`;
}

/** Adds a <base> for new tabs, after the doctype: before it, browsers would change to quirks mode. */
function openLinksInNewTabs(html: string): string {
  const head = /<head[\s>]/i.exec(html);
  // One search for its end: a mail that begins a hundred thousand tags and ends none must not cost a search for each.
  const end = head ? html.indexOf(">", head.index) + 1 : 0;
  const at = end > 0 ? end : (/^\s*<!doctype[^>]*>/i.exec(html)?.[0].length ?? 0);
  return html.slice(0, at) + BASE + html.slice(at);
}
