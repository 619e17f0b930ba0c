import { VARIANT_NAMES } from "@mailsvc/sdk/contract";
import { and, asc, eq, isNull, sql } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { OF_CAMPAIGN, scheduleEmails, WAITING_IN_CAMPAIGN } from "../emails/emails.ts";
import type { EmailTables } from "../emails/tables.ts";
import type { JobHandler } from "../queue/queue.ts";
import { type AudienceChunk, type Candidate, clearAudience, readAudience } from "./audience.ts";
import { type CampaignRow, findCampaignRow } from "./campaigns.ts";
import { addCounts, type Delta } from "./counts.ts";
import type { CampaignDeps } from "./deps.ts";
import { enqueueFinish } from "./finish.ts";
import { enqueueSending } from "./start.ts";
import { computeAllowance } from "./throttle.ts";
import { pickVariant, pickWinner } from "./variants.ts";

type EmailRow = EmailTables["emails"]["$inferSelect"];

/** The contents of a campaign. */
interface Contents {
  /** Their ids by variant; under the empty name without an A/B test. */
  readonly ids: ReadonlyMap<string, number>;
  /** The size of the largest. */
  readonly bytes: number;
}

// Recipients released in one transaction. The next ones wait in the queue behind their mail, so no more than a few thousand are under
// way, whatever the size of the campaign.
const RELEASED = 500;

/**
 * One step of a campaign's sending: makes the next contacts of the audience recipients, and releases some recipients for delivery.
 * Both are rows of the transaction that ends the job and enqueues the next step, so a crash repeats a step as a whole or not at all.
 *
 * | campaign          | audience     | recipients wait | the step                                 | the next step           |
 * | ----------------- | ------------ | --------------- | ---------------------------------------- | ----------------------- |
 * | SENDING           | not all read | any             | adds a chunk¹, releases                  | at once                 |
 * | SENDING           | all read     | yes             | releases as many as the throttle allows  | when the throttle allows |
 * | SENDING, A/B test | all read     | undecided       | sets the time of the decision            | at that time, or when you pick |
 * | SENDING           | all read     | no              | marks the campaign as released           | none; see `finish.ts`   |
 * | PAUSED            | not all read | any             | adds a chunk                             | at once                 |
 * | PAUSED            | all read     | any             | nothing                                  | none, until it resumes  |
 * | another run or state | any       | any             | nothing                                  | none                    |
 *
 * 1. Released from the start, without a throttle or an A/B test: to release them later would write them, and all their indexes, twice.
 */
export function continueSending(deps: CampaignDeps): JobHandler {
  return async ({ payload }) => {
    const [workspaceId, campaignId] = [String(payload.workspaceId), String(payload.campaignId)];
    const seen = await findCampaignRow(deps.db.read, workspaceId, campaignId);
    if (!isUnderWay(seen, payload.run)) return {};
    const chunk = seen.expandedAt === null ? await readAudience(deps, seen) : null;
    return {
      commit: async (tx) => {
        const campaign = await findCampaignRow(tx, workspaceId, campaignId);
        // Another server may have taken this step meanwhile, or the campaign was paused, resumed or cancelled.
        if (isUnderWay(campaign, payload.run) && campaign.cursor === seen.cursor) await step(tx, deps, campaign, chunk);
      },
    };
  };
}

function isUnderWay(campaign: CampaignRow | null, run: unknown): campaign is CampaignRow {
  return campaign !== null && campaign.run === run && (campaign.status === "SENDING" || campaign.status === "PAUSED");
}

/**
 * Reads the next contacts of a cancelled campaign that are no recipients yet. Returns the work of a transaction that makes them recipients,
 * so that everybody of the audience is accounted for, and releases none; null once all are.
 */
export async function readUnread(deps: CampaignDeps, workspaceId: string, campaignId: string): Promise<((tx: Tx) => Promise<void>) | null> {
  const seen = await findCampaignRow(deps.db.read, workspaceId, campaignId);
  if (seen?.status !== "CANCELLED" || seen.expandedAt !== null) return null;
  const chunk = await readAudience(deps, seen);
  return async (tx) => {
    const campaign = await findCampaignRow(tx, workspaceId, campaignId);
    if (campaign?.status !== "CANCELLED" || campaign.expandedAt !== null || campaign.cursor !== seen.cursor) return;
    await save(tx, await addRecipients(tx, deps, campaign, chunk, await loadContents(tx, campaign)));
  };
}

