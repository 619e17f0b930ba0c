import { CHUNK_BYTES, waitForTurn } from "../../lib/turn.ts";

const BACKSLASH = 0x5c;
// The longest escape in JSON, \\u0000, has six characters.
const ESCAPE = 6;

/**
 * Decodes base64 as it appears between the quotes of JSON; null when it is invalid. Works in chunks and yields to the event loop
 * between them: thirty megabytes at once would block it for a tenth of a second.
 */
export async function decodeBase64(text: Buffer): Promise<Uint8Array | null> {
  const bytes = Buffer.allocUnsafeSlow(Math.ceil((text.length * 3) / 4));
  let written = 0;
  let rest = "";
  for (let from = 0; from < text.length; ) {
    const to = findChunkEnd(text, from);
    const chunk = unescapeJson(text.toString("latin1", from, to));
    if (chunk === null) return null;
    const last = to === text.length;
    const all = rest + chunk;
    const digits = last ? all.replace(/={1,2}$/, "") : all.slice(0, all.length - (all.length % 4));
    rest = last ? "" : all.slice(digits.length);
    // Node skips characters that are not base64 digits, and then bytes are missing.
    const size = bytes.write(digits, written, "base64");
    if (size !== Math.floor((digits.length * 3) / 4) || digits.length % 4 === 1) return null;
    written += size;
    from = to;
    if (!last) await waitForTurn();
  }
  return bytes.subarray(0, written);
}

/** The end of the chunk that starts at `from`, never within an escape. */
function findChunkEnd(text: Buffer, from: number): number {
  const end = from + CHUNK_BYTES;
  if (end >= text.length) return text.length;
  const at = text.subarray(end - ESCAPE, end).indexOf(BACKSLASH);
  return at === -1 ? end : end - ESCAPE + at;
}

/** Resolves the escapes of a JSON string; null when one is invalid. */
function unescapeJson(text: string): string | null {
  if (!text.includes("\\")) return text;
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return null;
  }
}
