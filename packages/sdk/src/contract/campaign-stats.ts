import { CAMPAIGN_STATUSES, SKIP_REASONS, VARIANT_NAMES } from "./campaign-fields.ts";
import { EMAIL_STATUSES } from "./email-states.ts";
import { Instant } from "./page.ts";
import * as z from "./zod.ts";

/** Denominators of rates. `accepted`: sent, delivered or complained about. `attempted`: accepted or bounced. */
export const RATE_DENOMINATORS = ["accepted", "attempted", "uniqueOpens"] as const;
export type RateDenominator = (typeof RATE_DENOMINATORS)[number];

/** A rate with the numbers it is made of. */
export const Rate = z
  .object({
    /** 0 to 1; null while there is nothing to divide by. */
    rate: z.number().nullable(),
    count: z.int(),
    /** Denominator, and its value. */
    of: z.enum(RATE_DENOMINATORS),
    total: z.int(),
  })
  .meta({ id: "Rate" });
export type Rate = z.infer<typeof Rate>;

const Rates = z
  .object({
    /** Accepted among those attempted. */
    delivery: Rate,
    bounce: Rate,
    open: Rate,
    click: Rate,
    clickToOpen: Rate,
    unsubscribe: Rate,
    complaint: Rate,
  })
  .meta({ id: "CampaignRates" });

/** Opens or clicks: all by people, recipients with at least one, and those by machines such as scanners, which count nowhere else. */
const Reactions = z.object({ total: z.int(), unique: z.int(), machine: z.int() }).meta({ id: "Reactions" });

/** Recipients by state. They add up to `total` at every instant. */
const RecipientCounts = z
  .object({
    total: z.int(),
    ...(Object.fromEntries(EMAIL_STATUSES.map((s) => [s, z.int()])) as Record<(typeof EMAIL_STATUSES)[number], z.ZodInt>),
  })
  .meta({ id: "RecipientCounts" });

const numbers = {
  recipients: RecipientCounts,
  opens: Reactions,
  clicks: Reactions,
  /** Recipients that unsubscribed by a link of this campaign. */
  unsubscribes: z.int(),
  rates: Rates,
};

/** Counts of an hour or a day. */
export const SeriesPoint = z
  .object({
    /** The beginning of the hour or day, UTC. */
    at: Instant,
    sent: z.int(),
    delivered: z.int(),
    deferred: z.int(),
    bounced: z.int(),
    complained: z.int(),
    failed: z.int(),
    opens: z.int(),
    uniqueOpens: z.int(),
    machineOpens: z.int(),
    clicks: z.int(),
    uniqueClicks: z.int(),
    machineClicks: z.int(),
    unsubscribes: z.int(),
  })
  .meta({ id: "CampaignSeriesPoint" });
export type CampaignSeriesPoint = z.infer<typeof SeriesPoint>;

/** The statistics of a campaign (docs/campaigns.md#statistics). They change in the transactions that change what they count. */
export const CampaignStats = z
  .object({
    campaignId: z.string(),
    status: z.enum(CAMPAIGN_STATUSES),
    /** The contacts that were its audience when sending started, each of which becomes a recipient; null before. */
    audience: z.int().nullable(),
    /** Set when a campaign being sent has sent nothing for two minutes: the start of that pause and its reason. Null otherwise. */
    quiet: z.object({ since: Instant, reason: z.string() }).nullable(),
    ...numbers,
    /** Recipients that were skipped, by reason. */
    skipped: z.object(
      Object.fromEntries(SKIP_REASONS.map((reason) => [reason, z.int()])) as Record<(typeof SKIP_REASONS)[number], z.ZodInt>,
    ),
    /** The links that were clicked, the most clicked first, up to 100. */
    links: z.array(z.object({ url: z.string(), clicks: z.int(), uniqueClicks: z.int(), machineClicks: z.int() })),
    /** Hours or days in which something happened, oldest first, up to 1000. */
    series: z.array(SeriesPoint),
    /** The variants of an A/B test. */
    variants: z.array(z.object({ name: z.enum(VARIANT_NAMES), subjectLine: z.string(), winner: z.boolean(), ...numbers })),
    /** Revenue of events that name this campaign, by currency. */
    revenue: z.array(z.object({ currency: z.string(), amount: z.number(), events: z.int() })),
    computedAt: Instant,
  })
  .meta({ id: "CampaignStats" });
export type CampaignStats = z.infer<typeof CampaignStats>;

/** The result of counting a campaign anew. */
export const CampaignVerification = z
  .object({
    /** True if the statistics are what the recipients and events say. */
    correct: z.boolean(),
    recipients: z.int(),
    differences: z.array(z.object({ what: z.string(), counted: z.int(), actual: z.int() })),
  })
  .meta({ id: "CampaignVerification" });
export type CampaignVerification = z.infer<typeof CampaignVerification>;
