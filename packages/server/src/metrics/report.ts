import {
  addressKey,
  type MailCounts,
  METRICS_DIMENSIONS,
  type MetricsDimension,
  type MetricsReport,
  type MetricsRow,
} from "@mailsvc/sdk/contract";
import { and, eq, gte, lte } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { invalid } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { DAY } from "../lib/units.ts";
import { getBrand } from "../workspaces/workspaces.ts";
import { INDEX, type Metric, QUARTER } from "./counting.ts";
import type { MailMetricsDeps } from "./deps.ts";
import { addDay } from "./packed-day.ts";
import { findPart, type Period, readPeriod } from "./period.ts";
import { receiverOf } from "./receivers.ts";
import { loadReceivers } from "./receivers-job.ts";
import { type DayRange, OTHER } from "./rows.ts";
import type { MetricsTables } from "./tables.ts";

/** A question about the numbers. It has one of the filters at most. */
type MetricsQuestion = Pick<MetricsReport, "interval"> & {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly zone?: string | undefined;
  readonly by?: MetricsDimension | undefined;
  readonly limit: number;
  readonly test: boolean;
} & { readonly [Dimension in MetricsDimension]?: string | undefined };

/** Numbers of a value in each part of a period. */
type Parts = Map<number, number[]>;

/** Answers from the rows of the days. Throws ApiError validation_error. */
export async function getMetrics(
  read: Reader,
  { clock }: MailMetricsDeps,
  workspaceId: string,
  question: MetricsQuestion,
): Promise<MetricsReport> {
  const { by = null, interval, limit, test } = question;
  const zone = question.zone ?? (await getBrand(read, workspaceId)).timezone;
  const period = readPeriod(question, zone, clock.now());
  const filter = await findReceiver(read, readFilter(question));
  const { bounds } = period;
  const [start, end] = [bounds[0] as number, bounds.at(-1) as number];
  const days = { test, from: Math.floor(start / DAY), to: Math.floor((end - 1) / DAY) };
  const [ofAll, ofValues] = await Promise.all([
    sumUp(
      read,
      workspaceId,
      { ...days, dimension: filter?.dimension ?? "all" },
      period,
      filter?.dimension === "domain" ? undefined : filter?.value,
    ),
    by === null ? null : sumUp(read, workspaceId, { ...days, dimension: by }, period),
  ]);
  const all = filter === null ? ofAll.get(OTHER) : ofAll.get(filter.value);
  const instants = bounds.map(iso);
  const parts = bounds.slice(0, -1);
  const toRow = (part: number, value: string | null, numbers: readonly number[] | undefined): MetricsRow => ({
    from: instants[part] as string,
    to: instants[part + 1] as string,
    value,
    ...toCounts(numbers ?? []),
  });
  const data =
    ofValues === null
      ? parts.map((_, part) => toRow(part, null, all?.get(part)))
      : listShown(ofValues, limit)
          .flatMap(([value, own]) => [...own].map(([part, numbers]) => ({ part, value, numbers })))
          .sort((a, b) => a.part - b.part)
          .map(({ part, value, numbers }) => toRow(part, value, numbers));
  return { from: iso(start), to: iso(end), zone, interval, by, total: toCounts(addAll([...(all?.values() ?? [])])), data };
}

interface Filter {
  readonly dimension: MetricsDimension;
  readonly value: string;
}

function readFilter(question: MetricsQuestion): Filter | null {
  const given = METRICS_DIMENSIONS.filter((dimension) => question[dimension] !== undefined);
  const [dimension, second] = given;
  if (dimension === undefined) return null;
  if (second !== undefined)
    throw invalid(second, "one_filter", `Numbers are kept by ${dimension} and by ${second}, not by both at once. Leave one of them out.`);
  if (question.by !== undefined)
    throw invalid(
      "by",
      "one_filter",
      `Numbers are kept by ${dimension} and by ${question.by}, not by both at once. Leave one of them out.`,
    );
  const text = question[dimension] as string;
  return { dimension, value: dimension === "sender" ? addressKey(text) : dimension === "domain" ? text.toLowerCase() : text };
}

const NONE: ReadonlyMap<string, string> = new Map();

/** A filter by a domain whose mail a large receiver takes is one by that receiver. */
async function findReceiver(read: Reader, filter: Filter | null): Promise<Filter | null> {
  if (filter?.dimension !== "domain") return filter;
  const known = await loadReceivers(read, [filter.value]);
  return { ...filter, value: known.get(filter.value) ?? receiverOf(filter.value) };
}

