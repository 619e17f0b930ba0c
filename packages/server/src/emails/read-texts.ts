import type { Reader } from "../db/db.ts";
import { takeStart } from "../mail/mail-start.ts";
import { findMessage } from "./attachments.ts";
import type { ContentsRow } from "./store.ts";

/** How much of a message is read to show its texts; postal-mime takes 10 to 30 µs for a line. */
const LIMITS = { bytes: 512 * 1024, lines: 5000, boundaries: 200 } as const;

const OPTIONS = { maxNestingDepth: 16, maxHeadersSize: 256 * 1024 } as const;

/** The texts of a mail. Those of a message that goes out as it came in are read from its start. */
export async function readTexts(read: Reader, contents: ContentsRow): Promise<{ html: string | null; text: string | null }> {
  if (contents.asIs !== true) return { html: contents.html, text: contents.text };
  const message = await findMessage(read, contents);
  const { default: PostalMime } = await import("postal-mime");
  try {
    const { html = null, text = null } = await PostalMime.parse(takeStart(message, LIMITS), OPTIONS);
    return { html, text };
  } catch {
    // It cannot be read as MIME, and goes out all the same.
    return { html: null, text: null };
  }
}
