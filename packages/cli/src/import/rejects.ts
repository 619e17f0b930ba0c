import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { usageError } from "../runtime/errors.ts";
import type { Reject } from "./batches.ts";
import { formatLine } from "./csv.ts";
import type { Table } from "./table.ts";

/** The file of rows that failed, each with its reason: to be corrected and imported again. */
export interface RejectsFile {
  write(rejects: readonly Reject[]): void;
  /** Bytes written so far. */
  bytes(): number;
  close(): void;
}

// Their names begin with import., which an import leaves out.
const LINE = "import.line";
const PROBLEM = "import.problem";

/** Opens the file at `path`, in the format of the table; `keep` bytes of an earlier run stay. Throws CliError. */
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
  if (keep === 0 && table.format === "csv") put(`\ufeff${formatLine([...table.names, LINE, PROBLEM], table.separator)}`);
  return {
    write: (rejects) => {
      if (rejects.length > 0) put(rejects.map((r) => (table.format === "csv" ? formatCsvLine(table, r) : formatJsonLine(r))).join(""));
    },
    bytes: () => size,
    close: () => closeSync(file),
  };
}

function formatReason({ faults }: Reject): string {
  return faults.map(({ column, message }) => (column === "" ? message : `${column}: ${message}`)).join(" ");
}

function formatCsvLine({ separator, names }: Table, reject: Reject): string {
  const cells = "text" in reject.source ? [reject.source.text] : [...reject.source];
  while (cells.length < names.length) cells.push("");
  // Cells beyond the columns would push the reason out of its own.
  const more = cells.splice(names.length).filter((cell) => cell !== "");
  const reason = more.length > 0 ? `${formatReason(reject)} Left over: ${more.join(separator)}` : formatReason(reject);
  return formatLine([...cells, String(reject.line), reason], separator);
}

function formatJsonLine(reject: Reject): string {
  const { source } = reject;
  const given = "text" in source ? (source.value ?? { "import.text": source.text }) : {};
  return `${JSON.stringify({ ...given, [LINE]: reject.line, [PROBLEM]: formatReason(reject) })}\n`;
}
