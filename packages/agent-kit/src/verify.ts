import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";
import { currentTime } from "./runtime.ts";

/** The header with the signature that needs no library (docs/agents-webhooks.md#signatures). */
export const SIGNATURE_HEADER = "X-Service-Signature";

/** The same with the new secret, while one replaces another. */
export const NEXT_SIGNATURE_HEADER = "X-Service-Signature-Next";

/** A delivery to check: the body exactly as it arrived, its signature headers, and every secret that may have signed it. */
export interface SignedDelivery {
  /** The raw body. Bytes as they came in; a text is taken as UTF-8. Never a re-serialised object: its bytes differ. */
  body: Uint8Array | string;
  /**
   * The value of X-Service-Signature (64 hex digits) or of webhook-signature (`v1,` and base64, several separated by spaces). Null or
   * undefined when the header is missing. A repeated header is refused.
   */
  signature: string | readonly string[] | null | undefined;
  /** The secret as the listing shows it, `whsec_` and all; or several, while one replaces another. */
  secrets: string | readonly string[];
  /** The value of webhook-id. Required for webhook-signature. */
  id?: string | null | undefined;
  /** The value of webhook-timestamp, seconds since 1970. Required for webhook-signature. */
  timestamp?: string | null | undefined;
  /** Maximum difference between webhook-timestamp and now, in seconds. Default 300. */
  toleranceSeconds?: number | undefined;
  /** The time now, in ms since 1970. Default: the clock of this machine. */
  now?: number | undefined;
}

// 32 bytes as hex; nothing around it, so that one digest has one spelling except for case.
const HEX_DIGEST = /^[0-9a-f]{64}$/i;
// 32 bytes as base64.
const STANDARD_DIGEST = /^v1,([A-Za-z0-9+/]{43}=)$/;
const STANDARD_FORM = /^v\d+[a-z]*,/;
const PREFIX = "whsec_";

/**
 * Verifies the signature of a delivery, in either of its two forms:
 *
 * - X-Service-Signature: the hex HMAC-SHA256 of the raw body, with the whole text of the secret as the key.
 * - webhook-signature (Standard Webhooks): the base64 HMAC-SHA256 of `id.timestamp.body`, with the bytes that the secret's base64
 *   part decodes to as the key. It also binds the id and the time, so an old request cannot be replayed.
 *
 * Returns the index of the secret that signed it, or null when none did: answer 401 then, and trust nothing in the body. Compares
 * in constant time and tries every secret, so that the time it takes shows neither the digest nor the number of secrets.
 *
 * Throws TypeError when there is no secret to check with, or an empty one; when the body is not raw; and when webhook-signature
 * comes without `id` and `timestamp`. These are mistakes of the receiver, and must not look like a forged delivery.
 */
export function verifySignature(delivery: SignedDelivery): number | null {
  const { body, signature, secrets } = delivery;
  const keys = typeof secrets === "string" ? [secrets] : secrets;
  if (keys.length === 0) throw new TypeError("secrets is empty: there is nothing to verify with.");
  keys.forEach((secret, i) => {
    if (typeof secret !== "string" || secret === "") throw new TypeError(`secrets[${i}] is empty or not a text.`);
  });
  if (typeof body !== "string" && !(body instanceof Uint8Array)) {
    throw new TypeError("body must be the raw bytes or text of the request, before any JSON parsing.");
  }
  if (typeof signature !== "string") return null;
  if (STANDARD_FORM.test(signature)) return verifyStandard(delivery, signature, keys);
  if (!HEX_DIGEST.test(signature)) return null;
  return findKey([Buffer.from(signature, "hex")], keys, (secret) => createHmac("sha256", secret).update(body).digest());
}

/** Verifies webhook-signature, the form of Standard Webhooks. */
function verifyStandard(delivery: SignedDelivery, signature: string, keys: readonly string[]): number | null {
  const { body, id, timestamp, toleranceSeconds = 300, now = currentTime() } = delivery;
  if (id === undefined || timestamp === undefined) throw new TypeError("webhook-signature is verified together with id and timestamp.");
  if (id === null || timestamp === null || !/^\d{1,12}$/.test(timestamp)) return null;
  if (Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds) return null;
  const given = signature.split(" ").flatMap((one) => STANDARD_DIGEST.exec(one)?.[1] ?? []);
  return findKey(
    given.map((digest) => Buffer.from(digest, "base64")),
    keys,
    (secret) => createHmac("sha256", toStandardKey(secret)).update(`${id}.${timestamp}.`).update(body).digest(),
  );
}

/** The index of the first key whose digest is among the given ones. */
function findKey(given: readonly Uint8Array[], keys: readonly string[], digest: (secret: string) => Uint8Array): number | null {
  let match: number | null = null;
  keys.forEach((secret, i) => {
    const expected = digest(secret);
    for (const one of given) if (timingSafeEqual(expected, one) && match === null) match = i;
  });
  return match;
}

function toStandardKey(secret: string): Uint8Array {
  return Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, "base64");
}
