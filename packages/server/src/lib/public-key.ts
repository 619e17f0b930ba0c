import { createPublicKey, type KeyObject } from "node:crypto";

/** Parses a public key in base64 (DER, SPKI); null when it is none. */
export function parsePublicKey(text: string): KeyObject | null {
  try {
    return createPublicKey({ key: Buffer.from(text, "base64"), format: "der", type: "spki" });
  } catch {
    return null;
  }
}
