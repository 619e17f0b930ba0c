// Best first.
const CODINGS = ["br", "gzip"] as const;

/** A coding by which answers are compressed. */
export type ContentCoding = (typeof CODINGS)[number];

/** True if a client takes answers in a coding, by its Accept-Encoding header (RFC 9110 12.5.3). */
export function takesCoding(accepted: string | null, coding: ContentCoding): boolean {
  return new RegExp(`\\b${coding}\\b(?!\\s*;\\s*q=0(?:\\.0*)?\\s*(?:,|$))`, "i").test(accepted ?? "");
}

/** The best coding that a client takes; null for none. */
export function chooseCoding(accepted: string | null): ContentCoding | null {
  return CODINGS.find((coding) => takesCoding(accepted, coding)) ?? null;
}
