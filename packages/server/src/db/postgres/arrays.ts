import { getTableColumns, getTableName } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";

/** A row as features pass it: values by the names of properties. */
export type Row = Readonly<Record<string, unknown>>;

/** A column of a table, with the name of its property. */
export interface NamedColumn {
  readonly key: string;
  readonly column: PgColumn;
}

/** The columns of a table in the order of their declaration. */
export function listColumns(table: PgTable): NamedColumn[] {
  return Object.entries(getTableColumns(table)).map(([key, column]) => ({ key, column: column as PgColumn }));
}

/** The column whose values come from a sequence, if the table has one. */
export function findCounter(table: PgTable): NamedColumn | null {
  return listColumns(table).find(({ column }) => column.getSQLType() === "bigserial") ?? null;
}

/** The type of the array that holds a column's values: JSON is passed as text, since nothing else of it is looked at. */
export function toArrayType({ column }: NamedColumn): string {
  const type = column.getSQLType();
  return `${type === "json" ? "text" : type === "bigserial" ? "bigint" : type}[]`;
}

/** The expression that turns an element of such an array into a value of the column. */
export function toValue(expression: string, { column }: NamedColumn): string {
  return column.getSQLType() === "json" ? `${expression}::json` : expression;
}

/** The value of a column as the driver takes it. */
export function toElement(row: Row, { key, column }: NamedColumn): unknown {
  const value = row[key];
  return value === undefined || value === null ? null : column.mapToDriverValue(value);
}

// The object id of the type bytea.
const BYTEA = 17;

/**
 * An array of bytea in Postgres' binary format (`array_send`), which the driver passes on as it is. As text each byte would be two
 * digits that both sides look at one by one.
 */
export function encodeBytesArray(values: readonly (Uint8Array | null)[]): Buffer {
  const header = Buffer.alloc(20);
  header.writeInt32BE(values.length === 0 ? 0 : 1, 0);
  header.writeInt32BE(values.includes(null) ? 1 : 0, 4);
  header.writeInt32BE(BYTEA, 8);
  header.writeInt32BE(values.length, 12);
  // Arrays begin at 1.
  header.writeInt32BE(1, 16);
  const chunks: Uint8Array[] = [values.length === 0 ? header.subarray(0, 12) : header];
  for (const value of values) {
    const length = Buffer.alloc(4);
    length.writeInt32BE(value === null ? -1 : value.length);
    chunks.push(length);
    if (value !== null) chunks.push(value);
  }
  return Buffer.concat(chunks);
}

/** The name of a table or column as it stands in a statement. */
export function quote(name: string): string {
  return `"${name}"`;
}

/** The name of a table. */
export function nameOf(table: PgTable): string {
  return getTableName(table);
}

/** A column with its position in the table, which is shorter than its name: Postgres cuts off names of statements after 63 bytes. */
interface PlacedColumn extends NamedColumn {
  readonly position: number;
}

/** The columns of a table that a row names. */
export function selectColumns(table: PgTable, row: object): PlacedColumn[] {
  return listColumns(table)
    .map((column, position) => ({ ...column, position }))
    .filter(({ key }) => key in row);
}
