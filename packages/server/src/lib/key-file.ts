import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import type { Random } from "./random.ts";

/** The name of the file in the data folder. */
export const KEY_FILE = "secret.key";

const BYTES = 32;

/** Parses a key of 32 bytes in base64 or hex; null when it is neither. */
export function parseKey(text: string): Uint8Array | null {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, "hex");
  const bytes = Buffer.from(trimmed, "base64");
  return bytes.length === BYTES && /^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed) ? bytes : null;
}

/** A new key, in base64. */
export function makeKeyText(random: Random): string {
  return Buffer.from(random.bytes(BYTES)).toString("base64");
}

/**
 * Reads the key from a file that only its owner may read, and creates it when there is none. No other process may use the file at the
 * same time. Throws when the file contains something else.
 */
export function readOrCreateKeyFile(file: string, random: Random): Uint8Array {
  if (!existsSync(file)) writeKey(file, `${makeKeyText(random)}\n`);
  const key = parseKey(readFileSync(file, "utf8"));
  if (key === null) throw new Error(`${file} does not hold a key: 32 bytes in base64 or hex. Put it back from a backup.`);
  return key;
}

/** Writes a file atomically and flushes it; only its owner may read it. A process that dies on the way leaves no half a key. */
export function writeKey(file: string, text: string): void {
  const aside = `${file}.tmp`;
  const handle = openSync(aside, "w", 0o600);
  try {
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(aside, file);
}
