import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createFolder } from "../lib/folder.ts";
import { writeKey } from "../lib/key-file.ts";

/** The keys of a new installation. The database has only their hashes. */
export interface FirstKeys {
  readonly workspaceId: string;
  readonly apiKey: string;
  readonly operatorKey: string;
}

/**
 * Where the keys of a new installation are until somebody has seen them. They are saved before the transaction that makes
 * them valid commits, so that a first start that is killed at any point loses no key: the next start finds them here.
 */
export interface FirstKeyStore {
  /** Where the keys are, for messages. */
  readonly path: string;
  load(): FirstKeys | null;
  save(keys: FirstKeys): void;
  /** Removes the keys once they were shown. */
  remove(): void;
}

/** `first-keys.json` in the data folder, readable by its owner only. */
export function firstKeyFile(folder: string): FirstKeyStore {
  const path = join(folder, "first-keys.json");
  return {
    path,
    load: () => {
      try {
        return readKeys(JSON.parse(readFileSync(path, "utf8")));
      } catch {
        return null;
      }
    },
    save: (keys) => {
      createFolder(folder);
      writeKey(path, `${JSON.stringify(keys, null, 2)}\n`);
    },
    remove: () => rmSync(path, { force: true }),
  };
}

/** Every start reads the file before it loads zod. */
function readKeys({ workspaceId, apiKey, operatorKey }: Partial<Record<keyof FirstKeys, unknown>>): FirstKeys | null {
  const isComplete = typeof workspaceId === "string" && typeof apiKey === "string" && typeof operatorKey === "string";
  return isComplete ? { workspaceId, apiKey, operatorKey } : null;
}
