import { and, asc, eq, gt, inArray, isNull, lt, ne, notExists, or } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import type { Keep } from "./keep.ts";

/** Where a walk over a table stands: the last key it has seen. */
export type Mark = string | number;

/** What a look at the next rows of a table has found. */
export interface Batch {
  /** Of rows that are old enough, and no longer live. */
  readonly ids: readonly Mark[];
  /** Where to go on; null at the end of what is old. */
  readonly next: Mark | null;
}

/** Records that are kept for a time. Tables are walked in the order of their keys, which is that of time: it takes no further index. */
export interface Records {
  readonly keep: keyof Keep;
  /** When the oldest of them was made (ms), live or not; null when there are none. */
  oldest(read: Reader): Promise<number | null>;
  /** The next ones made before an instant. */
  find(read: Reader, before: number, after: Mark | null, limit: number): Promise<Batch>;
  /** Deletes those of these that are still old enough and not live in this transaction. */
  drop(tx: Tx, ids: readonly Mark[], before: number): Promise<void>;
}

interface Row {
  readonly id: Mark;
  readonly at: number;
}

/** A batch of rows that were read in order: those made before an instant, and whether there may be more of them. */
const batchOf = (rows: readonly Row[], before: number, limit: number): Batch => {
  const young = rows.findIndex(({ at }) => at >= before);
  const old = young < 0 ? rows : rows.slice(0, young);
  return { ids: old.map(({ id }) => id), next: young < 0 && rows.length === limit ? (rows.at(-1)?.id ?? null) : null };
};

const texts = (ids: readonly Mark[]): string[] => ids.map(String);
const first = (rows: readonly Row[]): number | null => rows[0]?.at ?? null;

/** What runs have logged; not of one that goes on. */
const logs: Records = {
  keep: "logs",
  oldest: async (read) => {
    const { runLogs: l } = read.t;
    return first(await read.select({ id: l.id, at: l.at }).from(l).orderBy(asc(l.id)).limit(1));
  },
  find: async (read, before, after, limit) => {
    const { runLogs: l } = read.t;
    const rows = read.select({ id: l.id, at: l.at }).from(l);
    const above = after === null ? undefined : gt(l.id, Number(after));
    return batchOf(await rows.where(above).orderBy(asc(l.id)).limit(limit), before, limit);
  },
  drop: async (tx, ids, before) => {
    const { runLogs: l, runs: r } = tx.t;
    const live = tx
      .select({ id: r.id })
      .from(r)
      .where(and(eq(r.id, l.run), inArray(r.status, ["RUNNING", "WAITING"])));
    await tx.delete(l).where(and(inArray(l.id, ids.map(Number)), lt(l.at, before), notExists(live)));
  },
};

/** Runs that have ended. What they logged went before, since it is never kept for longer. */
const runs: Records = {
  keep: "runs",
  oldest: async (read) => {
    const { runs: r } = read.t;
    return first(await read.select({ id: r.id, at: r.startedAt }).from(r).orderBy(asc(r.id)).limit(1));
  },
  find: async (read, before, after, limit) => {
    const { runs: r } = read.t;
    const rows = read.select({ id: r.id, at: r.startedAt }).from(r);
    const above = after === null ? undefined : gt(r.id, String(after));
    return batchOf(await rows.where(above).orderBy(asc(r.id)).limit(limit), before, limit);
  },
  drop: async (tx, ids, before) => {
    const { runs: r } = tx.t;
    await tx
      .delete(r)
      .where(and(inArray(r.id, texts(ids)), inArray(r.status, ["COMPLETED", "FAILED", "CANCELLED"]), lt(r.finishedAt, before)));
  },
};

