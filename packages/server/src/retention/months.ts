import { desc, lt } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { type Attempt, firstNumberOfMonth, type Kept, type MonthlyTables, type Months } from "../db/months.ts";
import { forgetDeliveriesBelow, isSomeUnread } from "../developer-webhooks/developer-webhooks.ts";
import { forgetTrackedIdsBelow, isSomeUnreadBelow, listRunKeys } from "../events/events.ts";
import { firstIdAt, TEST_MAIL_FROM } from "../lib/ids.ts";
import { startOfMonth } from "../lib/month.ts";
import { DAY } from "../lib/units.ts";
import { listNeededDeparturesBelow } from "./departures.ts";
import type { RetentionDeps } from "./deps.ts";
import { listStayingContents, listStayingMail } from "./mail.ts";
import type { RetentionPolicy } from "./policy.ts";

/*
 * Databases that divide tables by months (decision 17) drop mail and events with their months, as soon as all of the month is old
 * enough. The other records are deleted row by row, as on SQLite: test mail, and months of which many records have to stay. The
 * tables are divided by the first sweep of a server that does not keep such records forever.
 */

/** Records that are dropped with their months. */
const MONTHLY = ["emails", "events"] as const satisfies readonly (keyof RetentionPolicy)[];
export type Monthly = (typeof MONTHLY)[number];

/** The instant (ms) before which records are old: where they go by months, the beginning of the month in which they would become old. */
export function findCutoff({ db, config, clock }: RetentionDeps, policy: keyof RetentionPolicy): number {
  const days = config.keepDays[policy];
  if (days === null) return Number.NEGATIVE_INFINITY;
  const cutoff = clock.now() - days * DAY;
  return db.months && isMonthly(policy) ? startOfMonth(cutoff) : cutoff;
}

/** True if records of a kind are dropped with their months. */
export function isMonthly(policy: keyof RetentionPolicy): policy is Monthly {
  return (MONTHLY as readonly string[]).includes(policy);
}

/** Lists the records that are dropped by months on this server; its sweep then has to run every day. */
export function listMonthly({ db, config }: RetentionDeps): Monthly[] {
  return db.months === null ? [] : MONTHLY.filter((policy) => config.keepDays[policy] !== null);
}

/** `more`: something was done, and more is to be done at once. */
type Progress = Attempt | "more";

/** Drops old months of these records and makes those to come. Returns what is left, and whether that is because others use its tables. */
export async function tendMonths(
  deps: RetentionDeps,
  policies: readonly Monthly[],
): Promise<{ readonly left: readonly Monthly[]; readonly isLocked: boolean }> {
  const { months } = deps.db;
  if (!months) return { left: [], isLocked: false };
  const left: Monthly[] = [];
  let isLocked = true;
  for (const policy of policies) {
    const progress = await (policy === "emails" ? tendMail(months, deps) : tendEvents(months, deps));
    if (progress !== "done") left.push(policy);
    if (progress === "more") isLocked = false;
  }
  return { left, isLocked: isLocked && left.length > 0 };
}

/** Tells who uses the tables of these records, in words; null if nobody does. */
export async function findTableUser({ db: { months, read } }: RetentionDeps, policies: readonly Monthly[]): Promise<string | null> {
  const { mail, contents, events } = listMonthlyTables(read.t);
  const groups = policies.flatMap((policy) => (policy === "emails" ? [mail, contents] : [events]));
  for (const group of groups) {
    const user = await months?.findUser(group);
    if (user) return user;
  }
  return null;
}

async function tendMail(months: Months, deps: RetentionDeps): Promise<Progress> {
  const { mail, contents } = listMonthlyTables(deps.db.read.t);
  const before = findCutoff(deps, "emails");
  const isDone =
    (await clear(months, [mail, contents])) &&
    (await dropMail(months, deps, mail, before)) &&
    (await dropContents(months, deps, contents, before));
  return isDone ? goOn(months, [mail, contents], deps.clock.now()) : "locked";
}

async function tendEvents(months: Months, deps: RetentionDeps): Promise<Progress> {
  const { events: group } = listMonthlyTables(deps.db.read.t);
  if (!(await clear(months, [group]))) return "locked";
  const dropped = await dropEvents(months, deps, group, findCutoff(deps, "events"));
  return dropped === "done" ? goOn(months, [group], deps.clock.now()) : dropped;
}

/** Deletes what earlier sweeps left. False if somebody reads it. */
async function clear(months: Months, groups: readonly MonthlyTables[]): Promise<boolean> {
  for (const group of groups) if ((await months.clear(group)) === "locked") return false;
  return true;
}

