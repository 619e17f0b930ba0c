import type { CampaignAudience, ResendOf, SegmentRule } from "@mailsvc/sdk/contract";
import { and, asc, eq, gt, inArray, isNull, or, type SQL } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { OF_CAMPAIGN } from "../emails/emails.ts";
import { ApiError, notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { NumberSet } from "../lib/number-set.ts";
import { DAY } from "../lib/units.ts";
import { getListRow, loadListSeqs } from "../lists/lists.ts";
import { findSegmentRow, getSegmentRow, listMatching } from "../segments/segments.ts";
import { type CampaignDeps, type CampaignRow, getCampaignRow } from "./campaigns.ts";
import { isList } from "./groups.ts";

/** Fields of a campaign that define its audience. */
type AudienceQuery = Pick<CampaignRow, "workspaceId" | "recipientType" | "segmentId" | "listId" | "include" | "exclude" | "resendOf">;

/** The contacts that a campaign goes to, as they are now. */
export interface Selection {
  /** Their `seq`s. */
  readonly contacts: NumberSet;
  /** Number of contacts that the exclusions removed. */
  readonly excluded: number;
  /** Query that selected them: see `isSelectedBy`. */
  readonly query: string;
}

type SelectionDeps = Pick<CampaignDeps, "clock" | "config">;

const SUBSCRIBED: SegmentRule = { field: "status", operator: "equals", value: "SUBSCRIBED" };

/**
 * Selects the contacts that a campaign goes to, a few thousand at a time, so that others run between: some seconds for a million. A change
 * made meanwhile may count or not; a change committed before the call counts. Throws ApiError not_found for a list, segment or campaign
 * that does not exist, and invalid_state for a campaign to send again whose recipients are not known any more.
 */
export async function selectAudience(
  read: Reader,
  deps: SelectionDeps,
  campaign: AudienceQuery,
  subscribedOnly = false,
): Promise<Selection> {
  const { workspaceId } = campaign;
  const context = { q: read, workspaceId, now: deps.clock.now(), listSeqs: await loadListSeqs(read, workspaceId) };
  const contacts = new NumberSet();
  const walk = async (part: AsyncIterable<readonly number[]>, use: (seqs: readonly number[]) => void): Promise<void> => {
    for await (const seqs of part) {
      use(seqs);
      // Other work runs between two queries: on SQLite a query blocks the process.
      await deps.clock.real.sleep(0);
    }
  };
  const add = (seqs: readonly number[]): void => contacts.add(seqs);
  if (campaign.resendOf === null)
    for (const rule of await listRules(read, campaign))
      await walk(listMatching(context, subscribedOnly ? addRule(rule, SUBSCRIBED) : rule), add);
  else {
    assertRecipientsKept(deps, await getCampaignRow(read, workspaceId, campaign.resendOf.campaignId));
    await walk(listRecipientsOf(read, workspaceId, campaign.resendOf, subscribedOnly), add);
  }
  const all = contacts.size;
  for (const id of campaign.exclude)
    await walk(listMatching(context, await getGroupRule(read, workspaceId, id)), (seqs) => contacts.delete(seqs));
  return { contacts, excluded: all - contacts.size, query: describeQuery(campaign) };
}

/** True if a selection still fits the campaign, which may have been changed since. */
export function isSelectedBy({ query }: Selection, campaign: AudienceQuery): boolean {
  return query === describeQuery(campaign);
}

/** Counts who would get a campaign if it were sent now. Throws ApiError not_found for the campaign, and what `selectAudience` throws. */
export async function estimateAudience(read: Reader, deps: SelectionDeps, workspaceId: string, id: string): Promise<CampaignAudience> {
  const campaign = await getCampaignRow(read, workspaceId, id);
  const { contacts, excluded } = await selectAudience(read, deps, campaign);
  const subscribed = await selectAudience(read, deps, campaign, true);
  return { contacts: contacts.size, subscribed: subscribed.contacts.size, excluded, computedAt: iso(deps.clock.now()) };
}

/** Throws ApiError not_found for a list, segment or campaign that a campaign names and that does not exist. */
export async function assertAudienceExists(q: Tx | Reader, campaign: AudienceQuery): Promise<void> {
  await listRules(q, campaign);
  for (const id of campaign.exclude) await getGroupRule(q, campaign.workspaceId, id);
  if (campaign.resendOf !== null) await getCampaignRow(q, campaign.workspaceId, campaign.resendOf.campaignId);
}

function describeQuery({ recipientType, segmentId, listId, include, exclude, resendOf }: AudienceQuery): string {
  return JSON.stringify([recipientType, segmentId, listId, include, exclude, resendOf]);
}

/** Rules that contacts of the audience match, one for each list or segment; `[null]` for all contacts. */
async function listRules(q: Tx | Reader, { workspaceId, recipientType, segmentId, listId, include }: AudienceQuery) {
  if (recipientType === "list" && listId !== null) return [await getListRule(q, workspaceId, listId)];
  if (recipientType === "segment" && segmentId !== null) return [(await getSegmentRow(q, workspaceId, segmentId)).rules];
  if (recipientType !== "groups") return recipientType === "resend" ? [] : [null];
  const rules: SegmentRule[] = [];
  for (const id of include) rules.push(await getGroupRule(q, workspaceId, id));
  return rules;
}

/** Returns the rule that matches the contacts of a list or segment. Throws ApiError not_found. */
async function getGroupRule(q: Tx | Reader, workspaceId: string, id: string): Promise<SegmentRule> {
  if (isList(id)) return getListRule(q, workspaceId, id);
  const segment = await findSegmentRow(q, workspaceId, id);
  if (segment === null) throw notFound(id.startsWith("seg_") ? "segment" : "list or segment", id);
  return segment.rules;
}

async function getListRule(q: Tx | Reader, workspaceId: string, id: string): Promise<SegmentRule> {
  await getListRow(q, workspaceId, id);
  return { field: "lists", operator: "contains", value: id };
}

function addRule(rule: SegmentRule | null, also: SegmentRule): SegmentRule {
  return rule === null ? also : { all: [rule, also] };
}

const ACCEPTED = ["sent", "delivered"] as const;
const NOT_REACHED = ["bounced", "failed", "suppressed", "skipped", "cancelled"] as const;

// Recipients read by one query.
const WINDOW = 2000;

/** The `seq`s of contacts that were recipients of a campaign and are still there. */
async function* listRecipientsOf(
  read: Reader,
  workspaceId: string,
  { campaignId, to }: ResendOf,
  subscribedOnly: boolean,
): AsyncGenerator<readonly number[]> {
  const { emails: e, campaignReactions: r, contacts: c } = read.t;
  const neither = and(isNull(r.openedAt), isNull(r.clickedAt));
  const reacted: Record<ResendOf["to"], SQL | undefined> = { not_opened: neither, not_clicked: isNull(r.clickedAt), failed: undefined };
  const condition = and(or(isNull(r.emailId), reacted[to]), subscribedOnly ? eq(c.status, "SUBSCRIBED") : undefined);
  for (const status of to === "failed" ? NOT_REACHED : ACCEPTED)
    for (let after = ""; ; ) {
      const ids = await read
        .select({ id: e.id })
        .from(e)
        .where(and(OF_CAMPAIGN, eq(e.campaignId, campaignId), eq(e.status, status), gt(e.id, after)))
        .orderBy(asc(e.id))
        .limit(WINDOW);
      const rows = await read
        .select({ seq: c.seq })
        .from(e)
        .innerJoin(c, eq(c.id, e.contactId))
        .leftJoin(r, and(eq(r.campaignId, campaignId), eq(r.emailId, e.id)))
        .where(
          and(
            eq(e.workspaceId, workspaceId),
            inArray(
              e.id,
              ids.map(({ id }) => id),
            ),
            condition,
          ),
        );
      yield rows.map(({ seq }) => seq);
      if (ids.length < WINDOW) break;
      after = ids.at(-1)?.id ?? after;
    }
}

type ExpiryDeps = Pick<CampaignDeps, "config" | "clock">;

/** After how many days this server deletes these records, if some of a campaign may be deleted already; else null. */
export function findExpiry(
  { config, clock }: ExpiryDeps,
  { startedAt }: Pick<CampaignRow, "startedAt">,
  records: readonly (keyof CampaignDeps["config"]["keepDays"])[],
): number | null {
  const days = Math.min(...records.map((kind) => config.keepDays[kind] ?? Number.POSITIVE_INFINITY));
  return startedAt !== null && startedAt < clock.now() - days * DAY ? days : null;
}

/** Throws ApiError invalid_state for a campaign of which it may not be known any more who got it. */
export function assertRecipientsKept(deps: ExpiryDeps, campaign: Pick<CampaignRow, "startedAt" | "status">): void {
  // Mail of a campaign that is being sent is never deleted.
  const days = campaign.status === "SENDING" || campaign.status === "PAUSED" ? null : findExpiry(deps, campaign, ["emails"]);
  if (days !== null)
    throw new ApiError(
      "invalid_state",
      `The campaign to send again started over ${days} days ago, and this server deletes mail after that time (--keep), so who got it is not known any more.`,
      { hint: "Duplicate the campaign and send it to a list or a segment: mailsvc campaigns duplicate" },
    );
}
