import type { LandingPageStats } from "@mailsvc/sdk/contract";
import { and, asc, desc, eq, gte, lte, sql } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { invalid } from "../../lib/api-error.ts";
import { DAY } from "../../lib/units.ts";
import type { AgentTables } from "../agent-access.ts";
import { getPageRow, type Viewer } from "./pages.ts";
import { toDate } from "./visitors.ts";

const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;
const TOP = 20;

interface Span {
  from?: string | undefined;
  to?: string | undefined;
}

/** The statistics of a page by UTC days; days without any are left out. Throws ApiError not_found or validation_error. */
export async function getStats(read: Reader<AgentTables>, viewer: Viewer, id: string, span: Span, now: number): Promise<LandingPageStats> {
  const { from, to } = parseSpan(span, now);
  const page = await getPageRow(read, viewer, id);
  const { landingPageDays: d, landingPageReferrers: r } = read.t;
  const byDay = await read
    .select({ date: d.date, views: d.views, uniqueVisitors: d.visitors, submissions: d.submissions })
    .from(d)
    .where(and(eq(d.pageId, page.id), gte(d.date, from), lte(d.date, to)))
    .orderBy(asc(d.date));
  const views = sql<number>`sum(${r.views})`.mapWith(Number);
  const topReferrers = await read
    .select({ host: r.host, views })
    .from(r)
    .where(and(eq(r.pageId, page.id), gte(r.date, from), lte(r.date, to)))
    .groupBy(r.host)
    .orderBy(desc(views), asc(r.host))
    .limit(TOP);
  const sum = (of: "views" | "uniqueVisitors" | "submissions"): number => byDay.reduce((total, day) => total + day[of], 0);
  const [uniqueVisitors, submissions] = [sum("uniqueVisitors"), sum("submissions")];
  const rate = uniqueVisitors === 0 ? 0 : Math.min(1, submissions / uniqueVisitors);
  return {
    from,
    to,
    views: sum("views"),
    uniqueVisitors,
    submissions,
    conversionRate: Math.round(rate * 10_000) / 10_000,
    byDay,
    topReferrers,
  };
}

function parseSpan({ from, to }: Span, now: number): { from: string; to: string } {
  const last = to ?? toDate(now);
  const first = from ?? toDate(Date.parse(last) - (DEFAULT_DAYS - 1) * DAY);
  if (first > last) throw invalid("from", "invalid_range", "from must not be after to.");
  if (Date.parse(last) - Date.parse(first) >= MAX_DAYS * DAY) throw invalid("from", "too_big", `Use a range of at most ${MAX_DAYS} days.`);
  return { from: first, to: last };
}
