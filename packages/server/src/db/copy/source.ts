import Database from "better-sqlite3";
import { type Column, list, quote, type Shape } from "./shapes.ts";
import type { Value } from "./sum.ts";

type Raw = string | number | Buffer | null;

/** Rows that travel together, at most. */
const ROWS = 1000;
/** Bytes that travel together: attachments may have 20 MB each. */
const BYTES = 8 * 1024 * 1024;

export interface Chunk {
  readonly rows: Value[][];
  /** The key of the last row: where the next chunk begins. */
  readonly last: Value[];
}

/** The SQLite side of a move. */
export interface Source {
  count(table: string): number;
  /** The rows after `after`, in order of the key; null when there are none. */
  next(shape: Shape, after: readonly Value[] | null): Chunk | null;
  fact(name: string): string | null;
  close(): void;
}

/** Opens a database file for reading. */
export function openSource(file: string): Source {
  const db = new Database(file, { readonly: true, fileMustExist: true });
  return {
    count: (table) =>
      db
        .prepare(`SELECT count(*) FROM ${quote(table)}`)
        .pluck()
        .get() as number,
    next: ({ table, columns, key }, after) => {
      const where = after === null ? "" : `WHERE (${list(key)}) > (${key.map(() => "?").join(", ")})`;
      const sql = `SELECT ${list(columns.map((c) => c.name))} FROM ${quote(table)} ${where} ORDER BY ${list(key)} LIMIT ${ROWS}`;
      const rows: Value[][] = [];
      let bytes = 0;
      for (const raw of db
        .prepare(sql)
        .raw()
        .iterate(...(after ?? [])) as IterableIterator<Raw[]>) {
        const row = raw.map((value, i) => incoming(value, columns[i] as Column));
        rows.push(row);
        bytes += sizeOf(row);
        if (bytes >= BYTES) break;
      }
      const final = rows.at(-1);
      const last = key.map((name) => final?.[columns.findIndex((c) => c.name === name)] ?? null);
      return final ? { rows, last } : null;
    },
    fact: (name) => (db.prepare("SELECT value FROM meta WHERE name = ?").pluck().get(name) as string | undefined) ?? null,
    close: () => db.close(),
  };
}

/** A stored value as Postgres takes it. Text of Postgres cannot hold U+0000: it becomes U+FFFD, the sign for what cannot be shown. */
function incoming(raw: Raw, { type, nullable }: Column): Value {
  if (raw === null) return null;
  if (type === "boolean") return raw === 1;
  // JSON null is kept as text by SQLite.
  if (type === "json" && raw === "null" && nullable) return null;
  return typeof raw === "string" ? raw.replaceAll("\0", "\uFFFD") : raw;
}

function sizeOf(row: readonly Value[]): number {
  return row.reduce<number>((sum, v) => sum + (typeof v === "string" || v instanceof Uint8Array ? v.length : 8), 0);
}
