import { getTableColumns } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { CHUNK_BYTES } from "../lib/turn.ts";

/** Rows that are written in one go. */
interface Stretch<Row> {
  readonly rows: readonly Row[];
  /** True if others should be served before anything else is written. */
  readonly isLong: boolean;
}

/** The properties of a table's rows that hold bytes, which may be large. */
export function listByteKeys(table: PgTable): string[] {
  return Object.entries(getTableColumns(table)).flatMap(([key, column]) => (/^(blob|bytea)$/.test(column.getSQLType()) ? [key] : []));
}

/**
 * Cuts rows into stretches of `maxRows`, and of a megabyte of bytes: to write 27 MB at once takes 50 ms. A larger value is a stretch of
 * its row alone.
 */
export function cutIntoStretches<Row extends object>(rows: readonly Row[], byteKeys: readonly string[], maxRows: number): Stretch<Row>[] {
  if (byteKeys.length === 0 && rows.length <= maxRows) return [{ rows, isLong: false }];
  const stretches: Stretch<Row>[] = [];
  let from = 0;
  let bytes = 0;
  for (const [i, row] of rows.entries()) {
    const own = measureBytes(row, byteKeys);
    if (i > from && (bytes + own > CHUNK_BYTES || i - from === maxRows)) {
      stretches.push({ rows: rows.slice(from, i), isLong: true });
      from = i;
      bytes = 0;
    }
    bytes += own;
  }
  // Several inserts may follow each other, each with one file.
  stretches.push({ rows: rows.slice(from), isLong: 2 * bytes > CHUNK_BYTES });
  return stretches;
}

function measureBytes(row: object, byteKeys: readonly string[]): number {
  let bytes = 0;
  for (const key of byteKeys) {
    const value = (row as Readonly<Record<string, unknown>>)[key];
    if (value instanceof Uint8Array) bytes += value.length;
  }
  return bytes;
}
