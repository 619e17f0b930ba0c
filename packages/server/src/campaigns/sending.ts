import { findNextTimeOfDay, type Throttle, toLocalTime } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { assumeContactHeld, type HeldContactId } from "../db/held.ts";
import { announceEmails, BULK, type EmailRow, insertEmails, OF_CAMPAIGN } from "../emails/emails.ts";
import { MINUTE } from "../lib/units.ts";
import type { JobHandler } from "../queue/queue.ts";
import { type AudienceChunk, type Candidate, clearAudience, readAudience } from "./audience.ts";
import { type CampaignDeps, type CampaignRow, findCampaignRow } from "./campaigns.ts";
import { type Contents, loadContents } from "./content.ts";
import { addCounts, type Delta, listSkip } from "./counts.ts";
import { enqueueFinish } from "./finish-job.ts";
import { findNextDue, hasRest, isUndecided, release } from "./release.ts";
import { enqueueSending } from "./start.ts";
import { countSample, pickVariant, pickWinner } from "./variants.ts";

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
 * | SENDING, local time | all read   | not due yet     | releases those that are due              | when the next ones are due |
 * | SENDING, A/B test | all read     | for the winner² | sets the time of the decision            | at that time, or when you pick |
 * | SENDING           | all read     | no              | marks the campaign as released           | none; see `finish.ts`   |
 * | PAUSED            | not all read | any             | adds a chunk                             | at once                 |
 * | PAUSED            | all read     | any             | nothing                                  | none, until it resumes  |
 * | another run or state | any       | any             | nothing                                  | none                    |
 *
 * 1. Released from the start, without a throttle, an A/B test or a local time: to release them later would write them, and all their
 *    indexes, twice.
 * 2. A test that cannot compare, because fewer than two recipients are in its sample, is decided at once, unless you pick the winner.
 */