/** Makes the months to come, and counters go on in the present one: at last, because nothing may be dropped in the same sweep any more. */
async function goOn(months: Months, groups: readonly MonthlyTables[], now: number): Promise<Attempt> {
  for (const group of groups) if ((await months.prepare(group, now)) === "locked") return "locked";
  for (const group of groups) await months.advance(group, now);
  return "done";
}

/** The tables that are divided by months: mail, its contents, and events. */
function listMonthlyTables(t: Reader["t"]): Readonly<Record<"mail" | "contents" | "events", MonthlyTables>> {
  return {
    // Emails, with what is found by their ids.
    mail: {
      tables: [
        { table: t.emails, key: t.emails.id },
        { table: t.emailLabels, key: t.emailLabels.emailId },
        { table: t.engagements, key: t.engagements.emailId },
        { table: t.campaignReactions, key: t.campaignReactions.emailId },
        { table: t.campaignLinkClicks, key: t.campaignLinkClicks.emailId },
      ],
      firstKey: (ms) => firstIdAt("em", startOfMonth(ms)),
      apart: TEST_MAIL_FROM,
      counted: false,
    },
    // Contents, with their files.
    contents: {
      tables: [
        { table: t.contents, key: t.contents.id },
        { table: t.attachments, key: t.attachments.contentsId },
        { table: t.attachmentParts, key: t.attachmentParts.contentsId },
      ],
      firstKey: firstNumberOfMonth,
      apart: null,
      counted: true,
    },
    // Events, with their numbers.
    events: {
      tables: [
        { table: t.events, key: t.events.sequence },
        { table: t.eventRuns, key: t.eventRuns.key },
      ],
      firstKey: firstNumberOfMonth,
      apart: null,
      counted: true,
    },
  };
}

async function dropMail(months: Months, { db: { read }, clock }: RetentionDeps, group: MonthlyTables, before: number): Promise<boolean> {
  const end = await months.findEnd(group, before);
  const staying = end === null ? null : await listStayingMail(read, String(end), clock.now());
  if (end === null || !staying) return true;
  const byEmail = staying.map(({ workspaceId, id: emailId }) => ({ workspaceId, emailId }));
  const { emails, emailLabels, engagements } = read.t;
  // Emails of campaigns stay only while these are sent, and then no month is dropped.
  const kept: Kept[] = [
    { table: emails, keys: staying.map(({ workspaceId, id }) => ({ workspaceId, id })) },
    { table: emailLabels, keys: byEmail.map(({ emailId }) => ({ emailId })) },
    { table: engagements, keys: byEmail },
  ];
  return (await months.drop(group, end, kept)) === "done";
}

/** Contents are dropped when the mail of their month was: what other mail still has is kept. */
async function dropContents(months: Months, { db: { read } }: RetentionDeps, group: MonthlyTables, before: number): Promise<boolean> {
  const end = await months.findEnd(group, before);
  const staying = end === null ? null : await listStayingContents(read, Number(end));
  if (end === null || !staying) return true;
  const files = staying.map((contentsId) => ({ contentsId }));
  const kept: Kept[] = [
    { table: read.t.contents, keys: staying.map((id) => ({ id })) },
    { table: read.t.attachments, keys: files },
    { table: read.t.attachmentParts, keys: files },
  ];
  return (await months.drop(group, end, kept)) === "done";
}

async function dropEvents(months: Months, { db }: RetentionDeps, group: MonthlyTables, before: number): Promise<Progress> {
  const end = await months.findEnd(group, before);
  if (end === null) return "done";
  const to = Number(end);
  const { events: e, eventRuns: r, eventArrivals: a } = db.read.t;
  const [newest] = await db.read.select({ at: e.at }).from(e).where(lt(e.sequence, to)).orderBy(desc(e.sequence)).limit(1);
  // Events that have no numbers yet, or that were not read, are still to be followed up.
  const [arrival] = await db.read.select({ key: a.key }).from(a).where(lt(a.key, to)).limit(1);
  const isUnread = arrival !== undefined || (await isSomeUnread(db.read)) || (await isSomeUnreadBelow(db.read, to));
  if ((newest && newest.at >= before) || isUnread) return "done";
  const staying = await listNeededDeparturesBelow(db.read, to, before);
  if (staying === null) return "done";
  // Some at a time: there may be millions.
  if ((await db.tx((tx) => forgetDeliveriesBelow(tx, to))) > 0) return "more";
  if ((await db.tx((tx) => forgetTrackedIdsBelow(tx, to))) > 0) return "more";
  return months.drop(group, end, [
    { table: e, keys: staying.map((sequence) => ({ sequence })) },
    { table: r, keys: await listRunKeys(db.read, staying) },
  ]);
}
