import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { formatReject, formatRejectsHeader, type Reject } from "@mailsvc/sdk/contact-files";
import { usageError } from "../runtime/errors.ts";
import type { Table } from "./table.ts";

/** The errors file: failed rows with their reasons, to correct and import again. */
export interface RejectsFile {
  write(rejects: readonly Reject[]): void;
  /** Size of the file in bytes. */
  bytes(): number;
  close(): void;
}

/** Opens the errors file in the format of the table and keeps the first `keep` bytes of an earlier run. Throws CliError. */
export function openRejectsFile(path: string, table: Table, keep: number): RejectsFile {
  let file: number;
  let size = keep;
  try {
    file = openSync(path, keep > 0 ? "r+" : "w", 0o600);
    ftruncateSync(file, keep);
  } catch (error) {
    throw usageError(`--errors-file: ${path} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  }
  const put = (text: string): void => {
    size += writeSync(file, text, size);
  };
  if (keep === 0) put(formatRejectsHeader(table));
  return {
    write: (rejects) => {
      if (rejects.length > 0) put(rejects.map((r) => formatReject(table, r)).join(""));
    },
    bytes: () => size,
    close: () => closeSync(file),
  };
}
