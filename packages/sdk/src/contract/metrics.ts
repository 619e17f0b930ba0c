import { SoughtAddress } from "./address.ts";
import { endpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { Instant, LocalDate } from "./page.ts";
import { TagFilter } from "./send-fields.ts";
import { TimeZone } from "./time-of-day.ts";
import * as z from "./zod.ts";

/** Properties by which mail is counted. */
export const METRICS_DIMENSIONS = ["tag", "sender", "domain", "relay", "campaign", "template"] as const;
export type MetricsDimension = (typeof METRICS_DIMENSIONS)[number];

/** The lengths of the parts of a period. */
export const METRICS_INTERVALS = ["hour", "day", "all"] as const;
export type MetricsInterval = (typeof METRICS_INTERVALS)[number];

export const METRICS_LIMITS = limits("metrics", "Numbers of mail", {
  days: [400, "days of one question"],
  daysByHour: [31, "days of one question, by the hour"],
  values: [100, "values of a property in one answer"],
});

const Share = z.number().nullable();

/** Counts of mail in a span of time. Opens and clicks by machines are in no other number than their own. */
const counts = {
  accepted: z.int(),
  /** Handed over to the next mail server. */
  sent: z.int(),
  delivered: z.int(),
  /** Attempts that were refused for now. */
  deferred: z.int(),
  bounced: z.int(),
  hardBounced: z.int(),
  softBounced: z.int(),
  complained: z.int(),
  failed: z.int(),
  suppressed: z.int(),
  cancelled: z.int(),
  /** Emails that a person opened, and clicked in; each once. */
  opened: z.int(),
  clicked: z.int(),
  opens: z.int(),
  clicks: z.int(),
  machineOpens: z.int(),
  machineClicks: z.int(),
  unsubscribed: z.int(),
  /** Delay of emails, from their due time until they were handed over; null if none was. Shares are 0 to 1. */
  handOver: z
    .object({
      averageMs: z.int(),
      within1s: z.number(),
      within10s: z.number(),
      within1m: z.number(),
      within10m: z.number(),
      within1h: z.number(),
    })
    .meta({ id: "HandOver" })
    .nullable(),
  /** Shares, 0 to 1; null while there is nothing to divide by. */
  rates: z
    .object({
      /** Share of the emails handed over or refused for good. */
      bounce: Share,
      /** Share of the emails handed over. */
      complaint: Share,
      open: Share,
      click: Share,
      unsubscribe: Share,
    })
    .meta({ id: "MailRates" }),
};

export const MailCounts = z.object(counts).meta({ id: "MailCounts" });
export type MailCounts = z.infer<typeof MailCounts>;

/** Counts of a part of the period, for all mail or for mail with one value. */
export const MetricsRow = z
  .object({
    /** Beginning and end of this part of the period. */
    from: Instant,
    to: Instant,
    /** A value of `by`; null for all mail, and for the rest of it behind the most frequent values. */
    value: z.string().nullable(),
    ...counts,
  })
  .meta({ id: "MetricsRow" });
export type MetricsRow = z.infer<typeof MetricsRow>;

export const MetricsReport = z
  .object({
    from: Instant,
    to: Instant,
    zone: z.string(),
    interval: z.enum(METRICS_INTERVALS),
    by: z.enum(METRICS_DIMENSIONS).nullable(),
    total: MailCounts,
    /** Oldest first, and in each part the most frequent values first. With `by`, only what is not zero. */
    data: z.array(MetricsRow),
  })
  .meta({ id: "MetricsReport" });
export type MetricsReport = z.infer<typeof MetricsReport>;

/** The result of counting mail anew. */
export const MetricsVerification = z
  .object({
    /** True if the numbers are what the events say. */
    correct: z.boolean(),
    from: Instant,
    to: Instant,
    events: z.int(),
    /** Days of which mail was deleted since (`--keep emails`): there only the numbers of all mail are compared. */
    daysWithoutMail: z.int(),
    /** Up to 100. */
    differences: z.array(z.object({ what: z.string(), counted: z.int(), actual: z.int() })),
  })
  .meta({ id: "MetricsVerification" });
export type MetricsVerification = z.infer<typeof MetricsVerification>;

/** Rates that have limits. */
export const RATE_ALARMS = ["bounce", "complaint"] as const;
export type RateKind = (typeof RATE_ALARMS)[number];

/** The limits of a rate, and how it is. */
export const RateAlarm = z
  .object({
    /** Share, 0 to 1, from which you are warned, and from which campaigns pause; null for never. */
    warn: Share,
    pause: Share,
    /** The rate now, of so many emails: bounces of the last 24 hours, complaints of the last 7 days; null without mail. */
    rate: Share,
    mails: z.int(),
    state: z.enum(["OK", "WARNED", "PAUSED"]),
    /** Beginning of a state other than OK. */
    since: Instant.nullable(),
  })
  .meta({ id: "RateAlarm" });
export type RateAlarm = z.infer<typeof RateAlarm>;

export const MailLimits = z
  .object({
    /** Emails from which on a rate counts. */
    leastMails: z.int(),
    bounce: RateAlarm,
    complaint: RateAlarm,
  })
  .meta({ id: "MailLimits" });
export type MailLimits = z.infer<typeof MailLimits>;

const Limit = (description: string) => z.number().gt(0).max(1).nullable().optional().meta({ description });

const period = {
  from: LocalDate.optional().meta({ description: "First day; 30 days that end with `to` when absent" }),
  to: LocalDate.optional().meta({ description: "Last day; today when absent" }),
};

const id = z.string().min(1).max(100);

export const metrics = {
  get: endpoint({
    method: "GET",
    path: "/api/v1/metrics",
    access: { permission: "events:read" },
    tool: "metrics_get",
    summary: "Show how much mail was sent, delivered, opened, bounced and complained about",
    description: `Each number is of what happened in that time: an email that was sent on Monday and opened on Tuesday counts on both days. With \`by\`, mail is divided by one of its properties; a filter leaves the mail with one value of it. Numbers outlive the mail and events they are of. Mail of test keys is counted apart. Up to ${METRICS_LIMITS.days} days, by the hour up to ${METRICS_LIMITS.daysByHour}.`,
    query: z.object({
      ...period,
      zone: TimeZone.optional().meta({
        description: "Time zone in which days begin, such as Europe/Berlin; that of the workspace's brand when absent",
      }),
      interval: z.enum(METRICS_INTERVALS).default("day").meta({ description: "Length of the parts of the period; `all` for one part" }),
      by: z.enum(METRICS_DIMENSIONS).optional().meta({
        description: "Divide mail by this; a domain is `gmail`, `microsoft` or `yahoo` where these receive its mail",
      }),
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(METRICS_LIMITS.values)
        .default(20)
        .meta({ description: "Values of `by`, the most frequent first; the rest is counted together" }),
      tag: TagFilter.optional().meta({ description: "Only mail with this tag: name=value", examples: ["kind=report"] }),
      sender: SoughtAddress.optional().meta({ description: "Only mail from this address" }),
      domain: z.string().min(1).max(253).optional().meta({ description: "Only mail to this domain, or to gmail, microsoft or yahoo" }),
      relay: id.optional().meta({ description: "Only mail by this relay" }),
      campaign: id.optional().meta({ description: "Only mail of this campaign (its id)" }),
      template: id.optional().meta({ description: "Only mail by this template (its slug)" }),
      test: z.stringbool().optional().meta({ description: "Only mail of test keys (true)" }),
    }),
    output: MetricsReport,
    examples: [
      { summary: "The last 30 days, by day" },
      { summary: "By receiver", query: { interval: "all", by: "domain" } },
      { summary: "A day by the hour", query: { from: "2026-01-31", to: "2026-01-31", interval: "hour", zone: "Europe/Berlin" } },
    ],
  }),
  limits: endpoint({
    method: "GET",
    path: "/api/v1/metrics/limits",
    access: { permission: "events:read" },
    summary: "Show the limits of bounces and complaints, and how near you are",
    description:
      "Campaigns pause when too much mail bounces or is reported as spam, until a person resumes one; all other mail goes on. Mail of test keys never counts.",
    output: MailLimits,
    examples: [{ summary: "The rates and their limits" }],
  }),
  setLimits: endpoint({
    method: "PATCH",
    path: "/api/v1/metrics/limits",
    access: { permission: "campaigns:write" },
    mailsTo: "nobody",
    summary: "Set the limits of bounces and complaints",
    description: "Limits are shares, 0 to 1; null for none. What you leave out stays.",
    body: z.strictObject({
      leastMails: z
        .int()
        .min(1)
        .max(1_000_000)
        .optional()
        .meta({ description: "Emails from which on a rate counts; 200 unless you set it" }),
      bounceWarn: Limit("Share of bounces that warns; 0.05 unless you set it"),
      bouncePause: Limit("Share of bounces that pauses campaigns; 0.1 unless you set it"),
      complaintWarn: Limit("Share of complaints that warns; 0.001 unless you set it"),
      complaintPause: Limit("Share of complaints that pauses campaigns; 0.003 unless you set it"),
    }),
    output: MailLimits,
    examples: [{ summary: "Pause at 8 % bounces", body: { bouncePause: 0.08 } }],
  }),
  verify: endpoint({
    method: "GET",
    path: "/api/v1/metrics/verify",
    access: { permission: "events:read" },
    summary: "Count all events of some days anew and compare",
    description:
      "Days are those of UTC. Reads all events of the days: minutes for a million emails. Days whose events the server may have deleted since (`--keep`) are refused.",
    query: z.object(period),
    output: MetricsVerification,
    errors: ["invalid_state"],
    examples: [{ summary: "The last 30 days" }],
  }),
};
