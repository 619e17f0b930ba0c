import { and, asc, eq, exists, gt, gte, inArray, isNotNull, lt, not, or, type SQL } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { firstNumberOfMonth } from "../db/months.ts";
import { deleteLabels, deleteUnusedContents, type EmailRow, OPEN } from "../emails/emails.ts";
import { firstIdAt, TEST_MAIL_FROM, toTestId } from "../lib/ids.ts";
import { startOfMonth } from "../lib/month.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import { MINUTE } from "../lib/units.ts";
import type { Key, MonthsOf, StayingRow } from "../retention/retention.ts";
import { deleteEngagements } from "../tracking/tracking.ts";

// The contents of a send get their numbers one after the other, among those of sends at the same time.
const SEND_NUMBERS = 100_000;

/** A deleted email, as far as what belongs to it needs it. */
type Deleted = Pick<EmailRow, "id" | "contentsId" | "campaignId" | "sentAs">;

/** Months of emails. */
export const MONTHS_OF_MAIL: MonthsOf<"id"> = {
  key: "id",
  firstKey: (ms) => firstIdAt("em", startOfMonth(ms)),
  apart: TEST_MAIL_FROM,
  counted: false,
  listStaying: ({ db: { read }, clock }, end) => listStayingMail(read, String(end), clock.now()),
};

/** Months of contents, which go after their mail: those that other mail or a campaign still has stay. */
export const MONTHS_OF_CONTENTS: MonthsOf<"id"> = {
  key: "id",
  firstKey: firstNumberOfMonth,
  apart: null,
  counted: true,
  listStaying: ({ db: { read } }, end) => listStayingContents(read, Number(end)),
};

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

async function findWorkspaceAfter(read: Reader, after: string): Promise<string | null> {
  const { workspaces: w } = read.t;
  const [next] = await read.select({ id: w.id }).from(w).where(gt(w.id, after)).orderBy(asc(w.id)).limit(1);
  return next?.id ?? null;
}

/** Deletes those of these emails that were made before an instant (ms) and are settled, with everything that is only theirs. */
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
      .where(and(eq(e.workspaceId, workspaceId), inArray(e.id, ids), lt(e.createdAt, before), not(isStaying(tx))))
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

// More than these are deleted one by one instead: they would be copied while others wait.
const MOST_STAYING = 10_000;
// A worker that sends an email within this time may have read it already.
const SOON = 10 * MINUTE;

/**
 * The emails before an id that stay; null if there are too many of them, or some that are about to be sent or belong to a campaign that
 * is.
 */
async function listStayingMail(read: Reader, to: string, now: number): Promise<StayingRow[] | null> {
  const { emails: e } = read.t;
  const rows = await read
    .select({ workspaceId: e.workspaceId, id: e.id, campaignId: e.campaignId, status: e.status, nextAttemptAt: e.nextAttemptAt })
    .from(e)
    .where(and(lt(e.id, to), isStaying(read)))
    .limit(MOST_STAYING + 1);
  const isMoving = rows.some(
    ({ status, nextAttemptAt, campaignId }) =>
      campaignId !== null || status === "sending" || (OPEN.includes(status) && nextAttemptAt !== null && nextAttemptAt <= now + SOON),
  );
  return isMoving || rows.length > MOST_STAYING ? null : rows.map(({ workspaceId, id }) => ({ workspaceId, id }));
}

/** The contents with numbers below one that emails or campaigns still have; null if there are too many. */
async function listStayingContents(read: Reader, to: number): Promise<StayingRow[] | null> {
  const { emails: e, campaignContents: cc, contents: c } = read.t;
  const ofMail = await read
    .selectDistinct({ id: e.contentsId })
    .from(e)
    .where(lt(e.contentsId, to))
    .limit(MOST_STAYING + 1);
  const ofCampaigns = await read
    .select({ id: cc.contentsId })
    .from(cc)
    .where(lt(cc.contentsId, to))
    .limit(MOST_STAYING + 1);
  const ids = [...new Set([...ofMail, ...ofCampaigns].map(({ id }) => id))];
  if (ids.length > MOST_STAYING) return null;
  const owners: number[] = [];
  for (const chunk of splitIntoChunks(ids))
    for (const { filesOf } of await read
      .select({ filesOf: c.filesOf })
      .from(c)
      .where(and(inArray(c.id, chunk), isNotNull(c.filesOf))))
      if (filesOf !== null) owners.push(filesOf);
  // A send at the end of a month may have its other contents numbered in the next month.
  for (const { filesOf } of await read
    .selectDistinct({ filesOf: c.filesOf })
    .from(c)
    .where(and(gte(c.id, to), lt(c.id, to + SEND_NUMBERS), lt(c.filesOf, to))))
    if (filesOf !== null) owners.push(filesOf);
  return [...new Set([...ids, ...owners])].map((id) => ({ id }));
}
