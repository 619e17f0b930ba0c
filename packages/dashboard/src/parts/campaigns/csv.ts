/** A CSV file: quoted where it must be, and without a value that a spreadsheet would execute. */
export function buildCsv(head: readonly string[], rows: readonly (readonly (string | number | boolean | null)[])[]): string {
  return [head, ...rows].map((row) => `${row.map(formatCell).join(",")}\r\n`).join("");
}

function formatCell(value: string | number | boolean | null): string {
  if (typeof value !== "string") return value === null ? "" : String(value);
  // Spreadsheets take these for the beginning of a formula.
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
