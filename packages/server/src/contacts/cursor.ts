import { invalid } from "../lib/api-error.ts";

/** The cursor of the list of contacts that continues after the one with this number. */
export function toContactCursor(seq: number): string {
  return Buffer.from(`contact:${seq}`).toString("base64url");
}

/** The number in such a cursor. Throws ApiError validation_error for the cursor of another list. */
export function readContactCursor(cursor: string): number {
  const [, seq] = /^contact:(\d{1,15})$/.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (seq === undefined)
    throw invalid("cursor", "invalid_cursor", "This cursor is not from this list. Use pagination.nextCursor of the page before.");
  return Number(seq);
}
