import type { ContactStatus } from "@mailsvc/sdk/contract";
import { and, desc, eq, gt, type SQL, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { BLOCK } from "./counts.ts";

/** Which contacts are meant: those with a tag (`ALL` for any) and, if given, in a status. */
export interface Scope {
  workspaceId: string;
  tagKey: string;
  status?: ContactStatus | undefined;
}

const ph = sql.placeholder;
type ContactCountDelta = Reader["t"]["contactCounts"]["delta"];

/** How many contacts there are, from their counts: contacts themselves are not read. */
export async function countOf(q: Tx | Reader, { workspaceId, tagKey, status }: Scope): Promise<number> {
  const name = status === undefined ? "count_contacts" : "count_contacts_by_status";
  const [row] = await q
    .prepared(name, (build, { contactCounts: t }) =>
      build
        .select({ total: sum(t.delta) })
        .from(t)
        .where(
          and(
            eq(t.workspaceId, ph("workspaceId")),
            eq(t.tagKey, ph("tagKey")),
            status === undefined ? undefined : eq(t.status, ph("status")),
          ),
        )
        .prepare(name),
    )
    .execute({ workspaceId, tagKey, status });
  return row?.total ?? 0;
}

/**
 * Where an offset lies, newest first: below which number to begin, and how many contacts to skip from there, fewer than a
 * block has. Null beyond the end.
 */
export async function placeOf(
  q: Tx | Reader,
  { workspaceId, tagKey, status }: Scope,
  offset: number,
): Promise<{ before: number; skip: number } | null> {
  const { contactCounts: t } = q.t;
  const blocks = await q
    .select({ block: t.block, total: sum(t.delta) })
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

function sum(delta: SQL | ContactCountDelta) {
  return sql<number>`coalesce(sum(${delta}), 0)`.mapWith(Number);
}
