import {
  type CampaignSeriesPoint,
  type CampaignStats,
  EMAIL_STATUSES,
  type EmailStatus,
  type Rate,
  type RateDenominator,
  SKIP_REASONS,
  type SkipReason,
  VARIANT_NAMES,
  type VariantName,
} from "@mailsvc/sdk/contract";
import { and, desc, eq, sql } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { OF_CAMPAIGN } from "../emails/emails.ts";
import { iso } from "../lib/clock.ts";
import { sayInstant } from "../lib/explanation.ts";
import { DAY, HOUR, MINUTE } from "../lib/units.ts";
import { type CampaignDeps, type CampaignRow, getCampaignRow } from "./campaigns.ts";
import { listVariants } from "./content.ts";
import { type Counts, type Metric, readStates, SERIES_METRICS } from "./counts.ts";
import { isUndecided } from "./release.ts";
import { findOpening } from "./sending.ts";

type Numbers = Pick<CampaignStats, "recipients" | "opens" | "clicks" | "unsubscribes" | "rates">;

const MAX_LINKS = 100;
const MAX_POINTS = 1000;

/** The statistics of a campaign, read from its counters: a few ms for any number of recipients. Throws ApiError not_found. */
export async function getStats(
  read: Reader,
  deps: Pick<CampaignDeps, "clock" | "queue">,
  workspaceId: string,
  { id, interval }: { id: string; interval: "hour" | "day" },
): Promise<CampaignStats> {
  const campaign = await getCampaignRow(read, workspaceId, id);
  const counts = await readStates(read, id);
  const { total } = counts;
  return {
    campaignId: id,
    status: campaign.status,
    audience: campaign.audience,
    quiet: await findQuiet(read, deps, campaign),
    ...toNumbers(total),
    skipped: Object.fromEntries(SKIP_REASONS.map((reason) => [reason, total.get(`skip:${reason}`) ?? 0])) as Record<SkipReason, number>,
    links: await listLinks(read, id),
    series: toSeries(counts, interval),
    variants:
      campaign.abTest === null
        ? []
        : listVariants(campaign).map(({ subjectLine }, i) => {
            const name = VARIANT_NAMES[i] as VariantName;
            return { name, subjectLine, winner: campaign.winner === name, ...toNumbers(counts.variants.get(name) ?? new Map()) };
          }),
    revenue: [...total].flatMap(([metric, n]) => {
      const currency = /^revenue:(.+)$/.exec(metric)?.[1];
      return currency === undefined ? [] : [{ currency, amount: n / 100, events: total.get(`purchases:${currency}`) ?? 0 }];
    }),
    computedAt: iso(deps.clock.now()),
  };
}

function toNumbers(metrics: ReadonlyMap<Metric, number>): Numbers {
  const get = (metric: Metric): number => metrics.get(metric) ?? 0;
  const states = Object.fromEntries(EMAIL_STATUSES.map((status) => [status, get(`status:${status}`)])) as Record<EmailStatus, number>;
  const accepted = states.sent + states.delivered + states.complained;
  const totals: Record<RateDenominator, number> = { accepted, attempted: accepted + states.bounced, uniqueOpens: get("uniqueOpens") };
  const rate = (count: number, of: RateDenominator): Rate => ({
    rate: totals[of] === 0 ? null : count / totals[of],
    count,
    of,
    total: totals[of],
  });
  return {
    recipients: { total: get("recipients"), ...states },
    opens: { total: get("opens"), unique: get("uniqueOpens"), machine: get("machineOpens") },
    clicks: { total: get("clicks"), unique: get("uniqueClicks"), machine: get("machineClicks") },
    unsubscribes: get("unsubscribes"),
    rates: {
      delivery: rate(accepted, "attempted"),
      bounce: rate(states.bounced, "attempted"),
      open: rate(get("uniqueOpens"), "accepted"),
      click: rate(get("uniqueClicks"), "accepted"),
      clickToOpen: rate(get("uniqueClicks"), "uniqueOpens"),
      unsubscribe: rate(get("unsubscribes"), "accepted"),
      complaint: rate(states.complained, "accepted"),
    },
  };
}

