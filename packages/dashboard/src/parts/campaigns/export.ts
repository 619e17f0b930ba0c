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

/** Lets the browser save a text as a file. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
