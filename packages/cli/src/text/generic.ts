import type { Style } from "../types.ts";
import { safeText } from "./safe-text.ts";
import { type Column, renderDetails, renderTable } from "./table.ts";

type Row = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A table for rows without a view: their scalar fields as columns. */
export function genericTable(rows: readonly unknown[], style: Style, width: number): string {
  const known = rows.filter(isRecord);
  const names = [...new Set(known.flatMap((row) => Object.keys(row)))].filter((name) =>
    known.every((row) => typeof row[name] !== "object" || row[name] === null),
  );
  const columns: Column<Row>[] = names.map((name) => ({
    title: safeText(label(name)),
    value: (row) => row[name],
    flexible: name !== "id",
  }));
  return renderTable(known, columns, style, width);
}

/** The text of an object without a view: one field per line, nested values as JSON. */
export function genericObject(value: unknown, style: Style): string {
  return isRecord(value)
    ? renderDetails(
        Object.entries(value).map(([name, v]) => [safeText(label(name)), v]),
        style,
      )
    : safeText(String(value));
}

function label(name: string): string {
  return name.replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`);
}
