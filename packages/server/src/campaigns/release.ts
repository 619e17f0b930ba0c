import { VARIANT_NAMES, type VariantName } from "@mailsvc/sdk/contract";
import { and, asc, eq, gt, isNull, lte, type SQL, sql } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { BULK, type EmailRow, WAITING_IN_CAMPAIGN } from "../emails/emails.ts";
import type { CampaignDeps, CampaignRow } from "./campaigns.ts";
import type { Contents } from "./content.ts";
import { addCounts } from "./counts.ts";

/**
 * Releases up to `count` recipients for delivery. Returns how many were released: fewer only if no more of them are due. If one variant
 * needs less than its share, the others share the rest.
 */
export async function release(tx: Tx, deps: CampaignDeps, campaign: CampaignRow, count: number, contents: Contents): Promise<number> {
  let groups = await orderGroups(tx, deps, campaign, count);
  let released = 0;
  while (groups.length > 0 && released < count) {
    const unfinished: Group[] = [];
    for (const [i, group] of groups.entries()) {
      // The variants of a sample share a throttle fairly.
      const share = Math.ceil((count - released) / (groups.length - i));
      const found = share === 0 ? 0 : await releaseGroup(tx, deps, campaign, group, share, contents);
      released += found;
      if (found === share) unfinished.push(group);
    }
    groups = unfinished;
  }
  return released;
}

/**
 * Releases recipients again that were put back because their campaign was paused when they were read, if it has been resumed since: nobody
 * else looks for them.
 */
export async function releaseResumed(tx: Tx, deps: CampaignDeps, emails: readonly EmailRow[]): Promise<void> {
  const { emails: t } = tx.t;
  const now = deps.clock.now();
  const byCampaign = Map.groupBy(emails, ({ campaignId }) => campaignId ?? "");
  for (const row of await findRows(tx, tx.t.campaigns, { id: [...byCampaign.keys()] })) {
    if (row.status !== "SENDING" && row.status !== "SENT") continue;
    const { workspaceId } = row;
    const emailIds = (byCampaign.get(row.id) ?? []).map(({ id }) => id);
    await tx
      .update(t)
      .set({ nextAttemptAt: now, lane: BULK })
      .where(and(eq(t.workspaceId, workspaceId), tx.sqlDialect.among(t.id, sql`${JSON.stringify(emailIds)}`)));
    await deps.queue.announce(tx, { lane: "bulk", dueAt: now });
  }
}

/** Recipients of a variant, or those outside of the sample of an A/B test. */
type Group = VariantName | null;

/** The groups whose recipients may be released. If there are fewer releases than groups, the group with the oldest recipient is first. */
async function orderGroups(tx: Tx, { clock }: CampaignDeps, campaign: CampaignRow, count: number): Promise<Group[]> {
  const groups = listWaitingGroups(campaign);
  if (count >= groups.length) return groups;
  const heads: { group: Group; id: string }[] = [];
  for (const group of groups) {
    const [id] = await listWaiting(tx, campaign.id, group, clock.now(), 1);
    if (id !== undefined) heads.push({ group, id });
  }
  return heads.sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ group }) => group);
}

/** Releases up to `limit` recipients of a group, and returns their number. */
async function releaseGroup(
  tx: Tx,
  deps: CampaignDeps,
  { id: campaignId, workspaceId, winner }: CampaignRow,
  variant: Group,
  limit: number,
  contents: Contents,
): Promise<number> {
  const { emails: t } = tx.t;
  const now = deps.clock.now();
  const ids = await listWaiting(tx, campaignId, variant, now, limit);
  if (ids.length === 0) return 0;
  // The date of a mail is that of its release, or the time at which its reader was to get it, at every attempt.
  const dated = { nextAttemptAt: now, lane: BULK, bytes: contents.bytes, scheduledAt: sql`coalesce(${t.scheduledAt}, ${now})` };
  const won = variant === null && winner !== null ? { variant: winner, contentsId: contents.ids.get(winner) as number } : {};
  await tx
    .update(t)
    .set({ ...dated, ...won })
    .where(and(eq(t.workspaceId, workspaceId), tx.sqlDialect.among(t.id, sql`${JSON.stringify(ids)}`)));
  if (variant === null && winner !== null)
    await addCounts(tx, deps, [{ campaignId, variant: winner, metric: "recipients", by: ids.length, onlyVariant: true }]);
  await deps.queue.announce(tx, { lane: "bulk", dueAt: now });
  return ids.length;
}

