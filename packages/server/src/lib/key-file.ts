import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { giveToOwnerOfFolder } from "./folder.ts";
import type { Random } from "./random.ts";

/** The name of the file in the data folder. */
export const KEY_FILE = "secret.key";

const BYTES = 32;

/** Data was encrypted with a key, and no usable key is there. The message says where it belongs. */
export class KeyMissing extends Error {
  override name = "KeyMissing";
}

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
 * Reads the key from a file that only its owner may read. When there is none, creates it if `isNew`, and throws KeyMissing otherwise:
 * another key would be of no use, and be taken for the right one. Throws KeyMissing too when the file contains something else. No other
 * process may use the file at the same time.
 */
export function readOrCreateKeyFile(file: string, random: Random, isNew: boolean): Uint8Array {
  if (!existsSync(file)) {
    if (!isNew)
      throw new KeyMissing(
        `There is no ${file}, which holds the key that the data was encrypted with. Put it back from a backup, or pass the key with --secret-key.`,
      );
    writeKey(file, `${makeKeyText(random)}\n`);
  }
  const key = parseKey(readKey(file));
  if (key === null) throw new KeyMissing(`${file} does not hold a key: 32 bytes in base64 or hex. Put it back from a backup.`);
  return key;
}

function readKey(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new KeyMissing(`${file} cannot be read (${code}). Give it to the user of the server, with mode 0600.`, { cause: error });
  }
}

/** Writes a file atomically and flushes it; only its owner may read it, who is that of the folder. A process that dies on the way leaves no half a key. */
export function writeKey(file: string, text: string): void {
  const aside = `${file}.tmp`;
  const handle = openSync(aside, "w", 0o600);
  try {
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  giveToOwnerOfFolder(aside);
  renameSync(aside, file);
}
