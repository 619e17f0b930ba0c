import { readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { createFolder } from "../lib/folder.ts";
import { writeKey } from "../lib/key-file.ts";

/** The keys of a new installation. The database has only their hashes. Built when it is needed: a start without the file needs no zod. */
const buildFirstKeys = () => z.object({ installation: z.string(), workspaceId: z.string(), apiKey: z.string(), operatorKey: z.string() });
type FirstKeys = z.infer<ReturnType<typeof buildFirstKeys>>;

/**
 * Keeps the keys of a new installation until somebody has seen them. They are saved before the transaction that makes
 * them valid commits, so that a first start that is killed at any point loses no valid key: the next start finds them here.
 */
export interface FirstKeyStore {
  /** The file of the keys, for messages. */
  readonly path: string;
  /** The keys of this installation; null when none of it are kept. */
  load(installation: string): FirstKeys | null;
  /** Keeps keys. Sets aside those of another installation. */
  save(keys: FirstKeys): void;
  /** Removes the keys once they were shown. */
  remove(): void;
}

/** `first-keys.json` in the data folder, readable by its owner only. Servers of several databases may share the folder. */
export function firstKeyFile(folder: string): FirstKeyStore {
  const path = join(folder, "first-keys.json");
  const pathOf = (installation: string): string => join(folder, `first-keys-${installation.slice(0, 8)}.json`);
  const read = (file: string): FirstKeys | null => {
    try {
      return buildFirstKeys().parse(JSON.parse(readFileSync(file, "utf8")));
    } catch {
      return null;
    }
  };
  const setAsideOthers = (installation: string): void => {
    const other = read(path);
    if (other !== null && other.installation !== installation) renameSync(path, pathOf(other.installation));
  };
  return {
    path,
    load: (installation) => {
      const first = read(path);
      if (first?.installation === installation) return first;
      const aside = read(pathOf(installation));
      if (aside?.installation !== installation) return null;
      setAsideOthers(installation);
      renameSync(pathOf(installation), path);
      return aside;
    },
    save: (keys) => {
      createFolder(folder);
      setAsideOthers(keys.installation);
      writeKey(path, `${JSON.stringify(keys, null, 2)}\n`);
    },
    remove: () => rmSync(path, { force: true }),
  };
}