async function step(tx: Tx, deps: CampaignDeps, campaign: CampaignRow, chunk: AudienceChunk | null): Promise<void> {
  const now = deps.clock.now();
  const contents = await loadContents(tx, campaign);
  let after = campaign;
  if (chunk !== null) after = await addRecipients(tx, deps, campaign, chunk, contents);
  const expanded = after.expandedAt !== null;
  let nextAt: number | null = expanded ? null : now;
  let released = false;
  if (after.status === "SENDING") {
    if (isDue(after, now)) after = { ...after, winner: await pickWinner(tx, after) };
    const allowance = computeAllowance(after.throttle, after.nextReleaseAt, now, RELEASED);
    const count = allowance.count === 0 ? 0 : await release(tx, deps, after, allowance.count, contents);
    if (count > 0 && after.throttle !== null) after = { ...after, nextReleaseAt: allowance.nextAt };
    if (expanded && count === allowance.count) nextAt = allowance.nextAt;
    else if (expanded && isUndecided(after)) {
      const { winner, decideAfterMinutes } = after.abTest as NonNullable<CampaignRow["abTest"]>;
      after = { ...after, decideAt: after.decideAt ?? now + decideAfterMinutes * 60_000 };
      nextAt = winner === "manual" ? null : after.decideAt;
    } else if (expanded) {
      after = { ...after, releasedAt: now };
      released = true;
    }
  }
  if (after !== campaign) await save(tx, after);
  if (nextAt !== null) await enqueueSending(tx, deps, after, nextAt > now ? nextAt : undefined);
  if (released) await enqueueFinish(tx, deps, after);
}

/** Stores what a step changed. It is an UPDATE of the campaign, so that it conflicts with pausing and cancelling at the same time. */
async function save(
  tx: Tx,
  { id, run, cursor, eligible, expandedAt, nextReleaseAt, releasedAt, winner, decideAt }: CampaignRow,
): Promise<void> {
  const { campaigns: t } = tx.t;
  await tx
    .update(t)
    .set({ cursor, eligible, expandedAt, nextReleaseAt, releasedAt, winner, decideAt })
    .where(and(eq(t.id, id), eq(t.run, run)));
}

/** Whether the winner of an A/B test has to be known for the rest of the recipients, and is not. */
function isUndecided({ abTest, winner }: CampaignRow): boolean {
  return abTest !== null && abTest.samplePercent < 100 && winner === null;
}

function isDue(campaign: CampaignRow, now: number): boolean {
  return isUndecided(campaign) && campaign.abTest?.winner !== "manual" && campaign.decideAt !== null && campaign.decideAt <= now;
}

/** A contact of the audience that becomes a row. */
type Recipient = Pick<EmailRow, "to" | "toKey" | "contactId" | "skipReason">;

/**
 * Makes the contacts of a chunk recipients, also those that get nothing. While the campaign is sent without a throttle or an A/B test
 * they are released. Returns the campaign as it is after that, to be saved.
 */
async function addRecipients(
  tx: Tx,
  deps: CampaignDeps,
  campaign: CampaignRow,
  chunk: AudienceChunk,
  contents: Contents,
): Promise<CampaignRow> {
  const { id: campaignId, workspaceId } = campaign;
  const now = deps.clock.now();
  const atOnce = campaign.status === "SENDING" && campaign.throttle === null && campaign.abTest === null;
  const deltas: Delta[] = [];
  let { eligible } = campaign;
  const first = [...contents.ids.values()][0] as number;
  const recipients = await listRecipients(tx, campaignId, chunk);
  const rows = recipients.map((recipient): EmailRow => {
    const { skipReason } = recipient;
    const variant = skipReason === null ? pickVariant(campaign, eligible) : null;
    if (skipReason === null) eligible += 1;
    const status = skipReason === null ? "queued" : "skipped";
    const releasedAt = atOnce && skipReason === null ? now : null;
    deltas.push({ campaignId, variant, metric: `status:${status}`, by: 1 });
    if (skipReason !== null) deltas.push({ campaignId, variant, metric: `skip:${skipReason}`, by: 1 });
    return {
      ...recipient,
      workspaceId,
      id: deps.ids("em"),
      contentsId: contents.ids.get(variant ?? "") ?? first,
      status,
      attempts: 0,
      inDoubt: false,
      relay: null,
      lastError: null,
      createdAt: now,
      scheduledAt: releasedAt,
      nextAttemptAt: releasedAt,
      sentAt: null,
      updatedAt: now,
      campaignId,
      variant,
      unlisted: null,
      name: null,
      mailId: null,
      kind: null,
    };
  });
  await tx.insertAll(tx.t.emails, rows);
  await addCounts(tx, deps, deltas, true);
  const emailIds = rows.flatMap(({ id, nextAttemptAt }) => (nextAttemptAt === null ? [] : id));
  await scheduleEmails(tx, deps, { workspaceId, emailIds, bytes: contents.bytes });
  if (chunk.next !== null) return { ...campaign, eligible, cursor: chunk.next };
  await clearAudience(tx, campaignId);
  return { ...campaign, eligible, expandedAt: now };
}

/**
 * One recipient for each contact of a chunk. A contact that was deleted since the start is skipped without its address, which is not
 * known any more. So is one that took over the address of another recipient: an address gets a campaign once.
 */
