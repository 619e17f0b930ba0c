import { hash } from "node:crypto";
import { and, asc, gt, inArray, lt } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { DAY } from "../lib/units.ts";
import type { DeleteOld, ListRows } from "../retention/retention.ts";

/**
 * Days for which a report is known. Providers and mail servers repeat theirs for three weeks at most (SNS, to an endpoint inside of AWS);
 * a mail server that calls ours for five days.
 */
export const DAYS_OF_REPORTS = 30;

/** A report about an email. */
interface KnownReport {
  /** Creation of the email, ms. */
  readonly mailedAt: number;
  /** Identity of the report; it may name the recipient. */
  readonly text: string;
}

/** Remembers a report. False if it is known. */
export async function rememberReport(tx: Tx, { mailedAt, text }: KnownReport, receivedAt: number): Promise<boolean> {
  const { inboundReports: t } = tx.t;
  // The same report is always about the same email, so the day of that finds old reports without an index of their own.
  const key = `${dayOf(mailedAt)} ${hash("sha256", text, "base64url")}`;
  const [added] = await tx.insert(t).values({ key, receivedAt }).onConflictDoNothing().returning();
  return added !== undefined;
}

/** Lists old reports. All of them are about mail that is older than they are. */
const listOld: ListRows = async (read, after, limit, before) => {
  const { inboundReports: t } = read.t;
  const above = after === null ? undefined : gt(t.key, String(after));
  const old = and(above, lt(t.key, dayOf(before + DAY)), lt(t.receivedAt, before));
  return read.select({ key: t.key, createdAt: t.receivedAt }).from(t).where(old).orderBy(asc(t.key)).limit(limit);
};

/** Deletes reports that came before an instant (ms). */
const deleteOld: DeleteOld = async (tx, keys, before) => {
  const { inboundReports: t } = tx.t;
  await tx.delete(t).where(and(inArray(t.key, keys.map(String)), lt(t.receivedAt, before)));
  return undefined;
};

/** Retention of reports. */
export const OLD_REPORTS = { list: listOld, delete: deleteOld };

export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
