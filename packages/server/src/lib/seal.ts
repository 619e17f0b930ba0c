import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync } from "node:crypto";
import type { Random } from "./random.ts";

/** Encrypts what must be readable again: webhook secrets, and an agent's key until it has been delivered. */
export interface Seal {
  /** `place` names where the text belongs, such as `listing:lst_…`; the bytes cannot be decrypted for another place. */
  seal(text: string, place: string): Uint8Array;
  /** The same, and always the same bytes for one text and place: for links in mail, which must not differ between two attempts. */
  sealSame(text: string, place: string): Uint8Array;
  /** Throws SealBroken for changed bytes, another place or another master key. */
  open(sealed: Uint8Array, place: string): string;
}

/** Sealed bytes that cannot be decrypted: they were changed, or the master key differs. */
export class SealBroken extends Error {
  override name = "SealBroken";
}

const ALGORITHM = "aes-256-gcm";
const IV = 12;
const TAG = 16;
// The first byte names the format, in case it ever changes.
const VERSION = 1;

/** Seals with the current key of a ring, and opens with any of its keys. */
export interface RingSeal extends Seal {
  /** The same text sealed by the current key; null when it is already. Throws SealBroken. */
  renew(sealed: Uint8Array, place: string): Uint8Array | null;
}

/** Seals with the current one of several master keys, the first, and opens what any of them has sealed. */
export function makeRingSeal(ring: { readonly all: readonly Uint8Array[] }, random: Random): RingSeal {
  const seals = new WeakMap<Uint8Array, Seal>();
  const list = (): Seal[] =>
    ring.all.map((key) => {
      const seal = seals.get(key) ?? makeSeal(key, random);
      seals.set(key, seal);
      return seal;
    });
  const current = (): Seal => list()[0] as Seal;
  const open = (sealed: Uint8Array, place: string): { text: string; by: number } => {
    const all = list();
    for (const [by, seal] of all.entries()) {
      try {
        return { text: seal.open(sealed, place), by };
      } catch (error) {
        if (!(error instanceof SealBroken) || by === all.length - 1) throw error;
      }
    }
    throw new SealBroken(`Cannot decrypt what is sealed for ${place}; there is no master key.`);
  };
  return {
    seal: (text, place) => current().seal(text, place),
    sealSame: (text, place) => current().sealSame(text, place),
    open: (sealed, place) => open(sealed, place).text,
    renew: (sealed, place) => {
      const { text, by } = open(sealed, place);
      return by === 0 ? null : current().seal(text, place);
    },
  };
}

/** AES-256-GCM under a key derived from the master key (32 bytes). Sealed bytes: version, IV, tag, ciphertext. */
export function makeSeal(master: Uint8Array, random: Random): Seal {
  // A KeyObject, because Node imports a key of bytes again for each use: 11 µs instead of 1.
  const key = createSecretKey(deriveKey(master, "mailsvc seal"));
  const ivKey = createSecretKey(deriveKey(master, "mailsvc seal iv"));
  const encrypt = (text: string, place: string, iv: Uint8Array): Uint8Array => {
    const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(place));
    const body = cipher.update(text, "utf8");
    const end = cipher.final();
    return Buffer.concat([Uint8Array.of(VERSION), iv, cipher.getAuthTag(), body, end]);
  };
  return {
    seal: (text, place) => encrypt(text, place, random.bytes(IV)),
    sealSame: (text, place) => {
      // As in SIV: the IV is a MAC of what is encrypted, so it repeats only with the whole input.
      const mac = createHmac("sha256", ivKey).update(`${place}\n${text}`).digest();
      return encrypt(text, place, mac.subarray(0, IV));
    },
    open: (sealed, place) => {
      const bytes = Buffer.from(sealed);
      try {
        if (bytes[0] !== VERSION) throw new Error("version");
        const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(1, 1 + IV), { authTagLength: TAG })
          .setAAD(Buffer.from(place))
          .setAuthTag(bytes.subarray(1 + IV, 1 + IV + TAG));
        return Buffer.concat([decipher.update(bytes.subarray(1 + IV + TAG)), decipher.final()]).toString("utf8");
      } catch (cause) {
        throw new SealBroken(`Cannot decrypt what is sealed for ${place}; the master key may differ.`, { cause });
      }
    },
  };
}

function deriveKey(master: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", master, "", purpose, 32));
}
