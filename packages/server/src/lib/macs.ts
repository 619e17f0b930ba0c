import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from "node:crypto";

/** Encoding of a signature: 16 characters of base64url (96 bits), or 20 of hex (80 bits) where case may be lost. */
type MacForm = "base64url" | "hex";

/** Signs what this installation hands out and must recognise later: links in mail, return paths. */
export interface Macs {
  /** The first characters of the HMAC-SHA256 of a text. Signatures of one purpose are invalid for every other. */
  sign(purpose: string, text: string, form?: MacForm): string;
  /** Compares in constant time. */
  verify(purpose: string, text: string, signature: string, form?: MacForm): boolean;
  /** Keys of 32 bytes for a library that signs by itself: it signs with the first and takes signatures of all. */
  listSecrets(purpose: string): readonly Uint8Array[];
}

const LENGTHS: Readonly<Record<MacForm, number>> = { base64url: 16, hex: 20 };

/** Signs with the current one of several master keys, the first, and takes signatures of all of them. */
export function makeRingMacs(ring: { readonly all: readonly Uint8Array[] }): Macs {
  const made = new WeakMap<Uint8Array, Macs>();
  const list = (): Macs[] =>
    ring.all.map((key) => {
      const macs = made.get(key) ?? makeMacs(key);
      made.set(key, macs);
      return macs;
    });
  return {
    sign: (purpose, text, form) => (list()[0] as Macs).sign(purpose, text, form),
    verify: (purpose, text, signature, form) => list().some((macs) => macs.verify(purpose, text, signature, form)),
    listSecrets: (purpose) => list().flatMap((macs) => macs.listSecrets(purpose)),
  };
}

/** Signs with keys derived from the master key (32 bytes), one for each purpose. */
export function makeMacs(master: Uint8Array): Macs {
  const keys = new Map<string, KeyObject>();
  const secrets = new Map<string, Uint8Array>();
  const derive = (purpose: string): Uint8Array => new Uint8Array(hkdfSync("sha256", master, "", purpose, 32));
  const keyFor = (purpose: string): KeyObject => {
    const known = keys.get(purpose);
    if (known) return known;
    const key = createSecretKey(derive(`mailsvc mac ${purpose}`));
    keys.set(purpose, key);
    return key;
  };
  const sign = (purpose: string, text: string, form: MacForm = "base64url"): string =>
    createHmac("sha256", keyFor(purpose)).update(text).digest(form).slice(0, LENGTHS[form]);
  return {
    sign,
    verify: (purpose, text, signature, form) => {
      const [given, expected] = [Buffer.from(signature), Buffer.from(sign(purpose, text, form))];
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
    listSecrets: (purpose) => {
      const secret = secrets.get(purpose) ?? derive(`mailsvc secret ${purpose}`);
      secrets.set(purpose, secret);
      return [secret];
    },
  };
}
