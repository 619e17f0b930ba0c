import type { Reader, Tx } from "./db.ts";
import { findRows } from "./find.ts";

// Facts about an installation, by name: a table of texts that every module may use for one of its own.

/** Returns a fact; null if nobody has written it. */
export async function findFact(q: Tx | Reader, name: string): Promise<string | null> {
  const [row] = await findRows(q, q.t.meta, { name });
  return row?.value ?? null;
}

/** Writes a fact, over the one of before. */
export async function writeFact(tx: Tx, name: string, value: string): Promise<void> {
  const { meta } = tx.t;
  await tx.insert(meta).values({ name, value }).onConflictDoUpdate({ target: meta.name, set: { value } });
}

/** Writes a fact that is not there yet, and leaves one that is. */
export async function writeMissingFact(tx: Tx, name: string, value: string): Promise<void> {
  await tx.insert(tx.t.meta).values({ name, value }).onConflictDoNothing();
}
