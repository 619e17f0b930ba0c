import type { MailCounts, MailLimits, MetricsReport, MetricsRow, MetricsVerification } from "@mailsvc/sdk/contract";
import { safeText } from "../text/safe-text.ts";
import { type Column, renderTable } from "../text/table.ts";
import { formatNumber } from "../text/units.ts";
import type { Session } from "../types.ts";
import type { View } from "./view.ts";

export const metricsViews: Readonly<Record<string, View>> = {
  "metrics.get": { object: renderReport },
  "metrics.limits": { object: renderLimits },
  "metrics.setLimits": { object: renderLimits },
  "metrics.verify": { object: renderVerification },
};

/** A line of the table: a part of the period, or all of it. */
type Line = MailCounts & Partial<Pick<MetricsRow, "from" | "value">>;

/** The numbers as a table, with the sum in the last line. */
function renderReport(report: MetricsReport, { term: { out, columns: width } }: Session): string {
  const { by, zone, interval, data, total } = report;
  const head = `${formatDay(report.from, zone)} to ${formatDay(new Date(Date.parse(report.to) - 1).toISOString(), zone)}  ${out.dim(zone)}`;
  const time: Column<Line>[] =
    interval === "all"
      ? []
      : [{ title: interval, value: ({ from }) => (from === undefined ? "total" : formatStart(from, zone, interval)) }];
  const value: Column<Line>[] =
    by === null
      ? []
      : [
          {
            title: by,
            value: (line) => (line.from === undefined ? (interval === "all" ? "total" : "") : (line.value ?? "(other)")),
            flexible: true,
          },
        ];
  const columns: Column<Line>[] = [
    ...time,
    ...value,
    { title: "accepted", value: ({ accepted }) => formatNumber(accepted), priority: 3 },
    { title: "sent", value: ({ sent }) => formatNumber(sent) },
    { title: "delivered", value: ({ delivered }) => formatNumber(delivered) },
    { title: "deferred", value: ({ deferred }) => formatNumber(deferred), priority: 4 },
    { title: "bounced", value: ({ bounced, rates }) => withRate(bounced, rates.bounce) },
    { title: "complained", value: ({ complained, rates }) => withRate(complained, rates.complaint) },
    { title: "failed", value: ({ failed }) => formatNumber(failed), priority: 4 },
    { title: "opened", value: ({ opened, rates }) => withRate(opened, rates.open), priority: 1 },
    { title: "clicked", value: ({ clicked, rates }) => withRate(clicked, rates.click), priority: 2 },
    { title: "left", value: ({ unsubscribed }) => formatNumber(unsubscribed), priority: 5 },
    { title: "hand-over", value: ({ handOver }) => (handOver === null ? "" : formatMs(handOver.averageMs)), priority: 5 },
  ];
  const lines: Line[] = data.length === 1 && interval === "all" && by === null ? [total] : [...data, total];
  return `${head}\n\n${renderTable(lines, columns, out, width)}`;
}

function withRate(n: number, rate: number | null): string {
  return rate === null || n === 0 ? formatNumber(n) : `${formatNumber(n)} (${(rate * 100).toFixed(rate < 0.01 ? 2 : 1)} %)`;
}

function formatMs(ms: number): string {
  return ms < 1000 ? `${ms} ms` : ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

function formatDay(at: string, zone: string): string {
  return partsOf(at, zone).date;
}

function formatStart(at: string, zone: string, interval: MetricsReport["interval"]): string {
  const { date, time } = partsOf(at, zone);
  return interval === "day" ? date : `${date} ${time}`;
}

/** The date and time of day that the clocks of a zone show. */
function partsOf(at: string, zone: string): { readonly date: string; readonly time: string } {
  const options = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  const parts = new Intl.DateTimeFormat("en-US", { ...options, timeZone: zone }).formatToParts(Date.parse(at));
  const of = (name: string): string => parts.find(({ type }) => type === name)?.value ?? "";
  return { date: `${of("year")}-${of("month")}-${of("day")}`, time: `${of("hour")}:${of("minute")}` };
}

/** The rates and their limits, and how to go on once campaigns are paused. */
function renderLimits({ leastMails, ...rates }: MailLimits, { term: { out, columns: width } }: Session): string {
  const states = { OK: out.green("ok"), WARNED: out.yellow("warned"), PAUSED: out.red("campaigns paused") };
  const share = (n: number | null): string => (n === null ? "none" : `${Number((n * 100).toPrecision(3))} %`);
  const table = renderTable(
    [
      { name: "bounces, 24 hours", ...rates.bounce },
      { name: "complaints, 7 days", ...rates.complaint },
    ],
    [
      { title: "rate of", value: ({ name }) => name },
      { title: "now", value: ({ rate, mails }) => (rate === null ? "no mail" : `${share(rate)} of ${formatNumber(mails)}`) },
      { title: "warns at", value: ({ warn }) => share(warn) },
      { title: "pauses at", value: ({ pause }) => share(pause) },
      { title: "state", value: ({ state }) => states[state] },
    ],
    out,
    width,
  );
  const paused = rates.bounce.state === "PAUSED" || rates.complaint.state === "PAUSED";
  const next = paused ? `\nGo on with: ${out.bold("mailsvc campaigns resume ID")}` : "";
  return `${table}\n${out.dim(`Counts from ${formatNumber(leastMails)} emails on.`)}${next}`;
}

function renderVerification(v: MetricsVerification, { term: { out, columns: width } }: Session): string {
  if (v.correct) return `${out.green("correct")}  ${formatNumber(v.events)} events counted anew`;
  return renderTable(
    v.differences,
    [
      { title: "what", value: (d) => safeText(d.what), flexible: true },
      { title: "counted", value: (d) => d.counted },
      { title: "actual", value: (d) => d.actual },
    ],
    out,
    width,
  );
}
