import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from "node:crypto";

/** Signs what this installation hands out and must recognise later: links in mail, return paths. */
export interface Macs {
  /** 16 characters, base64url: 96 bits of the HMAC-SHA256 of a text. Signatures of one purpose are invalid for every other. */
  sign(purpose: string, text: string): string;
  /** Compares in constant time. */
  verify(purpose: string, text: string, signature: string): boolean;
}

const LENGTH = 16;

/** Signs with keys derived from the master key (32 bytes), one for each purpose. */
export function makeMacs(master: Uint8Array): Macs {
  const keys = new Map<string, KeyObject>();
  const keyFor = (purpose: string): KeyObject => {
    const known = keys.get(purpose);
    if (known) return known;
    const key = createSecretKey(Buffer.from(hkdfSync("sha256", master, "", `mailsvc mac ${purpose}`, 32)));
    keys.set(purpose, key);
    return key;
  };
  const sign = (purpose: string, text: string): string =>
    createHmac("sha256", keyFor(purpose)).update(text).digest("base64url").slice(0, LENGTH);
  return {
    sign,
    verify: (purpose, text, signature) => {
      const [given, expected] = [Buffer.from(signature), Buffer.from(sign(purpose, text))];
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}
