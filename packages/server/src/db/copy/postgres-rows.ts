import type { PgSession } from "../postgres/session.ts";
import { list, quote, type Shape, type Value } from "./shapes.ts";

// Rows may hold attachments of some MB.
const ROWS = 100;

/** Reads all rows of a table in the order of its key, some at a time: JSON as text, bigints as numbers. */
export async function* readRows({ raw }: Pick<PgSession, "raw">, { table, columns, key }: Shape): AsyncGenerator<Value[][]> {
  const selected = columns.map((c, i) => {
    const cast = c.type === "json" ? "::text" : c.type === "bigint" ? "::float8" : "";
    return `${quote(c.name)}${cast} as "${i}"`;
  });
  const keyAt = key.map((name) => columns.findIndex((c) => c.name === name));
  let after: unknown[] = [];
  for (;;) {
    const where = after.length === 0 ? "" : `where (${list(key)}) > (${key.map((_, i) => `$${i + 1}`).join(", ")})`;
    const found = await raw<Record<string, Value>>(
      `select ${selected.join(", ")} from ${quote(table)} ${where} order by ${list(key)} limit ${ROWS}`,
      after,
    );
    const rows = found.map((row) => columns.map((_, i) => row[String(i)] ?? null));
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = keyAt.map((i) => last[i]);
  }
}
