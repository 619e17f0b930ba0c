import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { giveToOwnerOfFolder } from "./folder.ts";
import { type MasterKeys, parseKeys } from "./master-keys.ts";
import type { Random } from "./random.ts";

/** The name of the file in the data folder. */
export const KEY_FILE = "secret.key";

const BYTES = 32;

/** Data was encrypted with a key, and no usable key is there. The message says where it belongs. */
export class KeyMissing extends Error {
  override name = "KeyMissing";
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
export function readOrCreateKeyFile(file: string, random: Random, isNew: boolean): MasterKeys {
  if (!existsSync(file)) {
    if (!isNew)
      throw new KeyMissing(
        `There is no ${file}, which holds the key that the data was encrypted with. Put it back from a backup, or pass the key with --secret-key.`,
      );
    writeKey(file, `${makeKeyText(random)}\n`);
  }
  const keys = parseKeys(readKey(file));
  if (keys === null) throw new KeyMissing(`${file} does not hold a key: 32 bytes in base64 or hex. Put it back from a backup.`);
  return keys;
}

function readKey(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new KeyMissing(`${file} cannot be read (${code}). Give it to the user of the server, with mode 0600.`, { cause: error });
  }
}

/** The keys in the file of a data folder, to read and to replace. */
export function keyFileStore(folder: string) {
  const file = join(folder, KEY_FILE);
  const read = (): string | null => (existsSync(file) ? readKey(file) : null);
  return {
    read: async () => read(),
    replace: async (before: string, after: string) => {
      if (read() !== before) return false;
      writeKey(file, after);
      return true;
    },
  };
}

/**
 * Writes a file atomically and flushes it; only its owner may read it, who is that of the folder. A process that dies on the way leaves
 * no half a key.
 */
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
