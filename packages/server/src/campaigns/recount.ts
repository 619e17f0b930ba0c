import { type CampaignVerification, type EmailStatus, type EventType, parseEventTypes, type SkipReason } from "@mailsvc/sdk/contract";
import { and, asc, eq, gt, gte, or } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { OF_CAMPAIGN } from "../emails/emails.ts";
import { ApiError } from "../lib/api-error.ts";
import { forEachInTurns, waitForTurn } from "../lib/turn.ts";
import { HOUR } from "../lib/units.ts";
import { type CampaignDeps, getCampaignRow } from "./campaigns.ts";
import { type Counts, getOrCreate, isCountedState, type Metric, readCounts, type SeriesMetric } from "./counts.ts";
import { type CountedEvent, OF_VARIANTS, toRecipientEvent, toRevenue } from "./recipient-events.ts";
import { findExpiry } from "./selection.ts";

/** A number of the statistics that is not what the rows say. */
interface Difference {
  /** Such as `status:delivered`, `opens/A` or `clicks@1735689600000`. */
  readonly what: string;
  readonly counted: number;
  readonly actual: number;
}

// Rows read by one query: a few ms, after which others have their turn.
const CHUNK = 1000;

/** The campaign that is counted. */
interface Counted {
  readonly workspaceId: string;
  readonly id: string;
}

/** Counts a campaign anew and compares. Throws ApiError not_found, and invalid_state for one whose mail may be deleted already. */
export async function verifyCampaign(
  read: Reader,
  deps: Pick<CampaignDeps, "config" | "clock">,
  workspaceId: string,
  id: string,
): Promise<CampaignVerification> {
  const days = findExpiry(deps, await getCampaignRow(read, workspaceId, id), ["emails", "events"]);
  if (days !== null)
    throw new ApiError(
      "invalid_state",
      `This campaign started over ${days} days ago, and this server deletes mail or events after that time (--keep), so there is nothing to count anew. Its statistics stay.`,
    );
  const differences = await findDifferences(read, { workspaceId, id });
  const { total } = await readCounts(read, id);
  return { correct: differences.length === 0, recipients: total.get("recipients") ?? 0, differences };
}

/** Compares the statistics of a campaign with its recipients and events, all of which it reads. Empty if they agree. */
export async function findDifferences(read: Reader, campaign: Counted): Promise<Difference[]> {
  const counted = flatten(await readCounts(read, campaign.id));
  const actual = flatten(await recount(read, campaign));
  const names = [...new Set([...counted.keys(), ...actual.keys()])].sort();
  return names.flatMap((what) => {
    const [c, a] = [counted.get(what) ?? 0, actual.get(what) ?? 0];
    return c === a ? [] : [{ what, counted: c, actual: a }];
  });
}

/** The first event of a recipient, of one kind. */
interface First {
  readonly sequence: number;
  readonly at: number;
}

type EventRow = CountedEvent & { readonly sequence: number };

/** Counts the recipients and events of a campaign anew. */
async function recount(read: Reader, campaign: Counted): Promise<Counts> {
  const total = new Map<Metric, number>();
  const variants = new Map<string, Map<Metric, number>>();
  const hours = new Map<number, Map<SeriesMetric, number>>();
  const variantOf = new Map<string, string>();
  const add = <K>(map: Map<K, number>, key: K): void => {
    map.set(key, (map.get(key) ?? 0) + 1);
  };
  const count = (metric: Metric, variant: string | undefined, at?: number): void => {
    add(total, metric);
    if (variant !== undefined) add(getOrCreate(variants, variant), metric);
    if (at !== undefined) add(getOrCreate(hours, Math.floor(at / HOUR) * HOUR), metric as SeriesMetric);
  };
  for await (const { id, status, variant, skipReason } of readRecipients(read, campaign.id)) {
    if (variant !== null) variantOf.set(id, variant);
    count("recipients", variant ?? undefined);
    if (isCountedState(status)) count(`status:${status}`, variant ?? undefined);
    if (skipReason !== null) count(`skip:${skipReason}`, variant ?? undefined);
  }
  // The first recorded event of each recipient: a unique open belongs to the hour of the first open.
  const firsts = { opens: new Map<string, First>(), clicks: new Map<string, First>(), unsubscribes: new Map<string, First>() };
  for await (const row of readEvents(read, campaign)) {
    for (const { metric, by } of toRevenue(row)) total.set(metric, (total.get(metric) ?? 0) + by);
    const [event] = toRecipientEvent(row);
    if (!event) continue;
    const { metric, at, emailId } = event;
    if (metric === "opens" || metric === "clicks" || metric === "unsubscribes") {
      const first = firsts[metric].get(emailId);
      if (!first || row.sequence < first.sequence) firsts[metric].set(emailId, { sequence: row.sequence, at });
    }
    if (metric !== null && metric !== "unsubscribes") count(metric, OF_VARIANTS.has(metric) ? variantOf.get(emailId) : undefined, at);
  }
  const countFirsts = (metric: SeriesMetric, of: ReadonlyMap<string, First>): Promise<void> =>
    forEachInTurns(of, ([emailId, { at }]) => count(metric, variantOf.get(emailId), at));
  await countFirsts("uniqueOpens", firsts.opens);
  await countFirsts("uniqueClicks", firsts.clicks);
  await countFirsts("unsubscribes", firsts.unsubscribes);
  return { total, variants, hours };
}

function flatten({ total, variants, hours }: Counts): Map<string, number> {
  const all = new Map<string, number>(total);
  for (const [variant, metrics] of variants) for (const [metric, n] of metrics) all.set(`${metric}/${variant}`, n);
  for (const [hour, metrics] of hours) for (const [metric, n] of metrics) all.set(`${metric}@${hour}`, n);
  return all;
}

async function* readRecipients(
  read: Reader,
  campaignId: string,
): AsyncGenerator<{ id: string; status: EmailStatus; variant: string | null; skipReason: SkipReason | null }> {
  const { emails: t } = read.t;
  for (let after = ""; ; ) {
    const rows = await read
      .select({ id: t.id, status: t.status, variant: t.variant, skipReason: t.skipReason, toKey: t.toKey })
      .from(t)
      .where(and(OF_CAMPAIGN, eq(t.campaignId, campaignId), gt(t.toKey, after)))
      .orderBy(asc(t.toKey))
      .limit(CHUNK);
    yield* rows;
    const last = rows.at(-1);
    if (rows.length < CHUNK || !last) return;
    after = last.toKey;
    await waitForTurn();
  }
}

/** The events of a campaign, one type after the other: so the index of its events has them in their order. */
async function* readEvents(read: Reader, campaign: Counted): AsyncGenerator<EventRow> {
  for (const type of parseEventTypes(undefined)) {
    for (let after: EventRow | undefined; ; ) {
      const rows = await selectEvents(read, campaign, type, after);
      yield* rows;
      after = rows.at(-1);
      if (rows.length < CHUNK) break;
      await waitForTurn();
    }
  }
}

function selectEvents(read: Reader, { workspaceId, id }: Counted, type: EventType, after: EventRow | undefined): Promise<EventRow[]> {
  const { events: t } = read.t;
  const later = after && and(gte(t.at, after.at), or(gt(t.at, after.at), gt(t.sequence, after.sequence)));
  return read
    .select()
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), read.sqlDialect.rarely(eq(t.campaignId, id)), eq(t.type, type), later))
    .orderBy(asc(t.at), asc(t.sequence))
    .limit(CHUNK) as Promise<EventRow[]>;
}
