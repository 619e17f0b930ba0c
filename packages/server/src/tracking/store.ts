import { and, eq, inArray, lte, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import type { Tables } from "../schema.ts";

export type Engagement = Tables["engagements"]["$inferSelect"];
export type HeldClick = Tables["heldClicks"]["$inferSelect"];

const ph = sql.placeholder;

/** What is known of the opens and clicks of an email. */
export function findEngagements(q: Tx | Reader, workspaceId: string, emailId: string): Promise<Engagement[]> {
  return q
    .prepared("find_engagements", (build, { engagements: t }) =>
      build
        .select()
        .from(t)
        .where(and(eq(t.workspaceId, ph("workspaceId")), eq(t.emailId, ph("emailId"))))
        .prepare("find_engagements"),
    )
    .execute({ workspaceId, emailId });
}

/** Stores engagements that are new or were counted up. */
export async function saveEngagements(tx: Tx, rows: readonly Engagement[]): Promise<void> {
  for (const row of rows)
    await tx
      .prepared("save_engagement", (q, { engagements: t }) =>
        q
          .insert(t)
          .values({
            ...{ workspaceId: ph("workspaceId"), emailId: ph("emailId"), linkId: ph("linkId"), machine: ph("machine") },
            ...{ events: ph("events"), firstAt: ph("firstAt"), lastAt: ph("lastAt") },
          })
          .onConflictDoUpdate({
            target: [t.workspaceId, t.emailId, t.linkId, t.machine],
            set: { events: sql`excluded.events`, lastAt: sql`excluded.last_at` },
          })
          .prepare("save_engagement"),
      )
      .execute({ ...row });
}

/** Holds a click; a repeated one while it is held changes nothing. */
export async function holdClick(tx: Tx, click: HeldClick): Promise<void> {
  await tx
    .prepared("hold_click", (q, { heldClicks: t }) =>
      q
        .insert(t)
        .values({
          ...{ workspaceId: ph("workspaceId"), emailId: ph("emailId"), linkId: ph("linkId"), machine: ph("machine") },
          ...{ reason: ph("reason"), client: ph("client"), at: ph("at") },
        })
        .onConflictDoNothing()
        .prepare("hold_click"),
    )
    .execute({ ...click });
}

/** Takes the clicks of an email that are held, oldest first. */
export async function takeHeldClicks(tx: Tx, workspaceId: string, emailId: string, until: number): Promise<HeldClick[]> {
  const rows = await tx
    .prepared("take_held_clicks", (q, { heldClicks: t }) =>
      q
        .delete(t)
        .where(and(eq(t.workspaceId, ph("workspaceId")), eq(t.emailId, ph("emailId")), lte(t.at, ph("until"))))
        .returning()
        .prepare("take_held_clicks"),
    )
    .execute({ workspaceId, emailId, until });
  return rows.sort((a, b) => a.at - b.at);
}

/** Deletes what is known of the opens and clicks of emails. */
export async function deleteEngagements(tx: Tx, workspaceId: string, emailIds: readonly string[]): Promise<void> {
  for (const t of [tx.t.engagements, tx.t.heldClicks])
    await tx.delete(t).where(and(eq(t.workspaceId, workspaceId), inArray(t.emailId, [...emailIds])));
}
