// What is kept of an answer, in bytes of UTF-8.
const KEPT = 2048;

// Keys and secrets of ours, wherever a receiver echoes them; whatever follows belongs to them.
const SECRETS = /(?:ms_[a-z]+_|whsec_)[A-Za-z0-9+/=_%\\-]*/gi;

/**
 * The beginning of what a receiver answered, fit to be stored and shown: text without control characters, without our keys,
 * and without the given secrets. Null when there is nothing in it.
 */
export function excerptOf(bytes: Uint8Array, secrets: readonly string[]): string | null {
  if (bytes.length === 0) return null;
  let text = Buffer.from(bytes).toString();
  for (const secret of secrets) if (secret !== "") text = text.replaceAll(secret, "***");
  text = text
    .replace(SECRETS, "***")
    .replace(/[^\P{Cc}\t\n\r]/gu, "\uFFFD")
    .toWellFormed();
  const kept = cut(text, KEPT).trim();
  return kept === "" ? null : kept;
}

/** A text cut to so many bytes of UTF-8, without half a character at its end. */
function cut(text: string, bytes: number): string {
  const whole = Buffer.from(text);
  return whole.length <= bytes
    ? text
    : whole
        .subarray(0, bytes)
        .toString()
        .replace(/\uFFFD+$/, "");
}