/** Sums the rows of some days up, by value and part. */
async function sumUp(read: Reader, workspaceId: string, range: DayRange, period: Period, value?: string): Promise<Map<string, Parts>> {
  const found = new Map<string, Parts>();
  const partsOf = new Map<number, readonly (number | null)[]>();
  const rows = await listRows(read, workspaceId, range, value);
  // A domain is known by its receiver only after mail was counted for it.
  const receivers = range.dimension === "domain" ? await loadReceivers(read, [...new Set(rows.map((row) => row.value))]) : NONE;
  for (const row of rows) {
    const name = receivers.get(row.value) ?? row.value;
    const parts = found.get(name) ?? new Map<number, number[]>();
    found.set(name, parts);
    const partOf = partsOf.get(row.day) ?? listParts(period, row.day);
    partsOf.set(row.day, partOf);
    addDay(row.counts, (quarter) => {
      const part = partOf[quarter] ?? null;
      if (part === null) return undefined;
      const sum = parts.get(part) ?? [];
      parts.set(part, sum);
      return sum;
    });
  }
  return found;
}

/** The parts of a period in which the quarters of a UTC day are. */
function listParts(period: Period, day: number): (number | null)[] {
  return Array.from({ length: DAY / QUARTER }, (_, quarter) => findPart(period, day * DAY + quarter * QUARTER));
}

type Row = Pick<MetricsTables["mailMetrics"]["$inferSelect"], "day" | "value" | "counts">;

/** The rows of a dimension in some days; of one value, those of that. */
function listRows(read: Reader, workspaceId: string, { test, dimension, from, to }: DayRange, value?: string): Promise<Row[]> {
  const ofValue = value !== undefined;
  return Promise.resolve(
    read
      .prepared(`metrics_of_days${ofValue ? "_and_value" : ""}${test ? "_of_test_mail" : ""}`, (q, { mailMetrics: t }, arg) =>
        q
          .select({ day: t.day, value: t.value, counts: t.counts })
          .from(t)
          .where(
            and(
              ...[eq(t.workspaceId, arg("workspaceId")), eq(t.test, test), eq(t.dimension, arg("dimension"))],
              ...[gte(t.day, arg("from")), lte(t.day, arg("to")), ofValue ? eq(t.value, arg("value")) : undefined],
            ),
          ),
      )
      .execute({ workspaceId, dimension, from, to, ...(ofValue && { value }) }),
  );
}

/** The most frequent values, and the rest as null. */
function listShown(values: ReadonlyMap<string, Parts>, limit: number): [value: string | null, parts: Parts][] {
  const sizeOf = (parts: Parts): number => {
    const [accepted = 0, sent = 0, delivered = 0] = addAll([...parts.values()]);
    return Math.max(accepted, sent, delivered);
  };
  const sorted = [...values]
    .filter(([value, parts]) => value !== OTHER && parts.size > 0)
    .map(([value, parts]) => ({ value, parts, size: sizeOf(parts) }))
    .sort((a, b) => b.size - a.size || (a.value < b.value ? -1 : 1));
  const rest: Parts = new Map();
  for (const parts of [values.get(OTHER) ?? new Map<number, number[]>(), ...sorted.slice(limit).map((one) => one.parts)])
    for (const [part, numbers] of parts) rest.set(part, addAll([rest.get(part) ?? [], numbers]));
  return [
    ...sorted.slice(0, limit).map(({ value, parts }): [string, Parts] => [value, parts]),
    ...(rest.size > 0 ? [[null, rest] as [null, Parts]] : []),
  ];
}

function addAll(rows: readonly (readonly number[])[]): number[] {
  const sum: number[] = [];
  for (const row of rows) for (const [i, n] of row.entries()) sum[i] = (sum[i] ?? 0) + n;
  return sum;
}

function toCounts(numbers: readonly number[]): MailCounts {
  const of = (metric: Metric): number => numbers[INDEX[metric]] ?? 0;
  const share = (n: number, all: number): number | null => (all === 0 ? null : Math.min(1, n / all));
  const [sent, hardBounced, softBounced] = [of("sent"), of("hardBounced"), of("softBounced")];
  const bounced = hardBounced + softBounced;
  return {
    accepted: of("accepted"),
    sent,
    delivered: of("delivered"),
    deferred: of("deferred"),
    hardBounced,
    softBounced,
    complained: of("complained"),
    failed: of("failed"),
    suppressed: of("suppressed"),
    cancelled: of("cancelled"),
    opens: of("opens"),
    opened: of("opened"),
    machineOpens: of("machineOpens"),
    clicks: of("clicks"),
    clicked: of("clicked"),
    machineClicks: of("machineClicks"),
    unsubscribed: of("unsubscribed"),
    bounced,
    handOver:
      sent === 0
        ? null
        : {
            averageMs: Math.round(of("handOverMs") / sent),
            within1s: of("within1s") / sent,
            within10s: of("within10s") / sent,
            within1m: of("within1m") / sent,
            within10m: of("within10m") / sent,
            within1h: of("within1h") / sent,
          },
    rates: {
      bounce: share(bounced, sent + bounced - of("bouncedLater")),
      complaint: share(of("complained"), sent),
      open: share(of("opened"), sent),
      click: share(of("clicked"), sent),
      unsubscribe: share(of("unsubscribed"), sent),
    },
  };
}
