import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Flags } from "../runtime/action.ts";
import type { Host } from "../types.ts";

/** Where the dev server of a command keeps its data. */
export interface DataFolder {
  /** Null if the user has chosen a place. */
  readonly temporary: string | null;
  /** Removes what is temporary. */
  remove(): void;
}

const PLACES: readonly (readonly [flag: string, variable: string])[] = [
  ["data", "MAILSVC_DATA"],
  ["databaseUrl", "MAILSVC_DATABASE_URL"],
];

/** Makes a temporary folder unless a flag or variable names a place: a run then has the same start each time, and many can run at once. */
export function openDataFolder({ env }: Pick<Host, "env">, flags: Flags): DataFolder {
  if (PLACES.some(([flag, variable]) => flags[flag] !== undefined || env[variable])) return { temporary: null, remove: () => {} };
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-dev-"));
  return { temporary: folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }) };
}
