import { EMAIL_STATUSES, type EmailStatus, type SkipReason } from "@mailsvc/sdk/contract";
import { and, count, eq, inArray } from "drizzle-orm";
import { COUNTER_PARTS, type CounterChange, getCounters, incrementCounters } from "../counters/counters.ts";
import type { Reader, Tx } from "../db/db.ts";
import { OF_CAMPAIGN, OPEN } from "../emails/emails.ts";
import { HOUR } from "../lib/units.ts";
import type { CampaignDeps } from "./campaigns.ts";

/** Metrics that are counted by hour: events, not states. */
export const SERIES_METRICS = [
  "sent",
  "delivered",
  "deferred",
  "bounced",
  "complained",
  "failed",
  "opens",
  "uniqueOpens",
  "machineOpens",
  "clicks",
  "uniqueClicks",
  "machineClicks",
  "unsubscribes",
] as const;
export type SeriesMetric = (typeof SERIES_METRICS)[number];

/** The states that are counted: the others are those of few rows, and what is left of the recipients. */
const COUNTED_STATES: readonly EmailStatus[] = EMAIL_STATUSES.filter((status) => !OPEN.includes(status));

/** Counted in total, and for each variant of an A/B test. */
export type Metric =
  | SeriesMetric
  | "recipients"
  | `status:${EmailStatus}`
  | `skip:${SkipReason}`
  | `revenue:${string}`
  | `purchases:${string}`;

/** A change of the statistics of a campaign. */
export interface Delta {
  readonly campaignId: string;
  readonly metric: Metric;
  readonly by: number;
  /** The variant of the recipient; null outside of A/B tests. */
  readonly variant: string | null;
  /** Time of the event (ms), for metrics that are counted by hour. */
  readonly at?: number;
  /** True to leave the totals: a recipient that was counted without a variant gets one. */
  readonly onlyVariant?: true;
}

/**
 * Changes the statistics of campaigns, in the transaction of what is counted. The steps of a campaign's sending, of which one runs at a
 * time, have a part of the counters to themselves (`ofStep`): with those of concurrent deliveries, each fifth step ran again.
 */
export async function addCounts(
  tx: Tx,
  deps: Pick<CampaignDeps, "queue" | "random">,
  deltas: readonly Delta[],
  ofStep: boolean = false,
): Promise<void> {
  const changes = new Map<string, Map<string, number>>();
  for (const { campaignId, metric, by, variant, at, onlyVariant } of deltas) {
    const sums = changes.get(campaignId) ?? new Map<string, number>();
    changes.set(campaignId, sums);
    const add = (kind: string): void => void sums.set(kind, (sums.get(kind) ?? 0) + by);
    if (!onlyVariant) add(metric);
    if (variant !== null) add(`${metric}/${variant}`);
    if (at !== undefined) add(`${metric}@${Math.floor(at / HOUR)}`);
  }
  // Transactions of several servers take different parts of a counter, so that they rarely wait for each other.
  const seq = ofStep || deps.queue.workers === null ? 0 : 1 + Math.floor(deps.random.fraction() * (COUNTER_PARTS - 1));
  // In the same order for all transactions, so that two of them cannot deadlock.
  for (const [campaignId, sums] of [...changes].sort(([a], [b]) => (a < b ? -1 : 1)))
    await incrementCounters(
      tx,
      campaignId,
      [...sums].map(([kind, by]): CounterChange => ({ kind, seq, by })),
    );
}

/** The statistics of a campaign, as counted. */
export interface Counts {
  readonly total: ReadonlyMap<Metric, number>;
  readonly variants: ReadonlyMap<string, ReadonlyMap<Metric, number>>;
  /** By the start of the hour, ms, in ascending order. */
  readonly hours: ReadonlyMap<number, ReadonlyMap<SeriesMetric, number>>;
}

/** Reads the counters of a campaign. Counters that are zero may be absent. */
export async function readCounts(q: Tx | Reader, campaignId: string): Promise<Counts> {
  const total = new Map<Metric, number>();
  const variants = new Map<string, Map<Metric, number>>();
  const hours = new Map<number, Map<SeriesMetric, number>>();
  for (const [kind, n] of (await getCounters(q, [campaignId])).get(campaignId) ?? []) {
    if (n === 0) continue;
    const [metric = "", at] = kind.split("@");
    const [name, variant] = metric.split("/");
    if (at !== undefined) getOrCreate(hours, Number(at) * HOUR).set(metric as SeriesMetric, n);
    else if (variant !== undefined) getOrCreate(variants, variant).set(name as Metric, n);
    else total.set(metric as Metric, n);
  }
  return { total, variants, hours: new Map([...hours].sort(([a], [b]) => a - b)) };
}

/** The counts that a skipped recipient adds to the statistics, besides being a recipient. */
export function listSkip({ campaignId, variant, reason }: { campaignId: string; variant: string | null; reason: SkipReason }): Delta[] {
  return (["status:skipped", `skip:${reason}`] as const).map((metric) => ({ campaignId, variant, metric, by: 1 }));
}

/** True for a state that is counted. */
export function isCountedState(status: EmailStatus): boolean {
  return COUNTED_STATES.includes(status);
}

/** The statistics of a campaign with all states of its recipients: those that are not counted are taken from the rows. */
export async function readStates(read: Reader, campaignId: string): Promise<Counts> {
  const { total, variants, hours } = await readCounts(read, campaignId);
  const { emails: t } = read.t;
  const open = await read
    .select({ status: t.status, variant: t.variant, n: count() })
    .from(t)
    .where(and(OF_CAMPAIGN, eq(t.campaignId, campaignId), inArray(t.status, ["sending", "deferred"])))
    .groupBy(t.status, t.variant);
  const complete = (metrics: ReadonlyMap<Metric, number>, own: typeof open): Map<Metric, number> => {
    const all = new Map(metrics);
    for (const { status, n } of own) all.set(`status:${status}`, (all.get(`status:${status}`) ?? 0) + n);
    const known = [...all].reduce((sum, [metric, n]) => (metric.startsWith("status:") ? sum + n : sum), 0);
    // Less than nothing while the reader of events is behind the rows.
    return all.set("status:queued", Math.max(0, (all.get("recipients") ?? 0) - known));
  };
  return {
    total: complete(total, open),
    variants: new Map(
      [...variants].map(([name, metrics]) => [
        name,
        complete(
          metrics,
          open.filter(({ variant }) => variant === name),
        ),
      ]),
    ),
    hours,
  };
}

/** The entry of a map of maps. */
export function getOrCreate<K, L, V>(map: Map<K, Map<L, V>>, key: K): Map<L, V> {
  const known = map.get(key) ?? new Map<L, V>();
  map.set(key, known);
  return known;
}
