import Database from "better-sqlite3";
import { MB } from "../../lib/units.ts";
import { type Column, list, quote, type Shape, type Value } from "./shapes.ts";

type Raw = string | number | Buffer | null;

/** Rows in one chunk, at most. */
const ROWS = 1000;
/** Bytes in one chunk: attachments may have 20 MB each. */
const BYTES = 8 * MB;

interface Chunk {
  readonly rows: Value[][];
  /** The key of the last row as it is stored: where the next chunk begins. */
  readonly last: Raw[];
}

/** The SQLite side of a copy. */
interface Source {
  count(table: string): number;
  /** The rows after `after`, in order of the key; null when there are none. */
  next(shape: Shape, after: readonly Raw[] | null): Chunk | null;
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
      let final: Raw[] = [];
      for (const raw of db
        .prepare(sql)
        .raw()
        .iterate(...(after ?? [])) as IterableIterator<Raw[]>) {
        const row = raw.map((value, i) => toPostgresValue(value, columns[i] as Column));
        rows.push(row);
        final = raw;
        bytes += measureRow(row);
        if (bytes >= BYTES) break;
      }
      const last = key.map((name) => final[columns.findIndex((c) => c.name === name)] ?? null);
      return rows.length > 0 ? { rows, last } : null;
    },
    fact: (name) => (db.prepare("SELECT value FROM meta WHERE name = ?").pluck().get(name) as string | undefined) ?? null,
    close: () => db.close(),
  };
}

/** Converts a stored value for Postgres, whose text cannot contain U+0000: it becomes U+FFFD, the replacement character. */
function toPostgresValue(raw: Raw, { type, nullable }: Column): Value {
  if (raw === null) return null;
  if (type === "boolean") return raw === 1;
  // SQLite stores JSON null as text.
  if (type === "json" && raw === "null" && nullable) return null;
  return typeof raw === "string" ? raw.replaceAll("\0", "\uFFFD") : raw;
}

function measureRow(row: readonly Value[]): number {
  return row.reduce<number>((sum, v) => sum + (typeof v === "string" || v instanceof Uint8Array ? v.length : 8), 0);
}
