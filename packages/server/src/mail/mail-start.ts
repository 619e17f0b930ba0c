const KB = 1024;

/**
 * Limits on the part of a mail that is read. Reports come first in a mail, before the mail that they return, and take a few
 * hundred lines. postal-mime takes up to 30 µs and 2 KB of memory for each line or part, so a limit on bytes is not enough: a
 * megabyte of line ends took seconds and a gigabyte.
 */
export const MAIL_LIMITS = {
  bytes: 128 * KB,
  lines: 5000,
  /** Lines that begin like a boundary of MIME parts. */
  boundaries: 200,
  /** Bytes of all headers together, and levels of parts within parts: a mail beyond these cannot be read at all. */
  headerBytes: 64 * KB,
  levels: 16,
} as const;

/** Limits that `takeStart` enforces. */
type StartLimits = Readonly<Record<"bytes" | "lines" | "boundaries", number>>;

const LF = 0x0a;
const DASH = 0x2d;

/** The start of a mail, as far as it is within the limits; it ends with a whole line unless a single line is longer. */
export function takeStart(mail: Uint8Array, { bytes, lines, boundaries }: StartLimits = MAIL_LIMITS): Uint8Array {
  const start = mail.subarray(0, bytes);
  let seen = 0;
  let at = 0;
  for (let line = 0; at < start.length; line += 1) {
    if (start[at] === DASH && start[at + 1] === DASH) seen += 1;
    if (line === lines || seen > boundaries) return start.subarray(0, at);
    const end = start.indexOf(LF, at);
    if (end === -1) break;
    at = end + 1;
  }
  return start;
}
