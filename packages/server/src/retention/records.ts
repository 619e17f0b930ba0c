import { and, asc, eq, gt, inArray, isNull, lt, ne, notExists, or } from "drizzle-orm";
import type { AuditTables } from "../audit/tables.ts";
import type { Reader, Tx } from "../db/db.ts";
import { forgetDeliveries, isRead } from "../developer-webhooks/developer-webhooks.ts";
import { deleteEvents, isReadByReaders } from "../events/events.ts";
import type { EventTables } from "../events/tables.ts";
import { deleteMails } from "../inbox/inbox.ts";
import type { InboxTables } from "../inbox/tables.ts";
import type { PageTables } from "../marketplace/landing-pages/tables.ts";
import type { RunTables } from "../marketplace/runs/tables.ts";
import type { WakeupTables } from "../marketplace/wakeups/tables.ts";
import { deleteReceivedRows } from "../received/received.ts";
import type { ReceivedTables } from "../received/tables.ts";
import type { RequestTables } from "../requests/tables.ts";
import { forgetActions } from "../segments/segments.ts";
import type { SegmentTables } from "../segments/tables.ts";
import type { WebhookTables } from "../webhooks/tables.ts";
import { deleteAsideStreams } from "../webhooks/webhooks.ts";
import { listNeededDepartures } from "./departures.ts";
import type { RetentionDeps } from "./deps.ts";
import { deleteOldMail, listOldMail } from "./mail.ts";
import type { RetentionPolicy } from "./policy.ts";

/** The key of a row. */
export type Key = string | number;

type SourceTables = AuditTables &
  RequestTables &
  RunTables &
  WakeupTables &
  WebhookTables &
  PageTables &
  EventTables &
  ReceivedTables &
  InboxTables &
  SegmentTables;
type SourceTable = SourceTables[
  | "runLogs"
  | "runs"
  | "wakeups"
  | "webhookEvents"
  | "webhookDeliveries"
  | "landingPages"
  | "events"
  | "contactActions"
  | "received"
  | "inbox"
  | "auditEntries"
  | "requestRecords"];
type CreatedColumn =
  | SourceTables["runLogs" | "webhookEvents" | "webhookDeliveries" | "events" | "contactActions" | "auditEntries" | "requestRecords"]["at"]
  | SourceTables["received" | "inbox"]["receivedAt"]
  | SourceTables["runs"]["startedAt"]
  | SourceTables["wakeups" | "landingPages"]["createdAt"];

type KeyColumn =
  | Exclude<SourceTable, SourceTables["events" | "contactActions" | "requestRecords"]>["id"]
  | SourceTables["requestRecords"]["seq"]
  | SourceTables["events"]["sequence"]
  | SourceTables["contactActions"]["eventKey"];

/** A kind of record that expires. */
export interface Records {
  readonly policy: keyof RetentionPolicy;
  /** The next rows after a key, oldest first; those that were created before an instant (ms) at least. */
  list(read: Reader, after: Key | null, limit: number, before: number): Promise<readonly { key: Key; createdAt: number }[]>;
  /** True if sweeping once a day is never too often: the next row to expire cannot be told. */
  readonly daily?: boolean;
  /**
   * Deletes the records of rows with these keys that ended before an instant (ms). Returns "more" when it did not delete all of
   * them; the same keys come again then. The conditions avoid the state columns: the planner would take their index, which leads
   * to nearly all rows.
   */
  deleteExpired(tx: Tx, keys: readonly Key[], before: number, deps: RetentionDeps): Promise<"more" | undefined>;
}

/** The table to walk. Its keys rise with the creation time of the rows, so the walk needs no further index. */
type Source = (t: SourceTables) => { table: SourceTable; key: KeyColumn; createdAt: CreatedColumn };

/** Logs of runs that have ended. */
const logs: Records = {
  policy: "logs",
  list: walk(({ runLogs: l }) => ({ table: l, key: l.id, createdAt: l.at })),
  deleteExpired: async (tx, keys: readonly number[], before) => {
    const { runLogs: l, runs: r } = tx.t;
    const active = tx
      .select({ id: r.id })
      .from(r)
      .where(and(eq(r.id, l.run), inArray(r.status, ["RUNNING", "WAITING"])));
    await tx.delete(l).where(and(inArray(l.id, keys), lt(l.at, before), notExists(active)));
  },
};

/** Runs that have ended. Their logs are gone already, since those are never kept longer. */
const runs: Records = {
  policy: "runs",
  list: walk(({ runs: r }) => ({ table: r, key: r.id, createdAt: r.startedAt })),
  deleteExpired: async (tx, keys: readonly string[], before) => {
    const { runs: r } = tx.t;
    await tx.delete(r).where(and(inArray(r.id, keys), lt(r.finishedAt, before)));
  },
};

/** Wakeups that have ended. */
const wakeups: Records = {
  policy: "runs",
  list: walk(({ wakeups: w }) => ({ table: w, key: w.id, createdAt: w.createdAt })),
  deleteExpired: async (tx, keys: readonly string[], before) => {
    const { wakeups: w } = tx.t;
    await tx.delete(w).where(and(inArray(w.id, keys), lt(w.fireAt, before), ne(w.status, "SCHEDULED")));
  },
};

/**
 * Events in a final state, with their attempts. A dead event stays while its activation is paused, since resuming sends it
 * again; so does one with a key that no webhook has acknowledged.
 */
