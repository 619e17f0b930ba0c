import { eq, inArray, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";

// On Postgres, writers of the same row run one after the other; with sixteen rows per counter that is rare.
const PARTS = 16;

/** A change of a counter. Changes of the same `seq`, such as that of a contact, go to the same part of it. */
export interface CounterChange {
  kind: string;
  seq: number;
  by: number;
}

/** Adds changes to the counters of one owner. */
export async function incrementCounters(tx: Tx, owner: string, changes: readonly CounterChange[]): Promise<void> {
  const sums = new Map<string, { owner: string; kind: string; part: number; count: number }>();
  for (const { kind, seq, by } of changes) {
    const part = seq % PARTS;
    const key = `${kind} ${part}`;
    const sum = sums.get(key) ?? { owner, kind, part, count: 0 };
    sum.count += by;
    sums.set(key, sum);
  }
  // In the same order for all transactions, so that two of them cannot deadlock.
  const rows = [...sums.values()]
    .filter((r) => r.count !== 0)
    .sort((a, b) => (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : a.part - b.part));
  if (rows.length === 0) return;
  const { counters: t } = tx.t;
  await tx
    .insert(t)
    .values(rows)
    .onConflictDoUpdate({ target: [t.owner, t.kind, t.part], set: { count: sql`${t.count} + excluded.count` } });
}

/** The counters of these owners by kind; a kind that was never counted is absent. */
export async function getCounters(q: Tx | Reader, owners: readonly string[]): Promise<Map<string, Map<string, number>>> {
  const found = new Map<string, Map<string, number>>();
  if (owners.length === 0) return found;
  const { counters: t } = q.t;
  for (const { owner, kind, count } of await q
    .select({ owner: t.owner, kind: t.kind, count: t.count })
    .from(t)
    .where(inArray(t.owner, [...owners]))) {
    const kinds = found.get(owner) ?? new Map<string, number>();
    kinds.set(kind, (kinds.get(kind) ?? 0) + count);
    found.set(owner, kinds);
  }
  return found;
}

/** Deletes the counters of an owner. */
export async function deleteCounters(tx: Tx, owner: string): Promise<void> {
  await tx.delete(tx.t.counters).where(eq(tx.t.counters.owner, owner));
}
