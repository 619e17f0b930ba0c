import type { CampaignAudience, SegmentRule, SkipReason } from "@mailsvc/sdk/contract";
import { AddressError, parseAddress } from "@mailsvc/sdk/contract";
import { and, asc, eq, gt } from "drizzle-orm";
import { type ContactRow, explainNoMail } from "../contacts/contacts.ts";
import type { Reader, Tx } from "../db/db.ts";
import { iso } from "../lib/clock.ts";
import { getListRow, loadListSeqs } from "../lists/lists.ts";
import { getSegmentRow, groupMatching, type MatchGroup } from "../segments/segments.ts";
import { findSuppressions } from "../suppressions/suppressions.ts";
import { type CampaignRow, getCampaignRow } from "./campaigns.ts";
import type { CampaignDeps } from "./deps.ts";

/** A contact as it becomes a recipient. */
export interface Candidate extends Pick<ContactRow, "seq" | "id" | "email" | "emailKey"> {
  /** Why it gets nothing; null if it gets the campaign. */
  readonly skipReason: SkipReason | null;
}

/** The next part of an audience. */
export interface AudienceChunk {
  /** The `seq`s of its contacts, in ascending order. */
  readonly seqs: readonly number[];
  /** Those of them that still exist. */
  readonly candidates: readonly Candidate[];
  /** Where to continue; null at the end. */
  readonly next: number | null;
}

/** Who is asked for: what a campaign says of its recipients. */
export type AudienceQuery = Pick<CampaignRow, "workspaceId" | "segmentId" | "listId">;

/**
 * Fixes who gets a campaign: writes down the contacts that are its audience in this transaction, some bytes for each. Returns their
 * number. Throws ApiError not_found for a segment or list that does not exist.
 */
export async function pinAudience(tx: Tx, deps: Pick<CampaignDeps, "clock">, campaign: AudienceQuery & { id: string }): Promise<number> {
  let size = 0;
  for await (const groups of groupAudience(tx, deps, campaign)) {
    await tx.insertAll(
      tx.t.campaignAudience,
      groups.map(({ last, seqs }) => ({ campaignId: campaign.id, last, seqs })),
    );
    size += sumCounts(groups);
    await tx.breathe();
  }
  return size;
}

/** Counts who would get a campaign if it were sent now. Throws ApiError not_found for the campaign, its segment or its list. */
export async function estimateAudience(
  read: Reader,
  deps: Pick<CampaignDeps, "clock">,
  workspaceId: string,
  id: string,
): Promise<CampaignAudience> {
  const campaign = await getCampaignRow(read, workspaceId, id);
  const count = async (also?: SegmentRule): Promise<number> => {
    let size = 0;
    for await (const groups of groupAudience(read, deps, campaign, also)) {
      size += sumCounts(groups);
      // Other work runs between two queries: on SQLite a query blocks the process.
      await deps.clock.real.sleep(0);
    }
    return size;
  };
  const contacts = await count();
  const subscribed = await count({ field: "status", operator: "equals", value: "SUBSCRIBED" });
  return { contacts, subscribed, computedAt: iso(deps.clock.now()) };
}

/** Reads the next contacts of a campaign's audience after its cursor, each with the reason why it gets nothing. */
export async function readAudience(deps: Pick<CampaignDeps, "db" | "recipientsAtOnce">, campaign: CampaignRow): Promise<AudienceChunk> {
  const { read } = deps.db;
  const { workspaceId } = campaign;
  const { seqs, next } = await readSeqs(read, campaign, deps.recipientsAtOnce);
  const rows =
    seqs.length === 0
      ? []
      : await read
          .prepared("contacts_of_audience", (q, { contacts: c }, arg) =>
            q
              .select({ seq: c.seq, id: c.id, email: c.email, emailKey: c.emailKey, status: c.status })
              .from(c)
              .where(and(eq(c.workspaceId, arg("workspaceId")), read.sqlDialect.amongNumbers(c.seq, arg("seqs"))))
              .orderBy(asc(c.seq)),
          )
          .execute({ workspaceId, seqs: JSON.stringify(seqs) });
  return { seqs, candidates: await judge(read, workspaceId, rows), next };
}

