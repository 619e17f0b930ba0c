import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { usageError } from "../runtime/errors.ts";
import type { Reject } from "./batches.ts";
import { formatLine } from "./csv.ts";
import type { Table } from "./table.ts";

/** The errors file: failed rows with their reasons, to correct and import again. */
export interface RejectsFile {
  write(rejects: readonly Reject[]): void;
  /** Size of the file in bytes. */
  bytes(): number;
  close(): void;
}

// An import ignores columns whose names begin with `import.`.
const LINE = "import.line";
const PROBLEM = "import.problem";

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
  // Extra cells would shift the reason out of its column.
  const more = cells.splice(names.length).filter((cell) => cell !== "");
  const reason = more.length > 0 ? `${formatReason(reject)} Extra cells: ${more.join(separator)}` : formatReason(reject);
  return formatLine([...cells, String(reject.line), reason], separator);
}

function formatJsonLine(reject: Reject): string {
  const { source } = reject;
  const given = "text" in source ? (source.value ?? { "import.text": source.text }) : {};
  return `${JSON.stringify({ ...given, [LINE]: reject.line, [PROBLEM]: formatReason(reject) })}\n`;
}
