import { and, eq, inArray, lte } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import type { Tables } from "../schema.ts";

export type Engagement = Tables["engagements"]["$inferSelect"];
export type HeldClick = Tables["heldClicks"]["$inferSelect"];

/** What is known of the opens and clicks of an email. */
export function findEngagements(q: Tx | Reader, workspaceId: string, emailId: string): Promise<Engagement[]> {
  const { engagements: t } = q.t;
  return Promise.resolve(
    q
      .select()
      .from(t)
      .where(and(eq(t.workspaceId, workspaceId), eq(t.emailId, emailId))),
  );
}

/** Stores engagements that are new or were counted up. */
export async function saveEngagements(tx: Tx, rows: readonly Engagement[]): Promise<void> {
  const { engagements: t } = tx.t;
  for (const row of rows)
    await tx
      .insert(t)
      .values(row)
      .onConflictDoUpdate({ target: [t.workspaceId, t.emailId, t.linkId, t.machine], set: { events: row.events, lastAt: row.lastAt } });
}

/** Holds a click; a repeated one while it is held changes nothing. */
export async function holdClick(tx: Tx, click: HeldClick): Promise<void> {
  await tx.insert(tx.t.heldClicks).values(click).onConflictDoNothing();
}

/** Takes the clicks of an email that are held, oldest first. */
export async function takeHeldClicks(tx: Tx, workspaceId: string, emailId: string, until: number): Promise<HeldClick[]> {
  const { heldClicks: t } = tx.t;
  const rows = await tx
    .delete(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.emailId, emailId), lte(t.at, until)))
    .returning();
  return rows.sort((a, b) => a.at - b.at);
}

/** Deletes what is known of the opens and clicks of emails. */
export async function deleteEngagements(tx: Tx, workspaceId: string, emailIds: readonly string[]): Promise<void> {
  for (const t of [tx.t.engagements, tx.t.heldClicks])
    await tx.delete(t).where(and(eq(t.workspaceId, workspaceId), inArray(t.emailId, [...emailIds])));
}
