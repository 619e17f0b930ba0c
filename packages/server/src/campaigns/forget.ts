import { and, eq, gt, inArray, isNotNull, isNull, lte, or, sql } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { contains } from "../db/dialect.ts";
import { holdReader, positionOf } from "../events/events.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import { awaitWorkspace, writeWorkspace } from "../workspaces/workspaces.ts";
import type { CampaignDeps } from "./campaigns.ts";
import { addCounts, type Delta, isCountedState } from "./counts.ts";
import { finishReleased } from "./finish-job.ts";
import {
  CAMPAIGNS_READER,
  type CountedEvent,
  countLink,
  hashLink,
  listStateChanges,
  OF_VARIANTS,
  toRecipientEvent,
} from "./recipient-events.ts";

/**
 * Takes recipients out of the statistics of their campaigns, with everything they did, because their emails and events are deleted after
 * this: a person is erased. The remaining statistics still equal a recount.
 */
export async function forgetRecipients(tx: Tx, deps: CampaignDeps, workspaceId: string, emailIds: readonly string[]): Promise<void> {
  const { emails: t } = tx.t;
  const counted = emailIds.length === 0 ? 0 : await holdReader(tx, CAMPAIGNS_READER, workspaceId);
  for (const ids of splitIntoChunks(emailIds)) {
    const rows = await tx
      .select({ id: t.id, campaignId: t.campaignId, status: t.status, variant: t.variant, skipReason: t.skipReason })
      .from(t)
      .where(and(eq(t.workspaceId, workspaceId), inArray(t.id, [...ids]), isNotNull(t.campaignId)));
    const deltas: Delta[] = [];
    for (const row of rows) {
      const about = { campaignId: row.campaignId as string, variant: row.variant, by: -1 };
      deltas.push({ ...about, metric: "recipients" });
      if (row.skipReason !== null) deltas.push({ ...about, metric: "status:skipped" }, { ...about, metric: `skip:${row.skipReason}` });
      // Older events of a recipient that the reader has counted to the end may be deleted.
      else if (isCountedState(row.status) && !(await isUncounted(tx, row.id, counted)))
        deltas.push({ ...about, metric: `status:${row.status}` });
      else deltas.push(...(await takeStates(tx, row, counted)));
      deltas.push(...(await takeReactions(tx, deps, row.id, about, counted)));
    }
    await addCounts(tx, deps, deltas);
    const lost = new Set(rows.flatMap(({ campaignId, variant }) => (campaignId !== null && variant === null ? campaignId : [])));
    await finishReleased(tx, deps, [...lost], lost);
  }
}

/**
 * Deletes the clicked links of a workspace's campaigns whose address contains one of `texts`, in any case, or is one of `urls`, with their
 * numbers. Returns the number of deleted rows.
 */
export async function forgetLinks(tx: Tx, workspaceId: string, texts: readonly string[], urls: readonly string[]): Promise<number> {
  const { campaigns: c, campaignLinks: t } = tx.t;
  const own = tx.select({ id: c.id }).from(c).where(eq(c.workspaceId, workspaceId));
  let forgotten = 0;
  const naming = or(...texts.map((text) => contains(tx.sqlDialect, t.url, text)));
  for (const which of [naming, ...splitIntoChunks(urls).map((chunk) => inArray(t.link, chunk.map(hashLink)))])
    forgotten += (
      await tx
        .delete(t)
        .where(and(inArray(t.campaignId, own), which))
        .returning({ link: t.link })
    ).length;
  return forgotten;
}

/**
 * Makes a transaction that erases a person collide with one that makes recipients of a campaign at the same time. The later one runs again:
 * the step sees that the contact is gone, or the erasure sees the email.
 */
export async function collideWithSteps(tx: Tx, workspaceId: string): Promise<void> {
  const { campaigns: t } = tx.t;
  // A campaign that was started since this transaction began to read is not among its campaigns, but its start has changed the workspace.
  await awaitWorkspace(tx, workspaceId);
  await tx
    .update(t)
    .set({ cursor: sql`${t.cursor}` })
    .where(and(eq(t.workspaceId, workspaceId), isNull(t.expandedAt), tx.sqlDialect.concurrent));
}

