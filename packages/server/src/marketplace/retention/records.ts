import { and, asc, eq, gt, inArray, isNull, lt, ne, notExists, or } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import type { Tables } from "../../schema.ts";
import type { RetentionPolicy } from "./keep.ts";

/** The key of a row. */
export type Key = string | number;

type SourceTable = Tables["runLogs" | "runs" | "wakeups" | "agentEvents" | "landingPages"];
type CreatedColumn =
  | Tables["runLogs" | "agentEvents"]["at"]
  | Tables["runs"]["startedAt"]
  | Tables["wakeups" | "landingPages"]["createdAt"];

/** Records that are kept for a time. */
export interface Records {
  readonly policy: keyof RetentionPolicy;
  /** The rows they are found by: keys rise with the time at which a row was made, so a walk takes no further index. */
  source(t: Tables): { table: SourceTable; key: SourceTable["id"]; made: CreatedColumn };
  /**
   * Deletes what belongs to rows with these keys and was over before an instant (ms). "more": not all of it at once, so the same
   * keys are to come again. What state the rows are in is not asked for: an index of it would be taken, which leads to nearly all.
   */
  deleteExpired(tx: Tx, keys: readonly Key[], before: number): Promise<"more" | undefined>;
}

/** What runs have logged; not of one that goes on. */
const logs: Records = {
  policy: "logs",
  source: ({ runLogs: l }) => ({ table: l, key: l.id, made: l.at }),
  deleteExpired: async (tx, keys: readonly number[], before) => {
    const { runLogs: l, runs: r } = tx.t;
    const goesOn = tx
      .select({ id: r.id })
      .from(r)
      .where(and(eq(r.id, l.run), inArray(r.status, ["RUNNING", "WAITING"])));
    await tx.delete(l).where(and(inArray(l.id, keys), lt(l.at, before), notExists(goesOn)));
  },
};

/** Runs that have ended. What they logged went before, since it is never kept for longer. */
const runs: Records = {
  policy: "runs",
  source: ({ runs: r }) => ({ table: r, key: r.id, made: r.startedAt }),
  deleteExpired: async (tx, keys: readonly string[], before) => {
    const { runs: r } = tx.t;
    await tx.delete(r).where(and(inArray(r.id, keys), lt(r.finishedAt, before)));
  },
};

/** Wakeups that are over. */
const wakeups: Records = {
  policy: "runs",
  source: ({ wakeups: w }) => ({ table: w, key: w.id, made: w.createdAt }),
  deleteExpired: async (tx, keys: readonly string[], before) => {
    const { wakeups: w } = tx.t;
    await tx.delete(w).where(and(inArray(w.id, keys), lt(w.fireAt, before), ne(w.status, "SCHEDULED")));
  },
};

/**
 * Events that were settled, with their attempts. An event that was given up stays while its activation is paused: it goes out
 * again when that is resumed. So does one with a key that no webhook has acknowledged.
 */
const deliveries: Records = {
  policy: "deliveries",
  source: ({ agentEvents: e }) => ({ table: e, key: e.id, made: e.at }),
  deleteExpired: async (tx, keys: readonly string[], before) => {
    const { agentEvents: e, deliveryAttempts: d, activations: a } = tx.t;
    const paused = tx
      .select({ id: a.id })
      .from(a)
      .where(and(eq(a.id, e.activationId), eq(a.status, "paused")));
    const over = and(lt(e.settledAt, before), isNull(e.sealed), or(ne(e.state, "dead"), notExists(paused)));
    const gone = await tx
      .delete(e)
      .where(and(inArray(e.id, keys), over))
      .returning({ id: e.id });
    const ids = gone.map(({ id }) => id);
    if (ids.length > 0) await tx.delete(d).where(inArray(d.eventId, ids));
  },
};

// Days of pages that are deleted at once: each has up to 200 referrers.
const DAYS = 10;

/** What was counted on landing pages, day by day. It is found by its page, which stays. */
const stats: Records = {
  policy: "stats",
  source: ({ landingPages: p }) => ({ table: p, key: p.id, made: p.createdAt }),
  deleteExpired: async (tx, keys: readonly string[], before) => {
    const { landingPageDays: d, landingPageReferrers: r } = tx.t;
    const old = await tx
      .select({ pageId: d.pageId, date: d.date })
      .from(d)
      .where(and(inArray(d.pageId, keys), lt(d.date, toDate(before))))
      .orderBy(asc(d.pageId), asc(d.date))
      .limit(DAYS);
    for (const { pageId, date } of old) {
      await tx.delete(d).where(and(eq(d.pageId, pageId), eq(d.date, date)));
      await tx.delete(r).where(and(eq(r.pageId, pageId), eq(r.date, date)));
    }
    return old.length === DAYS ? "more" : undefined;
  },
};

/** The one list of what is not kept for ever, in the order in which it goes. */
export const RECORDS: readonly Records[] = [logs, runs, wakeups, deliveries, stats];

/** Rows that records are found by, in the order in which they were made: the next ones after a key. */
export function listRowsAfter(read: Reader, { source: walk }: Records, after: Key | null, limit: number) {
  const { table, key, made } = walk(read.t);
  const above = after === null ? undefined : gt(key, after);
  return read.select({ key, made }).from(table).where(above).orderBy(asc(key)).limit(limit);
}

/** YYYY-MM-DD, UTC. */
function toDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
