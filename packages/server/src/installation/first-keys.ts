import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { createFolder } from "../lib/folder.ts";
import { writeKey } from "../lib/key-file.ts";

/** The keys of a new installation. The database has only their hashes. Built when it is needed: a start without the file needs no zod. */
const buildFirstKeys = () => z.object({ workspaceId: z.string(), apiKey: z.string(), operatorKey: z.string() });
type FirstKeys = z.infer<ReturnType<typeof buildFirstKeys>>;

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
        return buildFirstKeys().parse(JSON.parse(readFileSync(path, "utf8")));
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
