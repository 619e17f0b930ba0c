import type { Email } from "postal-mime";
import { joinFlowedTexts } from "./flowed-text.ts";

/** Depth of parts within parts, and bytes of the headers, up to which a mail is parsed. */
interface MimeLimits {
  readonly levels: number;
  readonly headerBytes: number;
}

/**
 * Parses a mail by `postal-mime`. If its parts cannot be told apart, because the header names no boundary or one that never occurs, its
 * text is the body as it came. Throws Error for a mail beyond the limits.
 */
export async function parseMime(raw: Uint8Array, { levels, headerBytes }: MimeLimits): Promise<Email> {
  const { default: PostalMime } = await import("postal-mime");
  const mail = await PostalMime.parse(joinFlowedTexts(raw), {
    maxNestingDepth: levels,
    maxHeadersSize: headerBytes,
    forceRfc822Attachments: true,
  });
  const body = mail.text === undefined && mail.html === undefined && mail.attachments.length === 0 ? readBody(raw) : "";
  return body === "" ? mail : { ...mail, text: body };
}

function readBody(raw: Uint8Array): string {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString("utf8");
  const end = /\r?\n\r?\n/.exec(text);
  return end === null ? "" : text.slice(end.index).trimStart();
}
