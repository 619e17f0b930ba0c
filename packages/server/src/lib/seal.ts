import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import type { Random } from "./random.ts";

/** Encrypts what must be readable again later: webhook secrets, and an agent's key until it has arrived. */
export interface Seal {
  /** `place` says where the text belongs, such as `listing:lst_…`: the bytes cannot be opened as anything else. */
  seal(text: string, place: string): Uint8Array;
  /** Throws SealBroken for other bytes, another place or another master key. */
  open(sealed: Uint8Array, place: string): string;
}

/** Sealed bytes that do not open: they were changed, or the master key is another one. */
export class SealBroken extends Error {
  override name = "SealBroken";
}

const ALGORITHM = "aes-256-gcm";
const IV = 12;
const TAG = 16;
// The first byte says how the rest was made, should that ever change.
const VERSION = 1;

/** AES-256-GCM under a key derived from the master key (32 bytes). Sealed bytes: version, IV, tag, ciphertext. */
export function makeSeal(master: Uint8Array, random: Random): Seal {
  const key = Buffer.from(hkdfSync("sha256", master, "", "mailsvc seal", 32));
  return {
    seal: (text, place) => {
      const iv = random.bytes(IV);
      const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(place));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([Uint8Array.of(VERSION), iv, cipher.getAuthTag(), body]);
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
        throw new SealBroken(`What is sealed for ${place} does not open; the master key may be another one.`, { cause });
      }
    },
  };
}
