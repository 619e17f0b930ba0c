import {
  CONTACT_TIME_ZONE,
  durationMs,
  findNextTimeOfDay,
  findTimeOfDate,
  isTimeZone,
  minutesOfDay,
  toLocalTime,
  WEEKDAYS,
} from "@mailsvc/sdk/contract";
import type { ContactRow } from "../../contacts/contacts.ts";
import { endOfWait } from "../due.ts";
import { toKey } from "../triggers.ts";
import type { StepKind, StepOf } from "./step.ts";

export const delay: StepKind<"delay"> = {
  perform: async ({ now }, entries) => entries.map(({ step }) => ({ outcome: "done", waitUntil: endOfWait(now, durationMs(step.for)) })),
  foresee: async (_context, { at }, step) => ({ waitUntil: endOfWait(at, durationMs(step.for)) }),
};

export const waitUntil: StepKind<"wait_until"> = {
  perform: async ({ now, timeZone }, entries) => {
    const zone = await timeZone();
    return entries.map(({ step, contact }) => ({ outcome: "done", waitUntil: findMoment(step, contact, zone, now) }));
  },
  foresee: async ({ timeZone }, { contact, at }, step) => ({ waitUntil: findMoment(step, contact, await timeZone(), at) }),
};

export const waitForEvent: StepKind<"wait_for_event"> = {
  /** An entry comes here twice: when it begins to wait, and when the event or the timeout has come. */
  perform: async ({ now }, entries) =>
    entries.map(({ step, entry }) =>
      entry.waitingIn === step.id
        ? { outcome: "done", branch: entry.met === true ? "event" : "timeout" }
        : { outcome: "done", stay: { event: toKey(step.event), until: endOfWait(now, durationMs(step.timeout)) } },
    ),
  /** Nobody can tell if the event will come, so this assumes that it does not. */
  foresee: async (_context, { at }, step) => ({
    branch: "timeout",
    waitUntil: endOfWait(at, durationMs(step.timeout)),
    assumed: true,
  }),
};

/**
 * Returns the time at which an entry that arrives at `wait_until` goes on, ms: `now` if that moment has come, or its date is over.
 * `zone` is the workspace's time zone.
 */
export function findMoment(
  { date, weekdays, time, timeZone }: StepOf<"wait_until">,
  { customFields }: Pick<ContactRow, "customFields">,
  zone: string,
  now: number,
): number {
  const ofContact = customFields["timeZone"];
  const own = typeof ofContact === "string" && isTimeZone(ofContact) ? ofContact : zone;
  const used = timeZone === CONTACT_TIME_ZONE ? own : (timeZone ?? zone);
  const minutes = minutesOfDay(time ?? "00:00");
  if (date !== undefined) {
    const [year = 0, month = 1, day = 1] = date.split("-").map(Number);
    return Math.max(now, findTimeOfDate({ year, month, day }, minutes, used));
  }
  const isWanted = (at: number): boolean => weekdays === undefined || weekdays.includes(weekdayOf(at, used));
  if (time === undefined && isWanted(now)) return now;
  let at = findNextTimeOfDay(now, minutes, used);
  while (!isWanted(at)) at = findNextTimeOfDay(at + 1, minutes, used);
  return at;
}

function weekdayOf(at: number, timeZone: string): (typeof WEEKDAYS)[number] {
  const { year, month, day } = toLocalTime(at, timeZone);
  return WEEKDAYS[(new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7] as (typeof WEEKDAYS)[number];
}