/**
 * Returns the time at which the next recipients of a campaign may be released, ms: `now`, or the time they are due. Null if none wait,
 * or only for the winner.
 */
export async function findNextDue(tx: Tx, campaign: CampaignRow, now: number): Promise<number | null> {
  const { emails: t } = tx.t;
  const found: number[] = [];
  for (const variant of listWaitingGroups(campaign)) {
    const [due] = await listWaiting(tx, campaign.id, variant, now, 1);
    if (due !== undefined) return now;
    // Without a local time a time lies ahead only if the clock of the machine was put back.
    const [row] = await tx
      .select({ dueAt: t.scheduledAt })
      .from(t)
      .where(
        and(
          WAITING_IN_CAMPAIGN,
          eq(t.campaignId, campaign.id),
          variant === null ? isNull(t.variant) : eq(t.variant, variant),
          gt(t.scheduledAt, now),
        ),
      )
      .orderBy(asc(t.scheduledAt))
      .limit(1);
    if (row?.dueAt) found.push(row.dueAt);
  }
  return found.length === 0 ? null : Math.min(...found);
}

/** True if the rest of the recipients waits for the winner of an A/B test. */
export function isUndecided({ abTest, winner }: CampaignRow): boolean {
  return abTest !== null && abTest.samplePercent < 100 && winner === null;
}

/** True if recipients outside the sample wait for the winner of the A/B test. */
export async function hasRest(q: Tx, { id }: Pick<CampaignRow, "id">): Promise<boolean> {
  const { emails: t } = q.t;
  const [one] = await q
    .select({ id: t.id })
    .from(t)
    .where(and(WAITING_IN_CAMPAIGN, eq(t.campaignId, id), isNull(t.variant)))
    .limit(1);
  return one !== undefined;
}

/** The variants whose recipients may be released: null for those outside the sample, unless they wait for the winner. */
function listWaitingGroups(campaign: CampaignRow): Group[] {
  const names = campaign.abTest === null ? [] : VARIANT_NAMES.slice(0, campaign.abTest.variants.length);
  return [...names, ...(isUndecided(campaign) ? [] : [null])];
}

/**
 * The ids of recipients of a variant that wait to be released: first those whose time has come or that were put back by a pause, then
 * those without a time.
 */
async function listWaiting(tx: Tx, campaignId: string, variant: VariantName | null, now: number, limit: number): Promise<string[]> {
  const { emails: t } = tx.t;
  const list = async (name: string, timed: SQL | undefined, count: number): Promise<string[]> => {
    const rows = await tx
      .prepared(variant === null ? name : `${name}_of_variant`, (q, _, arg) =>
        q
          .select({ id: t.id })
          .from(t)
          .where(
            and(
              WAITING_IN_CAMPAIGN,
              eq(t.campaignId, arg("campaignId")),
              variant === null ? isNull(t.variant) : eq(t.variant, arg("variant")),
              timed ?? lte(t.scheduledAt, arg("now")),
            ),
          )
          .orderBy(asc(t.scheduledAt), asc(t.id))
          .limit(arg("limit")),
      )
      .execute({ campaignId, limit: count, ...(variant !== null && { variant }), ...(timed === undefined && { now }) });
    return rows.map(({ id }) => id);
  };
  const due = await list("due_recipients", undefined, limit);
  return due.length === limit ? due : [...due, ...(await list("waiting_recipients", isNull(t.scheduledAt), limit - due.length))];
}
