import type { CampaignVerification, EmailStatus, SkipReason } from "@mailsvc/sdk/contract";
import { and, asc, eq, gt } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { OF_CAMPAIGN } from "../emails/emails.ts";
import { ApiError } from "../lib/api-error.ts";
import { HOUR } from "../lib/units.ts";
import { getCampaignRow } from "./campaigns.ts";
import { type Counts, getOrCreate, type Metric, readCounts, type SeriesMetric, sumRecipients } from "./counts.ts";
import type { CampaignDeps } from "./deps.ts";
import { findExpiry } from "./expiry.ts";
import { OF_VARIANTS, toRecipientEvent, toRevenue } from "./recipient-events.ts";

/** A number of the statistics that is not what the rows say. */
interface Difference {
  /** Such as `status:delivered`, `opens/A` or `clicks@1735689600000`. */
  readonly what: string;
  readonly counted: number;
  readonly actual: number;
}

// Rows read by one query.
const CHUNK = 5000;

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
  const differences = await findDifferences(read, id);
  const { total } = await readCounts(read, id);
  return { correct: differences.length === 0, recipients: sumRecipients(total), differences };
}

/** Compares the statistics of a campaign with its recipients and events, all of which it reads. Empty if they agree. */
export async function findDifferences(read: Reader, campaignId: string): Promise<Difference[]> {
  const counted = flatten(await readCounts(read, campaignId));
  const actual = flatten(await recount(read, campaignId));
  const names = [...new Set([...counted.keys(), ...actual.keys()])].sort();
  return names.flatMap((what) => {
    const [c, a] = [counted.get(what) ?? 0, actual.get(what) ?? 0];
    return c === a ? [] : [{ what, counted: c, actual: a }];
  });
}

/** Counts the recipients and events of a campaign anew. */
export async function recount(read: Reader, campaignId: string): Promise<Counts> {
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
  for await (const { id, status, variant, skipReason } of readRecipients(read, campaignId)) {
    if (variant !== null) variantOf.set(id, variant);
    count(`status:${status}`, variant ?? undefined);
    if (skipReason !== null) count(`skip:${skipReason}`, variant ?? undefined);
  }
  const seen = new Set<string>();
  for await (const row of readEvents(read, campaignId)) {
    for (const { metric, by } of toRevenue(row)) total.set(metric, (total.get(metric) ?? 0) + by);
    const [event] = toRecipientEvent(row);
    if (!event) continue;
    const variant = OF_VARIANTS.has(event.metric) ? variantOf.get(event.emailId) : undefined;
    const { metric, at } = event;
    const key = `${metric} ${event.emailId}`;
    const first = !seen.has(key);
    if (metric === "opens" || metric === "clicks" || metric === "unsubscribes") seen.add(key);
    if (metric !== "unsubscribes" || first) count(metric, variant, at);
    if (metric === "opens" && first) count("uniqueOpens", variant, at);
    if (metric === "clicks" && first) count("uniqueClicks", variant, at);
  }
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
  }
}

async function* readEvents(read: Reader, campaignId: string): AsyncGenerator<Parameters<typeof toRecipientEvent>[0]> {
  const { events: t } = read.t;
  for (let after = 0; ; ) {
    const rows = await read
      .select()
      .from(t)
      .where(and(eq(t.campaignId, campaignId), gt(t.sequence, after)))
      .orderBy(asc(t.sequence))
      .limit(CHUNK);
    yield* rows as Parameters<typeof toRecipientEvent>[0][];
    const last = rows.at(-1);
    if (rows.length < CHUNK || !last) return;
    after = last.sequence;
  }
}
