import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { usageError } from "../runtime/errors.ts";
import type { Session } from "../types.ts";

/** The destination of an export. */
export interface Target {
  write(text: string): Promise<void>;
  /** Gives the finished file its name. */
  commit(): void;
  /** Removes what was written. */
  discard(): void;
}

/**
 * Writes an export to the file that was given, or to stdout without one or for `-`. Returns what `write` returned, and the path of the
 * file; null for stdout. A file appears once all of it is written. Throws CliError.
 */
export async function writeExport<T>(
  session: Session,
  given: string | undefined,
  write: (target: Target) => Promise<T>,
): Promise<{ result: T; path: string | null }> {
  const path = given === undefined || given === "-" ? null : resolve(session.host.cwd, given);
  const target = path === null ? openStdout(session) : openFile(path, given ?? "");
  let result: T;
  try {
    result = await write(target);
  } catch (error) {
    target.discard();
    throw error;
  }
  target.commit();
  return { result, path };
}

function openStdout({ out }: Session): Target {
  return {
    write: (text) => (text === "" ? Promise.resolve() : out.text(text)),
    commit: () => {},
    discard: () => {},
  };
}

/** Writes to `FILE.part` and renames it when complete, so that no half export is ever found. Mode 0600. Throws CliError. */
function openFile(path: string, given: string): Target {
  const temporary = `${path}.part`;
  const refused = (error: unknown): Error => usageError(`--output: ${given} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  let file: number;
  try {
    file = openSync(temporary, "w", 0o600);
  } catch (error) {
    throw refused(error);
  }
  return {
    write: async (text) => {
      try {
        const bytes = Buffer.from(text);
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
      } catch (error) {
        throw refused(error);
      }
    },
    commit: () => {
      fsyncSync(file);
      closeSync(file);
      try {
        renameSync(temporary, path);
      } catch (error) {
        rmSync(temporary, { force: true });
        throw refused(error);
      }
    },
    discard: () => {
      closeSync(file);
      rmSync(temporary, { force: true });
    },
  };
}