/** Forgets the contacts of an audience, once all of them are recipients. */
export async function clearAudience(tx: Tx, campaignId: string): Promise<void> {
  const { campaignAudience: t } = tx.t;
  await tx.delete(t).where(eq(t.campaignId, campaignId));
}

async function* groupAudience(
  q: Tx | Reader,
  { clock }: Pick<CampaignDeps, "clock">,
  query: AudienceQuery,
  also?: SegmentRule,
): AsyncGenerator<readonly MatchGroup[]> {
  const { workspaceId } = query;
  const rules = [...(await listRules(q, query)), ...(also ? [also] : [])];
  const [only = null] = rules;
  const rule = rules.length > 1 ? { all: rules } : only;
  yield* groupMatching({ q, workspaceId, now: clock.now(), listSeqs: await loadListSeqs(q, workspaceId) }, rule);
}

/** What a contact of the audience matches: nothing, the list or the segment. */
async function listRules(q: Tx | Reader, { workspaceId, segmentId, listId }: AudienceQuery): Promise<SegmentRule[]> {
  if (segmentId !== null) return [(await getSegmentRow(q, workspaceId, segmentId)).rules];
  if (listId === null) return [];
  await getListRow(q, workspaceId, listId);
  return [{ field: "lists", operator: "contains", value: listId }];
}

function sumCounts(groups: readonly MatchGroup[]): number {
  return groups.reduce((sum, { count }) => sum + count, 0);
}

/** Up to `limit` contacts of an audience after the campaign's cursor. */
async function readSeqs(
  read: Reader,
  { id: campaignId, cursor }: CampaignRow,
  limit: number,
): Promise<{ seqs: readonly number[]; next: number | null }> {
  const { campaignAudience: t } = read.t;
  // Two groups are enough where contacts are dense; in an installation with many workspaces a group may hold one contact only.
  for (let groups = 2; ; groups *= 4) {
    const rows = await read
      .select({ seqs: t.seqs })
      .from(t)
      .where(and(eq(t.campaignId, campaignId), gt(t.last, cursor)))
      .orderBy(asc(t.last))
      .limit(groups);
    const after = rows.flatMap((row) => row.seqs.split(",").map(Number)).filter((seq) => seq > cursor);
    const seqs = after.sort((a, b) => a - b).slice(0, limit);
    if (seqs.length === limit) return { seqs, next: seqs.at(-1) ?? null };
    if (rows.length < groups) return { seqs, next: null };
  }
}

const BY_SUPPRESSION: Readonly<Record<string, SkipReason>> = { unsubscribe: "unsubscribed", bounce: "bounced", complaint: "complained" };

async function judge(
  read: Reader,
  workspaceId: string,
  rows: readonly Pick<ContactRow, "seq" | "id" | "email" | "emailKey" | "status">[],
): Promise<Candidate[]> {
  const keys = rows.map((row) => row.emailKey);
  const suppressed = await findSuppressions(read, workspaceId, keys);
  return rows.map(({ status, ...contact }): Candidate => {
    const suppression = suppressed.get(contact.emailKey);
    const suppressedAs = suppression ? (BY_SUPPRESSION[suppression.reason] ?? "suppressed") : null;
    return { ...contact, skipReason: explainNoMail({ status }) ?? suppressedAs ?? (isAddress(contact.email) ? null : "invalid") };
  });
}

/** Whether a stored address can still get mail: rules of addresses may have become stricter since. */
function isAddress(email: string): boolean {
  try {
    parseAddress(email);
    return true;
  } catch (error) {
    if (error instanceof AddressError) return false;
    throw error;
  }
}