function toSeries({ hours }: Counts, interval: "hour" | "day"): CampaignSeriesPoint[] {
  const length = interval === "hour" ? HOUR : DAY;
  const points = new Map<number, CampaignSeriesPoint>();
  for (const [hour, metrics] of hours) {
    const at = Math.floor(hour / length) * length;
    const point = points.get(at) ?? makePoint(at);
    points.set(at, point);
    for (const [metric, n] of metrics) point[metric] += n;
  }
  return [...points.values()].slice(0, MAX_POINTS);
}

function makePoint(at: number): CampaignSeriesPoint {
  const zeros = Object.fromEntries(SERIES_METRICS.map((metric) => [metric, 0])) as Omit<CampaignSeriesPoint, "at">;
  return { at: iso(at), ...zeros };
}

async function listLinks(read: Reader, campaignId: string): Promise<CampaignStats["links"]> {
  const { campaignLinks: t } = read.t;
  const sum = (column: typeof t.clicks) => sql<number>`sum(${column})`.mapWith(Number);
  const clicks = sum(t.clicks);
  return read
    .select({ url: t.url, clicks, uniqueClicks: sum(t.uniqueClicks), machineClicks: sum(t.machineClicks) })
    .from(t)
    .where(eq(t.campaignId, campaignId))
    .groupBy(t.link, t.url)
    .orderBy(desc(clicks), t.url)
    .limit(MAX_LINKS);
}

// Shorter pauses are those of a pace, or of a server with other mail.
const QUIET_MS = 2 * MINUTE;

type QuietDeps = Pick<CampaignDeps, "clock" | "queue">;

/** Tells for what a campaign that is being sent waits, if no mail of it left for two minutes; else null. */
async function findQuiet(read: Reader, deps: QuietDeps, campaign: CampaignRow): Promise<CampaignStats["quiet"]> {
  if (campaign.status !== "SENDING") return null;
  const { events: e } = read.t;
  const [last] = await read
    .select({ at: e.at })
    .from(e)
    .where(and(eq(e.workspaceId, campaign.workspaceId), eq(e.campaignId, campaign.id), eq(e.type, "email.sent")))
    .orderBy(desc(e.at))
    .limit(1);
  // Its last change: the start, a resumption, the winner.
  const since = Math.max(last?.at ?? 0, campaign.updatedAt);
  if (deps.clock.now() - since < QUIET_MS) return null;
  return { since: iso(since), reason: await explainQuiet(read, deps, campaign) };
}

async function explainQuiet(read: Reader, { clock, queue }: QuietDeps, campaign: CampaignRow): Promise<string> {
  const { throttle, localTime, decideAt, abTest } = campaign;
  const pause = await queue.readPause(read);
  if (pause !== null) return `Sending is paused on this server${pause.reason === null ? "." : `: ${pause.reason}`}`;
  const opensAt = findOpening(throttle?.window, clock.now());
  if (opensAt > clock.now()) return `It is sent at certain hours only, which begin ${sayInstant(opensAt)}.`;
  const refusal = await findRefusal(read, campaign.id);
  if (refusal !== null) return `Mail servers asked to wait, and are tried again: ${refusal}`;
  if (isUndecided(campaign) && decideAt !== null)
    return abTest?.winner === "manual"
      ? "Its sample is out. The others get it once you pick the winner."
      : `Its sample is out. The winner is decided ${sayInstant(decideAt)}.`;
  if (localTime !== null) return `Each reader gets it when their own clock shows ${localTime.at.replace("T", " ")}.`;
  if (throttle?.perSecond !== undefined && campaign.nextReleaseAt !== null && campaign.nextReleaseAt > clock.now())
    return `Its pace releases the next email ${sayInstant(campaign.nextReleaseAt)}.`;
  return "Its mail waits behind other mail of this server.";
}

/** Answer of a mail server for which a recipient is tried again; null without such recipients. */
async function findRefusal(read: Reader, campaignId: string): Promise<string | null> {
  const { emails: t } = read.t;
  const [one] = await read
    .select({ lastError: t.lastError })
    .from(t)
    .where(and(OF_CAMPAIGN, eq(t.campaignId, campaignId), eq(t.status, "deferred")))
    .limit(1);
  return one?.lastError?.message ?? null;
}
