import { lstatSync, readFileSync } from "node:fs";
import { CliError, usageError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";
import type { Fault } from "../types.ts";

const MAX_BYTES = 4 * 1024 * 1024;

/** A fault in a file. */
export function fileFault(path: string, message: string, code = "invalid_file"): Fault {
  return { path, code, message };
}

/** The fault of one object of a folder that an error tells of, with its hint. Throws what is not about its files. */
export function toFileFault(path: string, error: unknown): Fault {
  if (!(error instanceof CliError) || error.failure.exit === EXIT.cancelled) throw error;
  const { code, message, hint, next } = error.failure;
  return fileFault(path, [message, hint, next && `Run: ${next}`].filter(Boolean).join(" "), code === "usage" ? "invalid_file" : code);
}

/**
 * Reads a text file of a folder; null when it is absent, empty or faulty. Throws CliError for a link: what it leads to, perhaps
 * a key outside of the folder, would be uploaded. A device or pipe, which may never end, is a fault.
 */
export function readText(file: string, shown: string, faults: Fault[]): string | null {
  assertNoLinks([file]);
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (!stat) return null;
  if (!stat.isFile()) {
    faults.push(fileFault(shown, "This is not a regular file."));
    return null;
  }
  if (stat.size > MAX_BYTES) {
    faults.push(fileFault(shown, "The file is larger than 4 MiB.", "too_big"));
    return null;
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(readFileSync(file));
    return text === "" ? null : text;
  } catch {
    faults.push(fileFault(shown, "The file is not UTF-8 text."));
    return null;
  }
}

/** Throws CliError when the path is there and no folder, or a link to one. */
export function assertFolder(dir: string): void {
  assertNoLinks([dir]);
  if (lstatSync(dir, { throwIfNoEntry: false })?.isDirectory() === false) throw usageError(`${dir} is not a folder.`);
}

/** Throws CliError for a symbolic link, which could lead out of the folder. */
export function assertNoLinks(paths: readonly string[]): void {
  for (const path of paths)
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      throw usageError(`${path} is a symbolic link, which is not followed.`);
}
