import { hash } from "node:crypto";
import type { LandingPageStats } from "@mailsvc/sdk/contract";
import { and, asc, desc, eq, gte, inArray, lt, lte, sql } from "drizzle-orm";
import type { Db, Reader } from "../../db/db.ts";
import { findRows } from "../../db/find.ts";
import { invalid } from "../../lib/api-error.ts";
import { toNetwork } from "../../lib/ip-network.ts";
import { DAY } from "../../lib/units.ts";
import type { JobHandler } from "../../queue/queue.ts";
import type { DeleteOld } from "../../retention/retention.ts";
import type { AgentTables } from "../agent-access.ts";
import { getPageRow, type PageDeps, type Viewer } from "./pages.ts";

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

/** Deletes the visitors of past days. */
const FORGET_JOB = "pages.forget_visitors";

// Rows deleted in one transaction.
const CHUNK = 500;

/** The date of an instant as YYYY-MM-DD, UTC. */
export function toDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/**
 * Today's salt, made on first use and shared by all processes. It is deleted when the day is over; from then on the hashes
 * cannot be traced to visitors, by us or anyone else.
 */
export async function getDailySalt(deps: Pick<PageDeps, "db" | "clock" | "random" | "queue">): Promise<{ date: string; salt: Uint8Array }> {
  const { db, clock, random, queue } = deps;
  const now = clock.now();
  const date = toDate(now);
  const known = await readSalt(db, date);
  if (known) return { date, salt: known };
  const made = random.bytes(32);
  const salt = await db.tx(async (tx) => {
    const { landingPageSalts: t } = tx.t;
    await tx.insert(t).values({ date, salt: made }).onConflictDoNothing();
    await queue.enqueue(tx, { kind: FORGET_JOB, payload: {}, runAt: startOfNextDay(now), dedupeKey: `${FORGET_JOB}:${date}` });
    const [row] = await findRows(tx, t, { date });
    return row?.salt ?? made;
  });
  return { date, salt };
}

/** A hash that is the same all day for the same network and `context`, and reveals neither. 22 characters. */
export function hashVisitor(salt: Uint8Array, address: string, ...context: readonly string[]): string {
  return hash("sha256", Buffer.concat([salt, Buffer.from(JSON.stringify([toNetwork(address), ...context]))]), "base64url").slice(0, 22);
}

/** The jobs of landing pages. */
export function pageJobs(deps: PageDeps): Readonly<Record<string, JobHandler>> {
  return { [FORGET_JOB]: forgetVisitors(deps) };
}

async function readSalt(db: Db, date: string): Promise<Uint8Array | undefined> {
  const { landingPageSalts: t } = db.read.t;
  const [row] = await findRows(db.read, t, { date });
  return row?.salt;
}

/** Midnight after an instant, UTC, ms. */
function startOfNextDay(ms: number): number {
  return (Math.floor(ms / DAY) + 1) * DAY;
}

/** Deletes the visitors of past days, and the salts without which their hashes mean nothing. */
function forgetVisitors({ db, clock }: PageDeps): JobHandler {
  return async () => {
    const today = toDate(clock.now());
    const { landingPageVisitors: v, landingPageSalts: s } = db.read.t;
    const old = await db.read.select({ visitor: v.visitor }).from(v).where(lt(v.date, today)).limit(CHUNK);
    return {
      ...(old.length === CHUNK && { again: clock.now() }),
      commit: async (tx) => {
        await tx.delete(s).where(lt(s.date, today));
        if (old.length > 0)
          await tx.delete(v).where(
            inArray(
              v.visitor,
              old.map(({ visitor }) => visitor),
            ),
          );
      },
    };
  };
}

// Days of pages deleted at once; each has up to 200 referrers.
const OLD_DAYS = 10;

/** Deletes old daily counts of pages, which stay. */
export const deleteOldStats: DeleteOld = async (tx, keys, before) => {
  const { landingPageDays: d, landingPageReferrers: r } = tx.t;
  const old = await tx
    .select({ pageId: d.pageId, date: d.date })
    .from(d)
    .where(and(inArray(d.pageId, keys.map(String)), lt(d.date, new Date(before).toISOString().slice(0, 10))))
    .orderBy(asc(d.pageId), asc(d.date))
    .limit(OLD_DAYS);
  for (const { pageId, date } of old) {
    await tx.delete(d).where(and(eq(d.pageId, pageId), eq(d.date, date)));
    await tx.delete(r).where(and(eq(r.pageId, pageId), eq(r.date, date)));
  }
  return old.length === OLD_DAYS ? "more" : undefined;
};
