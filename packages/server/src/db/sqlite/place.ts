import { existsSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { writeKey } from "../../lib/key-file.ts";
import type { Move, Place, Stamp } from "../place.ts";
import { DATABASE_FILE } from "./folder.ts";

const MOVED_FILE = "moved.json";
const STARTS_FILE = "starts.json";

/**
 * The place of a database file. A copy is another file: it has another number, and another time of birth where the file system keeps
 * one. A snapshot of a whole file system has both in common with the original, and is told apart while the original is still where it was.
 */
export function findFilePlace(folder: string): Place {
  return describePlace(folder, realpathSync(join(folder, DATABASE_FILE)));
}

/** The place that a file in a folder has once it was renamed to the name of the database. */
export function foreseePlace(folder: string, file: string): Stamp {
  return { ...describePlace(folder, file).stamp, path: join(realpathSync(folder), DATABASE_FILE) };
}

function describePlace(folder: string, path: string): Place {
  const { dev, ino, birthtimeNs, ctimeNs } = statSync(path, { bigint: true });
  // Without a time of birth, Node gives the time of the last change.
  const born = birthtimeNs > 0n && birthtimeNs !== ctimeNs ? String(birthtimeNs) : null;
  const stamp: Stamp = { name: `${realpathSync(folder)} on ${hostname()}`, path, file: String(ino), born };
  return {
    stamp,
    isSame: (stored) => {
      if (stored["file"] !== stamp["file"]) return false;
      const known = stored["born"] ?? null;
      if (known !== null && born !== null && known !== born) return false;
      const before = stored["path"] ?? path;
      if (before === path) return true;
      const other = statSync(before, { bigint: true, throwIfNoEntry: false });
      return other === undefined || (other.dev === dev && other.ino === ino);
    },
    moved: readMove(folder),
    starts: readStarts(folder),
    settle: (starts) => {
      writeKey(join(folder, STARTS_FILE), `${JSON.stringify({ starts })}\n`);
      rmSync(join(folder, MOVED_FILE), { force: true });
    },
  };
}

/** Notes in a folder that its data was moved. The note is on disk when this returns. */
export function markMoved(folder: string, move: Move): void {
  writeKey(join(folder, MOVED_FILE), `${JSON.stringify(move, null, 2)}\n`);
}

/** Forgets what a folder knows of the database that was in it, for other data. */
export function forgetPast(folder: string): void {
  for (const name of [MOVED_FILE, STARTS_FILE]) rmSync(join(folder, name), { force: true });
}

/**
 * The number of starts of a folder's database in it; 0 when nothing is known. A database file that is copied over another one keeps
 * the place of that one, and is told apart by this.
 */
function readStarts(folder: string): number {
  const file = join(folder, STARTS_FILE);
  if (!existsSync(file)) return 0;
  try {
    return Number((JSON.parse(readFileSync(file, "utf8")) as { starts?: unknown }).starts) || 0;
  } catch {
    return 0;
  }
}

/** The move that a folder notes; null without one. */
export function readMove(folder: string): Move | null {
  const file = join(folder, MOVED_FILE);
  if (!existsSync(file)) return null;
  try {
    const { at, to } = JSON.parse(readFileSync(file, "utf8")) as Partial<Move>;
    return { at: String(at), to: String(to) };
  } catch {
    return { at: "an unknown date", to: "another place" };
  }
}
