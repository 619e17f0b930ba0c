import { and, eq, lte, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import type { TrackingTables } from "./tables.ts";

export type Engagement = TrackingTables["engagements"]["$inferSelect"];
export type HeldRequest = TrackingTables["heldRequests"]["$inferSelect"];

/** Loads the opens and clicks of an email. */
export function findEngagements(q: Tx | Reader, workspaceId: string, emailId: string): Promise<Engagement[]> {
  return findRows(q, q.t.engagements, { workspaceId, emailId });
}

/** Stores engagements that are new or were counted up. */
export async function saveEngagements(tx: Tx, rows: readonly Engagement[]): Promise<void> {
  for (const row of rows)
    await tx
      .prepared("save_engagement", (q, { engagements: t }, arg) =>
        q
          .insert(t)
          .values({
            ...{ workspaceId: arg("workspaceId"), emailId: arg("emailId"), linkId: arg("linkId"), machine: arg("machine") },
            ...{ events: arg("events"), firstAt: arg("firstAt"), lastAt: arg("lastAt") },
          })
          .onConflictDoUpdate({
            target: [t.workspaceId, t.emailId, t.linkId, t.machine],
            set: { events: sql`excluded.events`, lastAt: sql`excluded.last_at` },
          }),
      )
      .execute({ ...row });
}

/** Holds an open or a click; a repeated one while it is held changes nothing. */
export async function holdRequest(tx: Tx, request: HeldRequest): Promise<void> {
  await tx
    .prepared("hold_request", (q, { heldRequests: t }, arg) =>
      q
        .insert(t)
        .values({
          ...{ workspaceId: arg("workspaceId"), emailId: arg("emailId"), linkId: arg("linkId"), machine: arg("machine") },
          ...{ reason: arg("reason"), client: arg("client"), at: arg("at") },
        })
        .onConflictDoNothing(),
    )
    .execute({ ...request });
}

/** Takes the opens and clicks of an email that are held, oldest first. */
export async function takeHeldRequests(tx: Tx, workspaceId: string, emailId: string, until: number): Promise<HeldRequest[]> {
  const rows = await tx
    .prepared("take_held_requests", (q, { heldRequests: t }, arg) =>
      q
        .delete(t)
        .where(and(eq(t.workspaceId, arg("workspaceId")), eq(t.emailId, arg("emailId")), lte(t.at, arg("until"))))
        .returning(),
    )
    .execute({ workspaceId, emailId, until });
  return rows.sort((a, b) => a.at - b.at);
}
