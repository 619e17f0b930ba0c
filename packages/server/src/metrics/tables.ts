import type { RateAlarm, RateKind } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../db/columns.ts";

/** Limits of rates, as shares of 1; null for none. */
export interface RateLimits {
  readonly leastMails: number;
  readonly bounceWarn: number | null;
  readonly bouncePause: number | null;
  readonly complaintWarn: number | null;
  readonly complaintPause: number | null;
}

/** The state of an alarm, and the time (ms) at which it began. */
export interface Alarm {
  readonly state: RateAlarm["state"];
  readonly at: number;
  /** The quarter of an hour since 1970 from which mail counts, without the numbers that it had then. */
  readonly from: number;
  readonly mails: number;
  readonly bad: number;
}

export type Alarms = Readonly<Partial<Record<RateKind, Alarm>>>;

export function metricsTables(c: ColumnTypes) {
  return {
    /**
     * Counts of mail: a row for each UTC day and value of a dimension, so that a month is read as some thirty rows. Quarters of
     * an hour add up to the days of every time zone. The numbers of a day have `VALUES_A_DAY` rows per dimension at most.
     */
    mailMetrics: c.table(
      "mail_metrics",
      {
        workspaceId: c.text("workspace_id").notNull(),
        /** True for mail of test keys. */
        test: c.flag("test").notNull(),
        /** One of `DIMENSIONS`, or `all` for all mail. */
        dimension: c.text("dimension").notNull(),
        /** Days since 1970. */
        day: c.int("day").notNull(),
        /** A value of the dimension, such as a domain; `` for what has no row of its own that day, and for all mail. */
        value: c.text("value").notNull(),
        /** A `PackedDay`. */
        counts: c.bytes("counts").notNull(),
        /** Part of `counts` about people who were erased since: a recount gives the difference. */
        erased: c.bytes("erased"),
      },
      (t) => [c.primaryKey({ columns: [t.workspaceId, t.test, t.dimension, t.day, t.value] })],
    ),
    /** Limits of bounces and complaints that a workspace has set, and the states of its alarms. */
    mailAlarms: c.table("mail_alarms", {
      workspaceId: c.text("workspace_id").primaryKey(),
      limits: c.json<Partial<RateLimits>>("limits").notNull(),
      alarms: c.json<Alarms>("alarms").notNull(),
    }),
    /** Domains whose mail servers were looked up. */
    mailReceivers: c.table("mail_receivers", {
      domain: c.text("domain").primaryKey(),
      /** The large receiver that takes its mail, such as `gmail`; null for another one. */
      receiver: c.text("receiver"),
      checkedAt: c.instant("checked_at").notNull(),
    }),
  };
}

export type MetricsTables = ReturnType<typeof metricsTables>;
