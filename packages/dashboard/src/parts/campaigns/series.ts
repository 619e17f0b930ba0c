import type { CampaignStats } from "@mailsvc/sdk/contract";

const STEP_MS = { hour: 3_600_000, day: 86_400_000 } as const;
// More points cannot be told apart.
const MAX_POINTS = 400;

type Point = CampaignStats["series"][number];
type Numbers = Omit<Point, "at">;

/**
 * The points of a report, without gaps: hours in which nothing happened are zero. Empty before anything happened.
 */
export function fillSeries(series: readonly Point[], interval: "hour" | "day"): readonly Point[] {
  const [first] = series;
  const last = series.at(-1);
  if (!first || !last) return [];
  const step = STEP_MS[interval];
  const from = Date.parse(first.at);
  const count = Math.min(MAX_POINTS, (Date.parse(last.at) - from) / step + 1);
  const byTime = new Map(series.map((point) => [Date.parse(point.at), point]));
  const nothing = Object.fromEntries(Object.keys(first).map((name) => [name, 0])) as unknown as Numbers;
  return Array.from({ length: count }, (_, i) => {
    const at = from + i * step;
    return byTime.get(at) ?? { ...nothing, at: new Date(at).toISOString() };
  });
}
