import { CHUNK_BYTES, yieldToEventLoop } from "../../lib/turn.ts";

const BACKSLASH = 0x5c;
// An escape in JSON has six characters at most.
const ESCAPE = 6;

/**
 * The bytes of base64 as it stands between the quotes of JSON; null when it is none. Piece by piece, with turns for others in
 * between: thirty megabytes at once would take a tenth of a second.
 */
export async function decodeBase64(text: Buffer): Promise<Uint8Array | null> {
  const bytes = Buffer.allocUnsafeSlow(Math.ceil((text.length * 3) / 4));
  let written = 0;
  let over = "";
  for (let from = 0; from < text.length; ) {
    const to = pieceEnd(text, from);
    const piece = unescaped(text.toString("latin1", from, to));
    if (piece === null) return null;
    const last = to === text.length;
    const all = over + piece;
    const digits = last ? all.replace(/={1,2}$/, "") : all.slice(0, all.length - (all.length % 4));
    over = last ? "" : all.slice(digits.length);
    // What is no digit of base64 is passed over, and then bytes are missing.
    const size = bytes.write(digits, written, "base64");
    if (size !== Math.floor((digits.length * 3) / 4) || digits.length % 4 === 1) return null;
    written += size;
    from = to;
    if (!last) await yieldToEventLoop();
  }
  return bytes.subarray(0, written);
}

/** Where a piece from `from` ends: not within an escape. */
function pieceEnd(text: Buffer, from: number): number {
  const end = from + CHUNK_BYTES;
  if (end >= text.length) return text.length;
  const at = text.subarray(end - ESCAPE, end).indexOf(BACKSLASH);
  return at === -1 ? end : end - ESCAPE + at;
}

/** What stands between the quotes of JSON; null when that is none. */
function unescaped(piece: string): string | null {
  if (!piece.includes("\\")) return piece;
  try {
    return JSON.parse(`"${piece}"`) as string;
  } catch {
    return null;
  }
}
