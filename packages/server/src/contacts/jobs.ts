import { and, asc, eq, gt, lte, sql } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import type { JobHandler } from "../queue/queue.ts";

/** Folds the rows of each count into one. */
export const FOLD_JOB = "contacts.fold-counts";

// Rows of counts between two foldings, on average. Reading a count sums what lies there: some µs.
const ROWS_BETWEEN = 500;
// Counts folded in one transaction.
const CHUNK = 500;

/**
 * Asks for the counts to be folded, now and then: by chance, in proportion to the rows written. One job under a fixed key
 * would make every writer wait for every other one.
 */
export async function foldCountsSoon(tx: Tx, deps: Deps, rows: number): Promise<void> {
  if (rows > 0 && deps.random.fraction() < rows / ROWS_BETWEEN) await deps.queue.enqueue(tx, { kind: FOLD_JOB, payload: {} });
}

/** Folds counts, some at a time. What writers add meanwhile stays as it is: only rows that were seen are replaced. */
export function foldCounts(deps: Deps): JobHandler {
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
        const folded = [];
        for (const { last, ...of } of groups) {
          const rows = await tx
            .delete(t)
            .where(
              and(
                eq(t.workspaceId, of.workspaceId),
                eq(t.tagKey, of.tagKey),
                eq(t.status, of.status),
                eq(t.block, of.block),
                lte(t.id, last),
              ),
            )
            .returning({ delta: t.delta });
          const delta = rows.reduce((sum, row) => sum + row.delta, 0);
          if (delta !== 0) folded.push({ ...of, delta });
        }
        await tx.insertAll(t, folded);
      },
    };
  };
}
