import type { LandingPageStats } from "@mailsvc/sdk/contract";
import { and, asc, desc, eq, gte, lte, sql } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { invalid } from "../../lib/api-error.ts";
import type { AgentTables } from "../../schema.ts";
import { dayOf } from "./salt.ts";
import { findPage, type Viewer } from "./store.ts";

const DAY = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;
const TOP = 20;

interface Span {
  from?: string | undefined;
  to?: string | undefined;
}

/** The numbers of a page, by days in UTC; days without any are left out. Throws ApiError not_found or validation_error. */
export async function statsOf(read: Reader<AgentTables>, viewer: Viewer, id: string, span: Span, now: number): Promise<LandingPageStats> {
  const { from, to } = spanOf(span, now);
  const page = await findPage(read, viewer, id);
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

function spanOf({ from, to }: Span, now: number): { from: string; to: string } {
  const last = to ?? dayOf(now);
  const first = from ?? dayOf(Date.parse(last) - (DEFAULT_DAYS - 1) * DAY);
  if (first > last) throw invalid("from", "invalid_range", "from comes after to.");
  if (Date.parse(last) - Date.parse(first) >= MAX_DAYS * DAY) throw invalid("from", "too_big", `At most ${MAX_DAYS} days at once.`);
  return { from: first, to: last };
}
