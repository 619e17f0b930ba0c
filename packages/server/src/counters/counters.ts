import { eq, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";

/** The rows of a counter. On Postgres, writers of the same row run one after the other; with sixteen that is rare. */
export const COUNTER_PARTS = 16;

// Counters changed with one statement. There is a prepared one for each number of them up to this.
const CHUNK = 16;

/** A row of `counters`, with what is added to it. */
interface CounterPart {
  owner: string;
  kind: string;
  part: number;
  count: number;
}

/** A change of a counter. Changes of the same `seq`, such as that of a contact, go to the same part of it. */
export interface CounterChange {
  kind: string;
  seq: number;
  by: number;
}

/** Adds changes to the counters of one owner. */
export async function incrementCounters(tx: Tx, owner: string, changes: readonly CounterChange[]): Promise<void> {
  const sums = new Map<string, CounterPart>();
  for (const { kind, seq, by } of changes) {
    const part = seq % COUNTER_PARTS;
    const key = `${kind} ${part}`;
    const sum = sums.get(key) ?? { owner, kind, part, count: 0 };
    sum.count += by;
    sums.set(key, sum);
  }
  // In the same order for all transactions, so that two of them cannot deadlock.
  const rows = [...sums.values()]
    .filter((r) => r.count !== 0)
    .sort((a, b) => (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : a.part - b.part));
  for (let i = 0; i < rows.length; i += CHUNK) await increment(tx, rows.slice(i, i + CHUNK));
}

/** Adds one to a counter of an owner for each of some contacts, or takes one away. */
export function countEach(
  tx: Tx,
  owner: string,
  kind: string,
  contacts: readonly { readonly contactSeq: number }[],
  by: 1 | -1 = 1,
): Promise<void> {
  const changes = contacts.map(({ contactSeq: seq }) => ({ kind, seq, by }));
  return incrementCounters(tx, owner, changes);
}

/** The counters of these owners by kind; a kind that was never counted is absent. */
export async function getCounters(q: Tx | Reader, owners: readonly string[]): Promise<Map<string, Map<string, number>>> {
  const found = new Map<string, Map<string, number>>();
  for (const { owner, kind, count } of await findRows(q, q.t.counters, { owner: owners })) {
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

async function increment(tx: Tx, rows: readonly CounterPart[]): Promise<void> {
  const name = `increment_${rows.length}_counters`;
  await tx
    .prepared(name, (q, { counters: t }, arg) =>
      q
        .insert(t)
        .values(rows.map((_, i) => ({ owner: arg(`owner${i}`), kind: arg(`kind${i}`), part: arg(`part${i}`), count: arg(`count${i}`) })))
        .onConflictDoUpdate({ target: [t.owner, t.kind, t.part], set: { count: sql`${t.count} + excluded.count` } }),
    )
    .execute(Object.fromEntries(rows.flatMap((row, i) => Object.entries(row).map(([column, value]) => [`${column}${i}`, value]))));
}
