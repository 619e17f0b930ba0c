import type { ContactStatus } from "@mailsvc/sdk/contract";
import { and, asc, desc, eq, gt, lte, type SQL, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import type { JobHandler } from "../queue/queue.ts";
import type { ContactDeps } from "./deps.ts";
import { tagKeys } from "./normalize.ts";
import type { ContactRow } from "./store.ts";

/** Job kind: merges the rows of each counter into one. */
export const FOLD_JOB = "contacts.fold-counts";

/** The tag key of the counter of all contacts, whatever their tags: no tag is empty. */
export const ALL = "";

/**
 * Contacts are counted in blocks of this many consecutive `seq`s. An offset walks at most one block after finding it, and a
 * total sums one row per block.
 */
export const BLOCK = 8192;

/** A set of contacts that has a counter: those with a tag (`ALL` for any) and, if given, in a status. */
export interface CountScope {
  workspaceId: string;
  tagKey: string;
  status?: ContactStatus | undefined;
}

// Rows written between two folds, on average. Reading a counter sums them: some µs.
const ROWS_PER_FOLD = 500;
// Counters folded in one transaction.
const CHUNK = 500;

/** The number of contacts in scope, read from the counters. */
export async function countContacts(q: Tx | Reader, { workspaceId, tagKey, status }: CountScope): Promise<number> {
  const name = status === undefined ? "count_contacts" : "count_contacts_by_status";
  const [row] = await q
    .prepared(name, (build, { contactCounts: t }, arg) =>
      build
        .select({ total: sumDeltas(t.delta) })
        .from(t)
        .where(
          and(
            eq(t.workspaceId, arg("workspaceId")),
            eq(t.tagKey, arg("tagKey")),
            status === undefined ? undefined : eq(t.status, arg("status")),
          ),
        ),
    )
    .execute({ workspaceId, tagKey, status });
  return row?.total ?? 0;
}

/**
 * Finds the block of an offset, newest contacts first: read below `before` and skip `skip` contacts, fewer than a block has.
 * Null if the offset is beyond the end.
 */
export async function findOffset(
  q: Tx | Reader,
  { workspaceId, tagKey, status }: CountScope,
  offset: number,
): Promise<{ before: number; skip: number } | null> {
  const { contactCounts: t } = q.t;
  const blocks = await q
    .select({ block: t.block, total: sumDeltas(t.delta) })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.tagKey, tagKey), status && eq(t.status, status)))
    .groupBy(t.block)
    .having(gt(sql`sum(${t.delta})`, 0))
    .orderBy(desc(t.block));
  let skip = offset;
  for (const { block, total } of blocks) {
    if (skip < total) return { before: (block + 1) * BLOCK, skip };
    skip -= total;
  }
  return null;
}

type CountRow = CountScope & { status: ContactStatus; block: number; delta: number };

/** Collects how a transaction changes the counters, to write the sums at its end in as few rows as possible. */
export class CountChanges {
  readonly #rows = new Map<string, CountRow>();

  /** Adds (`delta` 1) or removes (-1) a contact under its status, with each of its tags. */
  add({ workspaceId, seq, status, tags }: Pick<ContactRow, "workspaceId" | "seq" | "status" | "tags">, delta: 1 | -1): void {
    const block = Math.floor(seq / BLOCK);
    for (const key of [ALL, ...tagKeys(tags)]) {
      const name = `${status} ${block} ${key}`;
      const row = this.#rows.get(name);
      if (row) row.delta += delta;
      else this.#rows.set(name, { workspaceId, tagKey: key, status, block, delta });
    }
  }

  /** Writes the changes and returns the number of rows. All contacts must be of one workspace. */
  async write(tx: Tx): Promise<number> {
    const rows = [...this.#rows.values()].filter(({ delta }) => delta !== 0);
    await tx.insertAll(tx.t.contactCounts, rows);
    return rows.length;
  }
}

/**
 * Enqueues a fold now and then, with a probability proportional to the rows written. One job under a fixed key would make every
 * writer wait for every other one.
 */
export async function scheduleFold(tx: Tx, deps: ContactDeps, rows: number): Promise<void> {
  if (rows > 0 && deps.random.fraction() < rows / ROWS_PER_FOLD) await deps.queue.enqueue(tx, { kind: FOLD_JOB, payload: {} });
}

/** Folds counters, some at a time. Rows that writers add meanwhile stay: only rows that were seen are replaced. */
export function foldCounts(deps: ContactDeps): JobHandler {
  return async () => {
    const { read } = deps.db;
    const { contactCounts: t } = read.t;
    const groups = await read
      .select({
        workspaceId: t.workspaceId,
        tagKey: t.tagKey,
        status: t.status,
        block: t.block,
        last: sql<number>`max(${t.id})`.mapWith(Number),
      })
      .from(t)
      .groupBy(t.workspaceId, t.tagKey, t.status, t.block)
      .having(gt(sql`count(*)`, 1))
      .orderBy(asc(t.workspaceId), asc(t.tagKey), asc(t.status), asc(t.block))
      .limit(CHUNK);
    if (groups.length === 0) return {};
    return {
      ...(groups.length === CHUNK && { again: deps.clock.now() }),
      commit: async (tx) => {
        const folded: CountRow[] = [];
        for (const { last, ...group } of groups) {
          const rows = await tx
            .delete(t)
            .where(
              and(
                eq(t.workspaceId, group.workspaceId),
                eq(t.tagKey, group.tagKey),
                eq(t.status, group.status),
                eq(t.block, group.block),
                lte(t.id, last),
              ),
            )
            .returning({ delta: t.delta });
          const delta = rows.reduce((sum, row) => sum + row.delta, 0);
          if (delta !== 0) folded.push({ ...group, delta });
        }
        await tx.insertAll(t, folded);
      },
    };
  };
}

function sumDeltas(delta: SQL | Reader["t"]["contactCounts"]["delta"]) {
  return sql<number>`coalesce(sum(${delta}), 0)`.mapWith(Number);
}