async function listRecipients(tx: Tx, campaignId: string, { seqs, candidates }: AudienceChunk): Promise<Recipient[]> {
  const bySeq = new Map(candidates.map((candidate) => [candidate.seq, candidate]));
  // Read a moment ago: who was deleted or erased since must not come back.
  const present = await listPresent(tx, candidates);
  const known = await listKnown(tx, campaignId, candidates);
  return seqs.map((seq): Recipient => {
    const candidate = bySeq.get(seq);
    if (!candidate || !present.has(seq)) return { to: "", toKey: `deleted:${seq}`, contactId: null, skipReason: "deleted" };
    const { id: contactId, email: to, emailKey: toKey, skipReason } = candidate;
    if (known.has(toKey)) return { to: "", toKey: `duplicate:${seq}`, contactId, skipReason: "duplicate" };
    return { to, toKey, contactId, skipReason };
  });
}

/** The `seq`s of candidates whose contacts are still there. */
async function listPresent(tx: Tx, candidates: readonly Candidate[]): Promise<Set<number>> {
  const rows = await tx
    .prepared("contacts_still_there", (q, { contacts: t }, arg) =>
      q
        .select({ seq: t.seq })
        .from(t)
        .where(tx.sqlDialect.amongNumbers(t.seq, arg("seqs"))),
    )
    .execute({ seqs: JSON.stringify(candidates.map(({ seq }) => seq)) });
  return new Set(rows.map(({ seq }) => seq));
}

/** The addresses of candidates that are recipients already. */
async function listKnown(tx: Tx, campaignId: string, candidates: readonly Candidate[]): Promise<Set<string>> {
  const rows = await tx
    .prepared("known_recipients", (q, { emails: t }, arg) =>
      q
        .select({ key: t.toKey })
        .from(t)
        .where(and(OF_CAMPAIGN, eq(t.campaignId, arg("campaignId")), tx.sqlDialect.among(t.toKey, arg("keys")))),
    )
    .execute({ campaignId, keys: JSON.stringify(candidates.map(({ emailKey }) => emailKey)) });
  return new Set(rows.map(({ key }) => key));
}

/** Releases up to `count` recipients for delivery. Returns how many waited and were released. */
async function release(tx: Tx, deps: CampaignDeps, campaign: CampaignRow, count: number, contents: Contents): Promise<number> {
  const { emails: t } = tx.t;
  const { id: campaignId, workspaceId, abTest, winner } = campaign;
  const names = abTest === null ? [] : VARIANT_NAMES.slice(0, abTest.variants.length);
  const groups = [...names, ...(isUndecided(campaign) ? [] : [null])];
  const now = deps.clock.now();
  let released = 0;
  for (const [i, variant] of groups.entries()) {
    // The variants of a sample share a throttle fairly.
    const share = Math.ceil((count - released) / (groups.length - i));
    const ids = await listWaiting(tx, campaignId, variant, share);
    if (ids.length === 0) continue;
    // The date of a mail is that of its release, at every attempt.
    const dated = { nextAttemptAt: now, scheduledAt: sql`coalesce(${t.scheduledAt}, ${now})` };
    const won = variant === null && winner !== null ? { variant: winner, contentsId: contents.ids.get(winner) as number } : {};
    await tx
      .update(t)
      .set({ ...dated, ...won })
      .where(and(eq(t.workspaceId, workspaceId), tx.sqlDialect.among(t.id, sql`${JSON.stringify(ids)}`)));
    if (variant === null && winner !== null)
      await addCounts(tx, deps, [{ campaignId, variant: winner, metric: "status:queued", by: ids.length, onlyVariant: true }]);
    await scheduleEmails(tx, deps, { workspaceId, emailIds: ids, bytes: contents.bytes });
    released += ids.length;
  }
  return released;
}

/** The ids of the first recipients of a variant that wait to be released. */
async function listWaiting(tx: Tx, campaignId: string, variant: string | null, limit: number): Promise<string[]> {
  const name = variant === null ? "waiting_recipients" : "waiting_recipients_of_variant";
  const rows = await tx
    .prepared(name, (q, { emails: t }, arg) =>
      q
        .select({ id: t.id })
        .from(t)
        .where(
          and(
            WAITING_IN_CAMPAIGN,
            eq(t.campaignId, arg("campaignId")),
            variant === null ? isNull(t.variant) : eq(t.variant, arg("variant")),
          ),
        )
        .orderBy(asc(t.id))
        .limit(arg("limit")),
    )
    .execute({ campaignId, limit, ...(variant !== null && { variant }) });
  return rows.map(({ id }) => id);
}

async function loadContents(tx: Tx, { id: campaignId }: CampaignRow): Promise<Contents> {
  const rows = await tx
    .prepared("contents_of_campaign", (q, { campaignContents: c, contents: t }, arg) =>
      q
        .select({
          variant: c.variant,
          id: t.id,
          bytes: sql<number>`coalesce(length(${t.html}), 0) + coalesce(length(${t.text}), 0)`.mapWith(Number),
        })
        .from(c)
        .innerJoin(t, eq(t.id, c.contentsId))
        .where(eq(c.campaignId, arg("campaignId")))
        .orderBy(asc(c.variant)),
    )
    .execute({ campaignId });
  return { ids: new Map(rows.map((row) => [row.variant, row.id])), bytes: Math.max(0, ...rows.map((row) => row.bytes)) };
}
