import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Flags } from "../runtime/action.ts";
import type { Host } from "../types.ts";

/** Data folder of a command's dev server. */
interface DataFolder {
  /** Null if the user has chosen a place. */
  readonly temporary: string | null;
  /** Removes what is temporary. */
  remove(): void;
}

/**
 * Makes a temporary folder unless a flag names a place, or MAILSVC_DATA does: a run then has the same start each time, and many can run
 * at once.
 */
export function openDataFolder({ env }: Pick<Host, "env">, flags: Flags): DataFolder {
  if (flags["data"] !== undefined || flags["databaseUrl"] !== undefined || env["MAILSVC_DATA"])
    return { temporary: null, remove: () => {} };
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-dev-"));
  return { temporary: folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }) };
}