export function continueSending(deps: CampaignDeps): JobHandler {
  return async ({ payload }) => {
    const [workspaceId, campaignId] = [String(payload.workspaceId), String(payload.campaignId)];
    const seen = await findCampaignRow(deps.db.read, workspaceId, campaignId);
    if (!isUnderWay(seen, payload.run)) return {};
    // The statistics decide an A/B test.
    if (isUndecided(seen)) await deps.eventStream.settle(workspaceId);
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
    const rest = expanded && isUndecided(after) && (await hasRest(tx, after));
    if (isDue(after, now) || (rest && isPointless(after))) after = { ...after, winner: await pickWinner(tx, after) };
    const allowance = computeAllowance(after.throttle, after.nextReleaseAt, now, RELEASED);
    const count = allowance.count === 0 ? 0 : await release(tx, deps, after, allowance.count, contents);
    if (count > 0 && after.throttle !== null) after = { ...after, nextReleaseAt: allowance.nextAt };
    // Asked of the rows: that fewer were released than allowed says nothing of how many are left.
    const dueAt = expanded ? await findNextDue(tx, after, now) : null;
    if (dueAt !== null) nextAt = Math.max(dueAt, allowance.nextAt);
    else if (rest && isUndecided(after)) {
      const { winner, decideAfterMinutes } = after.abTest as NonNullable<CampaignRow["abTest"]>;
      after = { ...after, decideAt: after.decideAt ?? now + decideAfterMinutes * MINUTE };
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

function isDue(campaign: CampaignRow, now: number): boolean {
  return isUndecided(campaign) && campaign.abTest?.winner !== "manual" && campaign.decideAt !== null && campaign.decideAt <= now;
}

/** True if the sample of an A/B test is too small to compare variants, so that waiting would not change the winner. */
function isPointless(campaign: CampaignRow): boolean {
  return isUndecided(campaign) && campaign.abTest?.winner !== "manual" && countSample(campaign, campaign.eligible) < 2;
}

/** A contact of the audience that becomes a row. */
interface Recipient extends Pick<EmailRow, "to" | "toKey" | "skipReason"> {
  /** Held by the campaign, which the step changes: an erasure collides there, see `collideWithSteps`. */
  readonly contactId: HeldContactId | null;
  /** Earliest time of its release, ms; null for a campaign without a local time. */
  readonly dueAt: number | null;
}

/**
 * Makes the contacts of a chunk recipients, also those that get nothing. While the campaign is sent without a throttle, an A/B test
 * or a local time they are released. Returns the campaign as it is after that, to be saved.
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
  const atOnce = campaign.status === "SENDING" && campaign.throttle === null && campaign.abTest === null && campaign.localTime === null;
  const deltas: Delta[] = [];
  let { eligible } = campaign;
  const first = [...contents.ids.values()][0] as number;
  const recipients = await listRecipients(tx, campaignId, chunk);
  const rows = recipients.map(({ dueAt, ...recipient }) => {
    const { skipReason } = recipient;
    const variant = skipReason === null ? pickVariant(campaign, eligible) : null;
    if (skipReason === null) eligible += 1;
    const status = skipReason === null ? ("queued" as const) : ("skipped" as const);
    const releasedAt = atOnce && skipReason === null ? now : null;
    deltas.push({ campaignId, variant, metric: "recipients", by: 1 });
    if (skipReason !== null) deltas.push(...listSkip({ campaignId, variant, reason: skipReason }));
    return {
      ...recipient,
      workspaceId,
      id: deps.ids("em"),
      contentsId: contents.ids.get(variant ?? "") ?? first,
      status,
      createdAt: now,
      scheduledAt: dueAt ?? releasedAt,
      nextAttemptAt: releasedAt,
      lane: releasedAt === null ? null : BULK,
      bytes: contents.bytes,
      campaignId,
      variant,
    };
  });
  const emails = await insertEmails(tx, rows);
  await addCounts(tx, deps, deltas, true);
  await announceEmails(tx, deps, emails);
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
    if (!candidate || !present.has(seq)) return { to: "", toKey: `deleted:${seq}`, contactId: null, skipReason: "deleted", dueAt: null };
    const { id: contactId } = assumeContactHeld(candidate);
    const { email: to, emailKey: toKey, skipReason, dueAt } = candidate;
    if (known.has(toKey)) return { to: "", toKey: `duplicate:${seq}`, contactId, skipReason: "duplicate", dueAt: null };
    return { to, toKey, contactId, skipReason, dueAt };
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

/** Number of emails that may be released now. */
interface Allowance {
  /** At most as many as were asked for. */
  readonly count: number;
  /** Time of the next release, ms. */
  readonly nextAt: number;
}

/**
 * Computes how many of `wanted` emails a campaign may release at `now`, and the time of its next release. `nextReleaseAt` is the
 * `nextAt` of the last call. Emails that were not sent while the server was down are not made up for.
 */
export function computeAllowance(throttle: Throttle | null, nextReleaseAt: number | null, now: number, wanted: number): Allowance {
  const opensAt = findOpening(throttle?.window, now);
  if (opensAt > now) return { count: 0, nextAt: opensAt };
  const perSecond = throttle?.perSecond;
  if (perSecond === undefined) return { count: wanted, nextAt: now };
  if (nextReleaseAt !== null && nextReleaseAt > now) return { count: 0, nextAt: nextReleaseAt };
  const count = Math.min(wanted, Math.max(1, Math.floor(perSecond)));
  return { count, nextAt: now + Math.ceil((count * 1000) / perSecond) };
}

/** `now` (ms) within a window of hours or without one; otherwise when to look again: the next time it should open. */
export function findOpening(window: Throttle["window"], now: number): number {
  if (window === undefined) return now;
  const [start, end] = [toMinutes(window.start), toMinutes(window.end)];
  const { minutes } = toLocalTime(now, window.timeZone);
  // A window such as 22:00 to 06:00 holds midnight.
  const open = start < end ? minutes >= start && minutes < end : minutes >= start || minutes < end;
  // Later than now: the clocks may just have been put forward over the whole window.
  return open ? now : findNextTimeOfDay(now + 1, start, window.timeZone);
}

function toMinutes(time: string): number {
  const [hours = "0", minutes = "0"] = time.split(":");
  return Number(hours) * 60 + Number(minutes);
}
