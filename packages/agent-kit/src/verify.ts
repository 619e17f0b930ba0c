import { createHmac, timingSafeEqual } from "node:crypto";

/** The header a delivery is signed in (SPEC 5.4). */
export const SIGNATURE_HEADER = "X-Service-Signature";

/** What to check: the body exactly as it arrived, the signature header, and every secret that may have made it. */
export interface SignedDelivery {
  /** The raw body. Bytes as they came in; a text is taken as UTF-8. Never a re-serialised object: its bytes differ. */
  body: Uint8Array | string;
  /** The value of X-Service-Signature; null or undefined when the header is missing. A repeated header is refused. */
  signature: string | readonly string[] | null | undefined;
  /** The secret, or several while one replaces another. */
  secrets: string | readonly string[];
}

// 32 bytes as hex; nothing around it, so that one digest has one spelling but for case.
const HEX_DIGEST = /^[0-9a-f]{64}$/i;

/**
 * Checks X-Service-Signature: the hex HMAC-SHA256 of the raw body bytes (SPEC 5.4). Answers the index of the secret that
 * made it, or null when none did: answer 401 then, and trust nothing in the body. Compares in constant time and tries
 * every secret, so that neither the digest nor the number of secrets shows in the time it takes.
 *
 * Throws TypeError when there is no secret to check with, or an empty one, or when the body is not raw: these are
 * mistakes of the receiver, and must not look like a forged delivery.
 */
export function verifySignature({ body, signature, secrets }: SignedDelivery): number | null {
  const list = typeof secrets === "string" ? [secrets] : secrets;
  if (list.length === 0) throw new TypeError("secrets is empty: there is nothing to verify with.");
  list.forEach((secret, i) => {
    if (typeof secret !== "string" || secret === "") throw new TypeError(`secrets[${i}] is empty or not a text.`);
  });
  if (typeof body !== "string" && !(body instanceof Uint8Array)) {
    throw new TypeError("body must be the raw bytes or text of the request, before any JSON parsing.");
  }
  if (typeof signature !== "string" || !HEX_DIGEST.test(signature)) return null;
  const given = Buffer.from(signature, "hex");
  let match: number | null = null;
  list.forEach((secret, i) => {
    const equal = timingSafeEqual(createHmac("sha256", secret).update(body).digest(), given);
    if (equal && match === null) match = i;
  });
  return match;
}
