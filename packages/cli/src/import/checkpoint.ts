import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import type { AutomationStart } from "@mailsvc/sdk/contract";
import { CliError, usageError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";

/** Recorded progress, from which a killed import resumes without repeating a batch. */
export interface ImportProgress {
  version: 1;
  /** Part of each Idempotency-Key, so that importing the same file on another day is another import. */
  startedAt: string;
  /** Identity of the import: server, workspace and the flags that decide what is sent. */
  for: string;
  /** Number of recorded batches. Later ones may have reached the server too; their keys make resending them safe. */
  batches: number;
  /** Hash over the rows of those batches, to detect that the file changed. */
  chain: string;
  rows: number;
  failed: number;
  counts: Record<string, number>;
  /** The import on the server, which can be undone; null for suppressions. */
  importId: string | null;
  /** Its tag. */
  tag: string | null;
  /** The automations that the contacts entered, or would. */
  automations: readonly AutomationStart[];
  /** Size of the errors file after these batches, in bytes. */
  errorsBytes: number;
}

/** The file that holds the progress. */
export interface Checkpoint {
  readonly path: string;
  /** Null when there is no file. Throws CliError when it is not a checkpoint. */
  load(): ImportProgress | null;
  save(progress: ImportProgress): void;
  remove(): void;
}

export function openCheckpoint(path: string): Checkpoint {
  return {
    path,
    load: () => {
      let text: string;
      try {
        text = readFileSync(path, "utf8");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
        throw usageError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
      }
      try {
        const value: unknown = JSON.parse(text);
        if (isProgress(value)) return value;
      } catch {
        // Reported below.
      }
      throw usageError(`${path} is not the progress file of an import.`, { hint: "Remove it, or start over with --restart." });
    },
    save: (progress) => {
      const temporary = `${path}.new`;
      try {
        const file = openSync(temporary, "w", 0o600);
        try {
          writeSync(file, `${JSON.stringify(progress)}\n`);
          // The first write fixes the Idempotency-Keys and must survive a power cut; a lost later write only repeats batches.
          if (progress.batches === 0) fsyncSync(file);
        } finally {
          closeSync(file);
        }
        renameSync(temporary, path);
      } catch (error) {
        throw new CliError({
          code: "checkpoint_failed",
          message: `${path} cannot be written (${(error as NodeJS.ErrnoException).code}).`,
          exit: EXIT.usage,
          hint: "Choose another place with --resume-file, or import from a pipe, which records no progress.",
        });
      }
    },
    remove: () => rmSync(path, { force: true }),
  };
}

function isProgress(value: unknown): value is ImportProgress {
  const p = value as ImportProgress | null;
  return p?.version === 1 && typeof p.chain === "string" && Number.isInteger(p.batches) && typeof p.counts === "object";
}
