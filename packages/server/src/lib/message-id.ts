import { hash } from "node:crypto";

/** The id of the mail that has a Message-ID; null for one that is not ours. */
export function readMessageId(messageId: string): string | null {
  return /^<(em_[0-9a-hjkmnp-tv-z]{26})@/.exec(messageId)?.[1] ?? null;
}

/** A Message-ID as mails are looked up by it: ids may be long, keys of an index may not. */
export function hashMessageId(messageId: string): string {
  return hash("sha256", messageId, "base64url");
}
