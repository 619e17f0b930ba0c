import { escapeFormula, formatLine } from "@mailsvc/sdk/contact-files";

/** A CSV file: quoted where it must be, and without a value that a spreadsheet would execute. */
export function buildCsv(head: readonly string[], rows: readonly (readonly (string | number | boolean | null)[])[]): string {
  return [head, ...rows].map((row) => formatLine(row.map(toCell))).join("");
}

function toCell(value: string | number | boolean | null): string {
  return typeof value === "string" ? escapeFormula(value) : String(value ?? "");
}
