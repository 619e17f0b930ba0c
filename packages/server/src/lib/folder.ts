import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates a folder and its missing parents, each readable by its owner only. Throws the file system's error, or ENOTDIR when a
 * parent is a file. `mkdirSync` with `recursive` is not used, because it never returns for a path such as /proc/nope.
 */
export function createFolder(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) return;
  if (stat) throw Object.assign(new Error(`${path} is not a folder`), { code: "ENOTDIR" });
  const parent = dirname(path);
  if (parent !== path) createFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have been faster.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
