import { chownSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** The folder of a project in which a dev server keeps its data, and `dev` its recordings. */
export const PROJECT_FOLDER = ".mailsvc";

/**
 * Creates a folder and its missing parents, each readable by its owner only. Throws the file system's error, or ENOTDIR when a parent is
 * a file. The folder of a project is kept out of git. `mkdirSync` with `recursive` is not used, because it never returns for a path such
 * as /proc/nope.
 */
export function createFolder(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) return;
  if (stat) throw Object.assign(new Error(`${path} is not a folder`), { code: "ENOTDIR" });
  const parent = dirname(path);
  if (parent !== path) createFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
    giveToOwnerOfFolder(path);
    if (basename(path) === PROJECT_FOLDER) keepOutOfGit(path);
  } catch (error) {
    // Another process may have been faster.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Writes the .gitignore of a folder that holds data of a server, keys included, which is not for a repository. One that is there stays. */
export function keepOutOfGit(folder: string): void {
  const file = join(folder, ".gitignore");
  if (existsSync(file)) return;
  writeFileSync(file, "*\n");
  giveToOwnerOfFolder(file);
}

/**
 * Gives a new file or folder to the owner of the folder around it. Only root makes files for others: a restore as root is to leave data
 * that the service can open.
 */
export function giveToOwnerOfFolder(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  chownSync(path, uid, gid);
}
