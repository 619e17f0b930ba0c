import { desc, lt } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { firstNumberOfMonth, type Kept, type MonthlyTables, type Months } from "../db/months.ts";
import { forgetDeliveriesBelow } from "../developer-webhooks/developer-webhooks.ts";
import { firstIdAt } from "../lib/ids.ts";
import { startOfMonth } from "../lib/month.ts";
import { TEST_MAIL_FROM } from "../lib/test-mail.ts";
import { DAY } from "../lib/units.ts";
import type { RetentionDeps } from "./deps.ts";
import { listStayingContents, listStayingMail } from "./mail.ts";
import type { RetentionPolicy } from "./policy.ts";

/*
 * Where the database divides tables by months (decision 17), mail and events are dropped with their months, as soon as all of the month is
 * old enough. What cannot be dropped is deleted row by row, as on SQLite: test mail, and months in which much has to stay. The tables
 * are divided by the first sweep of a server that does not keep such records forever.
 */

/** Records that are dropped with their months. */
const MONTHLY: ReadonlySet<keyof RetentionPolicy> = new Set(["emails", "events"]);

/** The instant (ms) before which records are old: where they go by months, the beginning of the month in which they would become old. */
export function findCutoff({ db, config, clock }: RetentionDeps, policy: keyof RetentionPolicy): number {
  const days = config.keepDays[policy];
  if (days === null) return Number.NEGATIVE_INFINITY;
  const cutoff = clock.now() - days * DAY;
  return db.months && MONTHLY.has(policy) ? startOfMonth(cutoff) : cutoff;
}

/** Whether months are dropped, so that the sweep has to run every day. */
export function hasMonths({ db, config }: RetentionDeps): boolean {
  return db.months !== null && [...MONTHLY].some((policy) => config.keepDays[policy] !== null);
}

/** Drops old months and makes those to come. False if others were using the tables for too long; it goes on from there when it is called again. */
export async function tendMonths(deps: RetentionDeps): Promise<boolean> {
  const { months, read } = deps.db;
  if (!months) return true;
  const { emails, events } = deps.config.keepDays;
  const now = deps.clock.now();
  const [mail, contents, log] = [mailOf(read), contentsOf(read), eventsOf(read)];
  const before = findCutoff(deps, "emails");
  if (emails !== null && !((await dropMail(months, deps, mail, before)) && (await dropContents(months, deps, contents, before))))
    return false;
  if (events !== null && !(await dropEvents(months, deps, log, findCutoff(deps, "events")))) return false;
  const groups = [...(emails === null ? [] : [mail, contents]), ...(events === null ? [] : [log])];
  for (const group of groups) if ((await months.prepare(group, now)) === "locked") return false;
  // At last: nothing is dropped in the same sweep any more.
  for (const group of groups) await months.advance(group, now);
  return true;
}

/** Emails, with what is found by their ids. */
function mailOf({ t }: Reader): MonthlyTables {
  return {
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
  };
}

/** Contents, with their files. */
function contentsOf({ t }: Reader): MonthlyTables {
  return {
    tables: [
      { table: t.contents, key: t.contents.id },
      { table: t.attachments, key: t.attachments.contentsId },
      { table: t.attachmentParts, key: t.attachmentParts.contentsId },
    ],
    firstKey: firstNumberOfMonth,
    apart: null,
    counted: true,
  };
}

/** Events, with their numbers. */
function eventsOf({ t }: Reader): MonthlyTables {
  return {
    tables: [
      { table: t.events, key: t.events.sequence },
      { table: t.eventNumbers, key: t.eventNumbers.eventKey },
    ],
    firstKey: firstNumberOfMonth,
    apart: null,
    counted: true,
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

async function dropEvents(months: Months, { db }: RetentionDeps, group: MonthlyTables, before: number): Promise<boolean> {
  const end = await months.findEnd(group, before);
  if (end === null) return true;
  const to = Number(end);
  const { events: e, eventArrivals: a } = db.read.t;
  const [newest] = await db.read.select({ at: e.at }).from(e).where(lt(e.sequence, to)).orderBy(desc(e.sequence)).limit(1);
  // Events that have no numbers yet are still to be delivered.
  const arrivals = await db.read.select({ keys: a.eventKeys }).from(a);
  if ((newest && newest.at >= before) || arrivals.some(({ keys }) => keys.some((key) => key < to))) return true;
  while ((await db.tx((tx) => forgetDeliveriesBelow(tx, to))) > 0);
  return (await months.drop(group, end, [])) === "done";
}
