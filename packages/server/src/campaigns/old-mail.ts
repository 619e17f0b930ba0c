import { and, asc, eq, exists, gt, gte, inArray, isNotNull, lt, not, or, type SQL } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { deleteLabels, deleteUnusedContents, type EmailRow, OPEN } from "../emails/emails.ts";
import { firstIdAt, TEST_MAIL_FROM, toTestId } from "../lib/ids.ts";
import type { Key } from "../retention/retention.ts";
import { deleteEngagements } from "../tracking/tracking.ts";
import { findWorkspaceAfter } from "../workspaces/workspaces.ts";

/** A deleted email, as far as what belongs to it needs it. */
type Deleted = Pick<EmailRow, "id" | "contentsId" | "campaignId" | "sentAs">;

/** The next emails made before an instant (ms), by workspace, with those that stay. */
export async function listOldMail(read: Reader, after: Key | null, limit: number, before: number) {
  const found: { key: string; createdAt: number }[] = [];
  const [afterWorkspace = "", afterId = ""] = String(after ?? "").split(" ");
  const { emails: e } = read.t;
  for (let workspaceId = after === null ? await findWorkspaceAfter(read, "") : afterWorkspace; workspaceId !== null; ) {
    const from = workspaceId === afterWorkspace ? afterId : "";
    for (const range of listRanges(read, before)) {
      const rows = await read
        .select({ id: e.id, createdAt: e.createdAt })
        .from(e)
        .where(and(eq(e.workspaceId, workspaceId), gt(e.id, from), range))
        .orderBy(asc(e.id))
        .limit(limit - found.length);
      for (const { id, createdAt } of rows) found.push({ key: `${workspaceId} ${id}`, createdAt });
      if (found.length === limit) return found;
    }
    workspaceId = await findWorkspaceAfter(read, workspaceId);
  }
  return found;
}

/** Ids made before an instant: those of test mail sort after all others. */
function listRanges({ t: { emails: e } }: Reader, before: number): (SQL | undefined)[] {
  const end = firstIdAt("em", before);
  return [lt(e.id, end), and(gte(e.id, TEST_MAIL_FROM), lt(e.id, toTestId(end)))];
}

/** Deletes those of these emails that were settled before an instant (ms), with everything that is only theirs. */
export async function deleteOldMail(tx: Tx, keys: readonly Key[], before: number): Promise<undefined> {
  const { emails: e } = tx.t;
  const byWorkspace = Map.groupBy(
    keys.map((key) => String(key).split(" ")),
    ([workspaceId = ""]) => workspaceId,
  );
  for (const [workspaceId, own] of byWorkspace) {
    const ids = own.map(([, id = ""]) => id);
    const deleted = await tx
      .delete(e)
      .where(and(eq(e.workspaceId, workspaceId), inArray(e.id, ids), lt(e.updatedAt, before), not(isStaying(tx))))
      .returning({ id: e.id, contentsId: e.contentsId, campaignId: e.campaignId, sentAs: e.sentAs });
    if (deleted.length === 0) continue;
    await deleteBelongings(tx, workspaceId, deleted);
    // The contents of a campaign stay with it.
    await deleteUnusedContents(
      tx,
      workspaceId,
      deleted.filter(({ campaignId }) => campaignId === null),
    );
  }
}

/** The condition that an email stays however old it is: it is still to be sent, or in doubt, or its campaign is not over. */
function isStaying(q: Tx | Reader): SQL {
  const { emails: e, campaigns: c } = q.t;
  const current = q
    .select({ id: c.id })
    .from(c)
    .where(and(eq(c.id, e.campaignId), inArray(c.status, ["SENDING", "PAUSED"])));
  const ofCurrent = and(isNotNull(e.campaignId), exists(current));
  return or(inArray(e.status, OPEN), eq(e.inDoubt, true), ofCurrent) as SQL;
}

/** Deletes what else is known by the ids of emails. Their events stay for as long as those are kept. */
async function deleteBelongings(tx: Tx, workspaceId: string, deleted: readonly Deleted[]): Promise<void> {
  const { campaignReactions: r, campaignLinkClicks: c } = tx.t;
  const ids = deleted.map(({ id }) => id);
  await deleteLabels(tx, workspaceId, deleted);
  await deleteEngagements(tx, workspaceId, ids);
  const campaigns = [...new Set(deleted.flatMap(({ campaignId }) => campaignId ?? []))];
  if (campaigns.length === 0) return;
  await tx.delete(r).where(and(inArray(r.campaignId, campaigns), inArray(r.emailId, ids)));
  await tx.delete(c).where(and(inArray(c.campaignId, campaigns), inArray(c.emailId, ids)));
}
