import type { Event, MetricsReport } from "@mailsvc/sdk/contract";
import { type Api, call } from "./api.ts";

/** Counts the mail of a log by day, and by tag, for the numbers that are compared. */
export function countMail(events: readonly Event[]): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);
  const metricOf: Partial<Record<string, string>> = { "email.queued": "accepted", "email.sent": "sent", "email.delivered": "delivered" };
  for (const { type, at, tags } of events) {
    const metric = metricOf[type];
    if (metric === undefined) continue;
    add(`${at.slice(0, 10)} ${metric}`);
    for (const [name, value] of Object.entries(tags)) add(`${name}=${value} ${metric}`);
  }
  return counts;
}

/** The same numbers as a server shows them, for the days (YYYY-MM-DD, UTC) from `from` to `to`. */
export async function showMail(api: Api, from: string, to: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const add = (name: string, { accepted, sent, delivered }: MetricsReport["total"]): void => {
    for (const [metric, n] of Object.entries({ accepted, sent, delivered })) if (n > 0) counts.set(`${name} ${metric}`, n);
  };
  const period = `zone=UTC&from=${from}&to=${to}`;
  for (const row of (await call<MetricsReport>(api, "GET", `/api/v1/metrics?${period}`)).data) add(row.from.slice(0, 10), row);
  for (const row of (await call<MetricsReport>(api, "GET", `/api/v1/metrics?${period}&interval=all&by=tag`)).data)
    if (row.value !== null) add(row.value, row);
  return counts;
}
