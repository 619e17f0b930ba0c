import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { CliError, usageError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";

/** How far an import has come; enough to go on with it after a kill without doing a batch twice. */
export interface ImportProgress {
  version: 1;
  /** Part of the key of each batch, so that the same file imported again another day is another import. */
  startedAt: string;
  /** The server, the workspace and the flags that decide what is sent. */
  for: string;
  /** Batches done. Those after them may have reached the server too; their keys make sure that they count once. */
  batches: number;
  /** Proves that the rows of those batches are still what they were. */
  chain: string;
  rows: number;
  failed: number;
  counts: Record<string, number>;
  /** Bytes of the file of rows that failed, as of these batches. */
  errorsBytes: number;
}

/** The file such progress is kept in. */
export interface Checkpoint {
  readonly path: string;
  /** Null when there is none. Throws CliError for one that is no checkpoint. */
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
        // Said below.
      }
      throw usageError(`${path} does not say how far an import has come.`, { hint: "Remove it, or begin anew with --restart." });
    },
    save: (progress) => {
      const beside = `${path}.new`;
      try {
        const file = openSync(beside, "w", 0o600);
        try {
          writeSync(file, `${JSON.stringify(progress)}\n`);
          // The first time, the name of the import has to outlast the machine; later ones are only further along.
          if (progress.batches === 0) fsyncSync(file);
        } finally {
          closeSync(file);
        }
        renameSync(beside, path);
      } catch (error) {
        throw new CliError({
          code: "checkpoint_failed",
          message: `${path} cannot be written (${(error as NodeJS.ErrnoException).code}).`,
          exit: EXIT.usage,
          hint: "Say with --resume-file where the import may note how far it is, or import from a pipe to do without.",
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
