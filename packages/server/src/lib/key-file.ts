import { readFileSync, writeFileSync } from "node:fs";
import type { Random } from "./random.ts";

const BYTES = 32;

/** Reads a key of 32 bytes, written in base 64 or hexadecimal; null when it is neither. */
export const readKey = (text: string): Uint8Array | null => {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, "hex");
  const bytes = Buffer.from(trimmed, "base64");
  return bytes.length === BYTES && /^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed) ? bytes : null;
};

/** A new key, as text. */
export const makeKeyText = (random: Random): string => Buffer.from(random.bytes(BYTES)).toString("base64");

/** The key in a file that only its owner may read; made when there is none. Throws when the file holds something else. */
export const keyFile = (file: string, random: Random): Uint8Array => {
  try {
    writeFileSync(file, `${makeKeyText(random)}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const key = readKey(readFileSync(file, "utf8"));
  if (key === null) throw new Error(`${file} does not hold a key: 32 bytes in base 64 or hexadecimal. Put it back from a backup.`);
  return key;
};
