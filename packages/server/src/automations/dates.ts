import { type AutomationTrigger, findNextTimeOfDay, minutesOfDay, toLocalTime } from "@mailsvc/sdk/contract";
import { and, asc, eq, gt, or, type SQL } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { DAY } from "../lib/units.ts";
import type { JobHandler, NewJob } from "../queue/queue.ts";
import { getBrand } from "../workspaces/workspaces.ts";
import type { AutomationDeps } from "./automations.ts";
import { enter } from "./entries.ts";
import { type AutomationRow, findAutomationRow } from "./store.ts";

/*
 * A date trigger lets contacts enter once a day, at its time of day: all whose date, and the days that the trigger adds, is that day.
 * `nextDateAt` is the instant of the next day's turn, and a job for it waits in the queue.
 *
 * | what happens                        | nextDateAt                  | job                                                          |
 * | ----------------------------------- | --------------------------- | ------------------------------------------------------------ |
 * | activated, or given another trigger | the next turn, from now on  | one for that instant                                         |
 * | the job of that instant runs        | stays                       | lets some contacts enter, and runs again for the others      |
 * | … and there are no others           | the next turn after it      | one for that instant: what the server missed is made up for  |
 * | a job of another instant runs       | stays                       | does nothing: it is from before the last activation          |
 * | paused                              | stays                       | the one that waits finds it paused and does nothing          |
 */

/** Job kind: lets contacts enter whose date has come. */
export const DATES_JOB = "automations.dates";

type DateTrigger = Extract<AutomationTrigger, { type: "date" }>;

// Contacts that enter in one transaction.
const CHUNK = 200;

/** Begins to let contacts enter by their dates, if the trigger of an active automation is a date; ends it otherwise. */
export async function restartDates(tx: Tx, deps: AutomationDeps, automation: AutomationRow): Promise<void> {
  const { id, trigger, workspaceId } = automation;
  const now = deps.clock.now();
  await setNext(tx, deps, automation, trigger.type === "date" ? await findTurn(tx, workspaceId, trigger, now) : null, id);
}

/** Lets some of the contacts enter whose date has come, in the order of their keys. */
export function enterByDate(deps: AutomationDeps): JobHandler {
  return async ({ payload }) => {
    const [automationId, at, after] = [String(payload.automationId), Number(payload.at), Number(payload.after)];
    const seen = await findCurrent(deps.db.read, automationId, at);
    if (!seen) return {};
    const entrants = await findContacts(deps.db.read, seen.automation, seen.trigger, at, after);
    return {
      commit: async (tx) => {
        const current = await findCurrent(tx, automationId, at);
        if (!current) return;
        const { automation, trigger } = current;
        // Read a moment ago: one that was deleted since must not enter.
        const there = await findRows(tx, tx.t.contacts, { id: entrants.map(({ id }) => id) });
        await enter(tx, deps, automation, there);
        const last = entrants.at(-1);
        if (last && entrants.length === CHUNK) await deps.queue.enqueue(tx, buildJob(automation, at, last.seq, deps.clock.now()));
        else await setNext(tx, deps, automation, await findTurn(tx, automation.workspaceId, trigger, at + 1), automationId);
      },
    };
  };
}

async function setNext(tx: Tx, deps: AutomationDeps, automation: AutomationRow, nextDateAt: number | null, id: string): Promise<void> {
  const { automations: a } = tx.t;
  await tx.update(a).set({ nextDateAt }).where(eq(a.id, id));
  if (nextDateAt !== null) await deps.queue.enqueue(tx, buildJob(automation, nextDateAt, 0, deps.clock.now()));
}

function buildJob({ workspaceId, id }: AutomationRow, at: number, after: number, now: number): NewJob {
  return { kind: DATES_JOB, payload: { workspaceId, automationId: id, at, after }, ...(at > now && { runAt: at }) };
}

/** The automation, if it is active and this is the instant of its next turn. */
async function findCurrent(
  q: Tx | Reader,
  automationId: string,
  at: number,
): Promise<{ automation: AutomationRow; trigger: DateTrigger } | null> {
  const automation = await findAutomationRow(q, automationId);
  if (automation?.status !== "ACTIVE" || automation.nextDateAt !== at || automation.trigger.type !== "date") return null;
  return { automation, trigger: automation.trigger };
}

/** The first instant at or after `from` at which contacts enter. */
async function findTurn(q: Tx | Reader, workspaceId: string, { time = "00:00", timeZone }: DateTrigger, from: number): Promise<number> {
  return findNextTimeOfDay(from, minutesOfDay(time), timeZone ?? (await getBrand(q, workspaceId)).timezone);
}

/** The next contacts whose turn is at an instant. */
async function findContacts(
  read: Reader,
  { workspaceId }: AutomationRow,
  { field, days = 0, yearly = false, timeZone }: DateTrigger,
  at: number,
  after: number,
): Promise<{ id: string; seq: number }[]> {
  const { contacts: c } = read.t;
  const dialect = read.sqlDialect;
  const zone = timeZone ?? (await getBrand(read, workspaceId)).timezone;
  const local = toLocalTime(at, zone);
  const wanted = new Date(Date.UTC(local.year, local.month - 1, local.day) - days * DAY).toISOString().slice(0, 10);
  const text = dialect.dateText(dialect.jsonText(c.customFields, field.slice("customFields.".length)));
  const isDay = yearly
    ? or(...listAnniversaries(wanted).map((monthAndDay) => dialect.holds(text, `-${monthAndDay}T`)))
    : dialect.starts(text, wanted);
  return read
    .select({ id: c.id, seq: c.seq })
    .from(c)
    .where(and(eq(c.workspaceId, workspaceId), gt(c.seq, after), isDay as SQL))
    .orderBy(asc(c.seq))
    .limit(CHUNK);
}

/** The months and days that are celebrated on a date: those of 29 February on the 28th, in years without it. */
function listAnniversaries(date: string): string[] {
  const [year = 0, monthAndDay = ""] = [Number(date.slice(0, 4)), date.slice(5)];
  const isLeap = new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1;
  return monthAndDay === "02-28" && !isLeap ? ["02-28", "02-29"] : [monthAndDay];
}
