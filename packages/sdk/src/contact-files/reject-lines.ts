import { formatLine } from "./csv.ts";
import type { Row, RowFault } from "./rows.ts";

/** A row that was not imported, and why. */
export interface Reject {
  line: number;
  faults: readonly RowFault[];
  source: Row["source"];
}

/** The file that a row comes from. */
interface RejectsTable {
  readonly format: "csv" | "ndjson";
  readonly separator: string;
  readonly names: readonly string[];
}

// An import ignores columns whose names begin with `import.`.
const LINE = "import.line";
const PROBLEM = "import.problem";

/** Formats the header of an errors file. */
export function formatRejectsHeader({ format, names, separator }: RejectsTable): string {
  return format === "csv" ? `\ufeff${formatLine([...names, LINE, PROBLEM], separator)}` : "";
}

/** A row that failed with its reasons, in the format of its file: it can be corrected and imported again. */
export function formatReject(table: RejectsTable, reject: Reject): string {
  return table.format === "csv" ? formatCsvLine(table, reject) : formatJsonLine(reject);
}

function formatReason({ faults }: Reject): string {
  return faults.map(({ column, message }) => (column === "" ? message : `${column}: ${message}`)).join(" ");
}

function formatCsvLine({ separator, names }: RejectsTable, reject: Reject): string {
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
