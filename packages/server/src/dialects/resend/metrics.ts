import { contract, explainMissingDate, type MailCounts } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { ApiError, invalid } from "../../lib/api-error.ts";
import { DAY } from "../../lib/units.ts";
import { drop, type Operation, readOperation } from "../operation.ts";
import { idOf } from "./ids.ts";

/** Resend's metrics, as far as mail is counted so here. */
const METRICS: Readonly<Record<string, (counts: MailCounts) => number | null>> = {
  sent: ({ sent }) => sent,
  delivered: ({ delivered }) => delivered,
  delivery_delayed: ({ deferred }) => deferred,
  bounced: ({ bounced }) => bounced,
  bounced_permanent: ({ hardBounced }) => hardBounced,
  bounced_transient: ({ softBounced }) => softBounced,
  bounced_undetermined: ({ bounced, hardBounced, softBounced }) => Math.max(0, bounced - hardBounced - softBounced),
  complained: ({ complained }) => complained,
  suppressed: ({ suppressed }) => suppressed,
  failed: ({ failed }) => failed,
  unsubscribed: ({ unsubscribed }) => unsubscribed,
  opened: ({ opens }) => opens,
  clicked: ({ clicks }) => clicks,
  unique_opened: ({ opened }) => opened,
  unique_clicked: ({ clicked }) => clicked,
  delivery_rate: ({ sent, delivered }) => (sent === 0 ? null : delivered / sent),
  open_rate: ({ rates }) => rates.open,
  click_rate: ({ rates }) => rates.click,
  bounce_rate: ({ rates }) => rates.bounce,
  complaint_rate: ({ rates }) => rates.complaint,
  unsubscribe_rate: ({ rates }) => rates.unsubscribe,
};

const INTERVALS = { hourly: "hour", daily: "day" } as const;

// The range without dates: seven days that end now.
const USUAL_DAYS = 6;

const Names = z.string().transform((text) => text.split(","));
const Query = z.object({
  start_date: z.string().optional(),
  end_date: z.string().optional(),
  timezone: z.string().default("UTC"),
  granularity: z.enum(["hourly", "daily", "weekly", "monthly"]).default("daily"),
  metrics: Names.optional(),
  dimensions: Names.optional(),
  domain_id: idOf("domains").optional(),
  email_id: idOf("emails").optional(),
  broadcast_id: idOf("broadcasts").optional(),
});

/** `GET /emails/metrics`: how much mail was sent, and what became of it. */
export const getMetrics: Operation = readOperation({
  path: "/emails/metrics",
  note: "whole days, by hour or day, of all mail or of one broadcast; rates are shares of 0 to 1; received is not counted",
  query: Query,
  run: async (query, { deps, read }) => {
    const { granularity, dimensions = [], timezone: zone, broadcast_id: campaign } = query;
    const byPeriod = assertSupported(query, dimensions);
    const names = query.metrics ?? Object.keys(METRICS);
    for (const name of names)
      if (!Object.hasOwn(METRICS, name)) throw invalid("metrics", "invalid_value", `metrics: there is no ${JSON.stringify(name)} here.`);
    const end = readDate("end_date", query.end_date) ?? deps.clock.now();
    const start = readDate("start_date", query.start_date) ?? end - USUAL_DAYS * DAY;
    const [from, to] = [toDay(start), toDay(end)];
    const interval = !byPeriod ? "all" : granularity === "hourly" ? INTERVALS.hourly : INTERVALS.daily;
    const { total, data } = await read(contract.metrics.get, { from, to, zone, interval, ...drop({ campaign }) });
    const pick = (counts: MailCounts) => Object.fromEntries(names.map((name) => [name, METRICS[name]?.(counts) ?? 0]));
    return {
      ...{ object: "metrics", start_date: new Date(start).toISOString(), end_date: new Date(end).toISOString() },
      ...{ metrics: names, dimensions, granularity, totals: pick(total) },
      ...(byPeriod && { data: data.map((row) => ({ period: row.from, ...pick(row) })) }),
    };
  },
});

/** Throws ApiError not_implemented for what mail is not divided or filtered by. Returns true if it is divided by time. */
function assertSupported({ domain_id, email_id, granularity }: z.output<typeof Query>, dimensions: readonly string[]): boolean {
  const other = dimensions.find((dimension) => dimension !== "period");
  if (other !== undefined) throw notHere(`the dimension ${other}`);
  if (domain_id !== undefined) throw notHere("domain_id");
  if (email_id !== undefined) throw notHere("email_id");
  const byPeriod = dimensions.length > 0;
  if (byPeriod && !(granularity in INTERVALS)) throw notHere(`the granularity ${granularity}`);
  return byPeriod;
}

function notHere(what: string): ApiError {
  return new ApiError("not_implemented", `Metrics have no ${what} here.`, {
    hint: "Other divisions of mail: mailsvc metrics get --by domain.",
  });
}

function readDate(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const at = Date.parse(text);
  const missing = explainMissingDate(text);
  if (missing !== null) throw invalid(name, "invalid_format", `${name}: ${missing}`);
  if (Number.isNaN(at)) throw invalid(name, "invalid_format", `${name} must be an ISO 8601 date or time.`);
  return at;
}

function toDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
