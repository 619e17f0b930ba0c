import { findTimeOfDate, METRICS_LIMITS, type MetricsInterval, toLocalTime } from "@mailsvc/sdk/contract";
import { invalid } from "../lib/api-error.ts";
import { DAY, HOUR } from "../lib/units.ts";

/** Days of a time zone, divided into parts. */
export interface Period {
  /** The instants (ms) at which its parts begin, and the end of the last one. */
  readonly bounds: readonly number[];
}

const DEFAULT_DAYS = 30;

/** Reads the days from one date to another, both of them included. Throws ApiError validation_error. */
export function readPeriod(
  { from, to, interval }: { readonly from?: string | undefined; readonly to?: string | undefined; readonly interval: MetricsInterval },
  zone: string,
  now: number,
): Period {
  const { year, month, day } = toLocalTime(now, zone);
  const last = to === undefined ? Date.UTC(year, month - 1, day) : readDate("to", to);
  const most = interval === "hour" ? METRICS_LIMITS.daysByHour : METRICS_LIMITS.days;
  const first = from === undefined ? last - (DEFAULT_DAYS - 1) * DAY : readDate("from", from);
  if (first > last) throw invalid("from", "after_end", "from must not be later than to.");
  if ((last - first) / DAY + 1 > most)
    throw invalid(
      "from",
      "too_long",
      `${interval === "hour" ? "By the hour, up" : "Up"} to ${most} days can be asked for at once. Choose a later from, or an earlier to.`,
    );
  const days: number[] = [];
  for (let date = first; date <= last + DAY; date += DAY) days.push(startOfDate(date, zone));
  return {
    bounds: interval === "day" ? [...new Set(days)] : interval === "all" ? [days[0] as number, days.at(-1) as number] : listHours(days),
  };
}

/** The index of the part in which an instant is; null outside of the period. */
export function findPart({ bounds }: Period, at: number): number | null {
  if (at < (bounds[0] ?? 0) || at >= (bounds.at(-1) ?? 0)) return null;
  let [low, high] = [0, bounds.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((bounds[middle] as number) <= at) low = middle;
    else high = middle;
  }
  return low;
}

/** Hours since the beginning of each day: 23 or 25 where the clocks are changed. */
function listHours(days: readonly number[]): number[] {
  const end = days.at(-1) as number;
  const hours = days.slice(0, -1).flatMap((start, i) => {
    const next = days[i + 1] as number;
    return Array.from({ length: Math.ceil((next - start) / HOUR) }, (_, hour) => start + hour * HOUR);
  });
  return [...hours, end];
}

function readDate(name: string, text: string): number {
  const at = Date.parse(`${text}T00:00:00Z`);
  const year = new Date(at).getUTCFullYear();
  if (year < 2000 || year > 2200) throw invalid(name, "out_of_range", `${name} must be a date from 2000 to 2200.`);
  return at;
}

function startOfDate(utc: number, zone: string): number {
  const date = new Date(utc);
  return findTimeOfDate({ year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }, 0, zone);
}