/** Makes the start of a campaign collide with an erasure that has not seen the campaign. Its steps, which come later, see who is gone. */
export async function collideWithErasures(tx: Tx, workspaceId: string): Promise<void> {
  await writeWorkspace(tx, workspaceId);
}

/** True while the reader has not counted all that happened to a recipient. */
async function isUncounted(tx: Tx, emailId: string, counted: number): Promise<boolean> {
  const { events: e } = tx.t;
  const [one] = await tx
    .select({ key: e.sequence })
    .from(e)
    .where(and(eq(e.emailId, emailId), isNotNull(e.was), or(isNull(positionOf(tx.t)), gt(positionOf(tx.t), counted))))
    .limit(1);
  return one !== undefined;
}

/** Takes away the counts that were added for changes of state of a recipient. */
async function takeStates(
  tx: Tx,
  { id, variant }: { readonly id: string; readonly variant: string | null },
  counted: number,
): Promise<Delta[]> {
  const { events: e } = tx.t;
  const rows = await tx
    .select()
    .from(e)
    .where(and(eq(e.emailId, id), isNotNull(e.was), lte(positionOf(tx.t), counted)));
  return rows.flatMap((row) => toRecipientEvent(row as CountedEvent)).flatMap((event) => listStateChanges(event, variant, -1));
}

/**
 * Deletes what is stored about the opens and clicks of a recipient, and returns what it added to the statistics: by events up to the number
 * `counted`.
 */
async function takeReactions(
  tx: Tx,
  deps: CampaignDeps,
  emailId: string,
  about: Pick<Delta, "campaignId" | "variant" | "by">,
  counted: number,
): Promise<Delta[]> {
  const { events: e, campaignReactions: r, campaignLinkClicks: c } = tx.t;
  const { campaignId } = about;
  const deltas: Delta[] = [];
  const clicked = new Set<string>();
  const links = await tx
    .delete(c)
    .where(and(eq(c.campaignId, campaignId), eq(c.emailId, emailId)))
    .returning({ link: c.link });
  const unique = new Set(links.map(({ link }) => link));
  for (const row of await tx
    .select()
    .from(e)
    .where(and(eq(e.emailId, emailId), eq(e.campaignId, campaignId), lte(positionOf(tx.t), counted)))
    .orderBy(e.sequence)) {
    const [event] = toRecipientEvent(row as CountedEvent);
    if (!event || event.metric === null) continue;
    const { metric, at, url } = event;
    const variant = OF_VARIANTS.has(metric) ? about.variant : null;
    if (metric !== "unsubscribes") deltas.push({ ...about, variant, metric, at });
    if (url !== null) clicked.add(hashLink(url));
    // The first click of a link was counted as unique.
    if (metric === "clicks") await countLink(tx, deps, event, url !== null && unique.delete(hashLink(url)), -1);
    if (metric === "machineClicks") await countLink(tx, deps, event, false, -1);
  }
  await forgetUnclicked(tx, campaignId, [...clicked]);
  const [first] = await tx
    .delete(r)
    .where(and(eq(r.campaignId, campaignId), eq(r.emailId, emailId)))
    .returning();
  const { openedAt = null, clickedAt = null, unsubscribedAt = null } = first ?? {};
  if (openedAt !== null) deltas.push({ ...about, metric: "uniqueOpens", at: openedAt });
  if (clickedAt !== null) deltas.push({ ...about, metric: "uniqueClicks", at: clickedAt });
  if (unsubscribedAt !== null) deltas.push({ ...about, metric: "unsubscribes", at: unsubscribedAt });
  return deltas;
}

/** Deletes the links among `links` whose counted clicks are down to zero. Their addresses may name the person who was erased. */
async function forgetUnclicked(tx: Tx, campaignId: string, links: readonly string[]): Promise<void> {
  const { campaignLinks: t } = tx.t;
  for (const some of splitIntoChunks(links)) {
    const rows = await tx
      .select({ link: t.link })
      .from(t)
      .where(and(eq(t.campaignId, campaignId), inArray(t.link, [...some])))
      .groupBy(t.link)
      .having(sql`sum(${t.clicks}) = 0 and sum(${t.machineClicks}) = 0`);
    const unclicked = rows.map(({ link }) => link);
    if (unclicked.length > 0) await tx.delete(t).where(and(eq(t.campaignId, campaignId), inArray(t.link, unclicked)));
  }
}