const deliveries: Records = {
  policy: "deliveries",
  list: walk(({ webhookEvents: e }) => ({ table: e, key: e.id, createdAt: e.at })),
  deleteExpired: async (tx, keys: readonly string[], before) => {
    const { webhookEvents: e, webhookAttempts: d, activations: a } = tx.t;
    const paused = tx
      .select({ id: a.id })
      .from(a)
      .where(and(eq(a.id, e.streamId), eq(a.status, "paused")));
    const over = and(lt(e.settledAt, before), isNull(e.sealed), or(ne(e.state, "dead"), notExists(paused)));
    const deleted = await tx
      .delete(e)
      .where(and(inArray(e.id, keys), over))
      .returning({ id: e.id });
    const ids = deleted.map(({ id }) => id);
    if (ids.length > 0) await tx.delete(d).where(inArray(d.eventId, ids));
  },
};

/** The same of developers' webhooks. */
const developerDeliveries: Records = {
  policy: "deliveries",
  list: walk(({ webhookDeliveries: e }) => ({ table: e, key: e.id, createdAt: e.at })),
  deleteExpired: async (tx, keys: readonly string[], before) => {
    const { webhookDeliveries: e, webhookAttempts: d } = tx.t;
    const deleted = await tx
      .delete(e)
      .where(and(inArray(e.id, keys), lt(e.settledAt, before)))
      .returning({ id: e.id, streamId: e.streamId });
    const ids = deleted.map(({ id }) => id);
    if (ids.length > 0) await tx.delete(d).where(inArray(d.eventId, ids));
    await deleteAsideStreams(
      tx,
      deleted.map(({ streamId }) => streamId),
    );
  },
};

/** Events, with their deliveries to developers' webhooks, which could not be sent any more. Events that campaigns still need stay. */
const events: Records = {
  policy: "events",
  list: walk(({ events: e }) => ({ table: e, key: e.sequence, createdAt: e.at })),
  deleteExpired: async (tx, keys: readonly number[], before) => {
    const { events: e } = tx.t;
    const needed = await listNeededDepartures(tx, keys, before);
    const over = keys.filter((key) => !needed.has(key));
    await forgetDeliveries(tx, await deleteEvents(tx, and(inArray(e.sequence, over), lt(e.at, before), isRead(tx), isReadByReaders(tx))));
  },
};

/** Entries of events about what contacts did, by which segments count. They go with the events. */
const actions: Records = {
  policy: "events",
  list: walk(({ contactActions: a }) => ({ table: a, key: a.eventKey, createdAt: a.at })),
  deleteExpired: async (tx, keys: readonly number[], before, deps) => {
    await forgetActions(tx, deps, keys, before);
  },
};

// Days of pages deleted at once; each has up to 200 referrers.
const DAYS = 10;

/** Daily counts of landing pages, found through their pages, which stay. */
const stats: Records = {
  policy: "stats",
  list: walk(({ landingPages: p }) => ({ table: p, key: p.id, createdAt: p.createdAt })),
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

// Mails deleted at once: each may have 50 MB.
const MAILS = 10;

/** Received mail. */
const received: Records = {
  policy: "received",
  list: walk(({ received: m }) => ({ table: m, key: m.id, createdAt: m.receivedAt })),
  deleteExpired: async (tx, keys: readonly string[], before) => {
    const { received: m } = tx.t;
    const old = await tx
      .select({ id: m.id })
      .from(m)
      .where(and(inArray(m.id, keys), lt(m.receivedAt, before)))
      .limit(MAILS);
    await deleteReceivedRows(
      tx,
      old.map(({ id }) => id),
    );
    return old.length === MAILS ? "more" : undefined;
  },
};

/** Mail that was sent. */
const emails: Records = { policy: "emails", list: listOldMail, deleteExpired: deleteOldMail, daily: true };

/** Copies of mail that was captured instead of sent. */
const captured: Records = {
  policy: "emails",
  list: walk(({ inbox: m }) => ({ table: m, key: m.id, createdAt: m.receivedAt })),
  deleteExpired: async (tx, keys: readonly string[], before) => {
    const { inbox: m } = tx.t;
    const old = await tx
      .select({ id: m.id })
      .from(m)
      .where(and(inArray(m.id, keys), lt(m.receivedAt, before)))
      .limit(MAILS);
    const ids = old.map(({ id }) => id);
    if (ids.length > 0) await deleteMails(tx, inArray(m.id, ids));
    return old.length === MAILS ? "more" : undefined;
  },
};

/** Who changed what. */
const audit: Records = {
  policy: "audit",
  list: walk(({ auditEntries: a }) => ({ table: a, key: a.id, createdAt: a.at })),
  deleteExpired: async (tx, keys: readonly string[], before) => {
    const { auditEntries: a } = tx.t;
    await tx.delete(a).where(and(inArray(a.id, keys), lt(a.at, before)));
  },
};

/** Requests to the API. */
const requests: Records = {
  policy: "requests",
  list: walk(({ requestRecords: r }) => ({ table: r, key: r.seq, createdAt: r.at })),
  deleteExpired: async (tx, keys: readonly number[], before) => {
    const { requestRecords: r } = tx.t;
    await tx.delete(r).where(and(inArray(r.seq, keys), lt(r.at, before)));
  },
};

/** All records that expire, in the order in which a sweep deletes them. */
export const RECORDS: readonly Records[] = [
  logs,
  runs,
  wakeups,
  deliveries,
  developerDeliveries,
  stats,
  events,
  actions,
  received,
  emails,
  captured,
  audit,
  requests,
];

/** Lists the rows of a table. */
function walk(source: Source): Records["list"] {
  return async (read, after, limit) => {
    const { table, key, createdAt } = source(read.t);
    const above = after === null ? undefined : gt(key, after);
    return read.select({ key, createdAt }).from(table).where(above).orderBy(asc(key)).limit(limit);
  };
}

/** YYYY-MM-DD, UTC. */
function toDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