/** Wakeups that are over. */
const wakeups: Records = {
  keep: "runs",
  oldest: async (read) => {
    const { wakeups: w } = read.t;
    return first(await read.select({ id: w.id, at: w.createdAt }).from(w).orderBy(asc(w.id)).limit(1));
  },
  find: async (read, before, after, limit) => {
    const { wakeups: w } = read.t;
    const rows = read.select({ id: w.id, at: w.createdAt }).from(w);
    const above = after === null ? undefined : gt(w.id, String(after));
    return batchOf(await rows.where(above).orderBy(asc(w.id)).limit(limit), before, limit);
  },
  drop: async (tx, ids, before) => {
    const { wakeups: w } = tx.t;
    await tx.delete(w).where(and(inArray(w.id, texts(ids)), ne(w.status, "SCHEDULED"), lt(w.fireAt, before)));
  },
};

/**
 * Events that were settled, with their attempts. An event that was given up stays while its activation is paused: it goes out
 * again when that is resumed. So does one with a key that no webhook has acknowledged.
 */
const deliveries: Records = {
  keep: "deliveries",
  oldest: async (read) => {
    const { agentEvents: e } = read.t;
    return first(await read.select({ id: e.id, at: e.at }).from(e).orderBy(asc(e.id)).limit(1));
  },
  find: async (read, before, after, limit) => {
    const { agentEvents: e } = read.t;
    const rows = read.select({ id: e.id, at: e.at }).from(e);
    const above = after === null ? undefined : gt(e.id, String(after));
    return batchOf(await rows.where(above).orderBy(asc(e.id)).limit(limit), before, limit);
  },
  drop: async (tx, ids, before) => {
    const { agentEvents: e, deliveryAttempts: d, activations: a } = tx.t;
    const paused = tx
      .select({ id: a.id })
      .from(a)
      .where(and(eq(a.id, e.activationId), eq(a.status, "paused")));
    const gone = await tx
      .delete(e)
      .where(and(inArray(e.id, texts(ids)), lt(e.settledAt, before), isNull(e.sealed), or(ne(e.state, "dead"), notExists(paused))))
      .returning({ id: e.id });
    if (gone.length === 0) return;
    await tx.delete(d).where(
      inArray(
        d.eventId,
        gone.map(({ id }) => id),
      ),
    );
  },
};

/** YYYY-MM-DD, UTC. */
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

// Pages that are looked at together, and days that are deleted in one transaction: each has up to 200 rows.
const PAGES = 50;
const DAYS = 3;

/** What was counted on landing pages. Page by page, since days are found by their page. */
const stats: Records = {
  keep: "stats",
  oldest: async (read) => {
    const { landingPages: p } = read.t;
    return first(await read.select({ id: p.id, at: p.createdAt }).from(p).orderBy(asc(p.id)).limit(1));
  },
  find: async (read, before, after) => {
    const { landingPages: p, landingPageDays: d } = read.t;
    const rows = read.select({ id: p.id, at: p.createdAt }).from(p);
    const above = after === null ? undefined : gt(p.id, String(after));
    const pages = batchOf(await rows.where(above).orderBy(asc(p.id)).limit(PAGES), before, PAGES);
    if (pages.ids.length === 0) return pages;
    const old = await read
      .select({ pageId: d.pageId, date: d.date })
      .from(d)
      .where(and(inArray(d.pageId, texts(pages.ids)), lt(d.date, dayOf(before))))
      .orderBy(asc(d.pageId), asc(d.date))
      .limit(DAYS);
    // These pages again, until nothing old is left of them.
    return old.length === 0
      ? { ids: [], next: pages.next }
      : { ids: old.map(({ pageId, date }) => `${pageId} ${date}`), next: after ?? "" };
  },
  drop: async (tx, ids) => {
    const { landingPageDays: d, landingPageReferrers: r } = tx.t;
    for (const id of texts(ids)) {
      const [pageId = "", date = ""] = id.split(" ");
      await tx.delete(d).where(and(eq(d.pageId, pageId), eq(d.date, date)));
      await tx.delete(r).where(and(eq(r.pageId, pageId), eq(r.date, date)));
    }
  },
};

/** The one list of what is not kept for ever, in the order in which it goes. */
export const RECORDS: readonly Records[] = [logs, runs, wakeups, deliveries, stats];
