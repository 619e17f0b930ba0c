import { isTimeZone, type LocalTime, type Throttle, toLocalTime } from "@mailsvc/sdk/contract";
import { isTestMail } from "../../../packages/server/src/lib/ids.ts";
import type { Universe } from "../universe.ts";
import type { Invariant } from "./invariant.ts";
import { findTooFast } from "./paces.ts";
import { listSends, WAITS_MS } from "./sends.ts";

export const STILL: Invariant = {
  name: "still",
  promise: "What was paused or cancelled stands still from the moment that was acknowledged until it is resumed.",
  says: [
    "While a campaign is paused, and for good once it is cancelled, none of its mail is handed over, also not mail that was ready to leave; what is being handed over when the pause is answered, or is next, leaves within a second. While an automation is paused, none of its entries takes a step; mail of steps that it took before may still leave. A mail that was cancelled is not handed over unless a person queues it again. While the operator has paused sending, no mail is handed over but what a server had claimed before, and what the service itself writes to those who work with it. The same holds for a domain that the operator holds, but for test mail, which goes to no domain. A webhook that is paused is not called.",
    "It counts from the answer of the service to the answer before it goes on. A call that was lost with its server counts as neither.",
  ],
  check: async (universe) => {
    if (universe.rewound) return [];
    const { read } = universe.world.app.deps.db;
    const campaigns = new Map((await read.select().from(read.t.emails)).map(({ id, campaignId }) => [id, campaignId]));
    const { stops } = universe.ledger;
    const found = (await listSends(universe)).flatMap((one) => {
      // Links to sign in leave at any time, and test mail goes to no domain.
      const domain = one.emailId !== null && isTestMail(one.emailId) ? "" : one.to.slice(one.to.indexOf("@"));
      const names = one.emailId === null ? [] : [one.emailId, campaigns.get(one.emailId), "sending", domain];
      const stop = stops.find(
        ({ what, from, until, isSoft }) =>
          names.includes(what) && one.isAfter(from) && (!isSoft || one.at > from.at) && (until === null || one.isBefore(until)),
      );
      return stop ? [`The mail ${one.emailId} was handed over to ${one.to} while ${stop.what} was stopped.`] : [];
    });
    return [...found, ...(await movesDuringPauses(universe)), ...callsDuringPauses(universe)];
  },
};

/** Says which webhooks were called while they were paused. */
function callsDuringPauses({ ledger }: Universe): string[] {
  return ledger.calls.flatMap(({ name, at, body }) => {
    const stop = ledger.stops.find(({ what, from, until }) => what === name && from.at < at && (until === null || at < until.at));
    return stop ? [`${name} was called while it was paused: ${body.slice(0, 100)}`] : [];
  });
}

async function movesDuringPauses({ world, ledger }: Universe): Promise<string[]> {
  const { read } = world.app.deps.db;
  const automations = new Map((await read.select().from(read.t.automationEntries)).map(({ id, automationId }) => [id, automationId]));
  return (await read.select().from(read.t.automationMoves)).flatMap(({ entryId, stepId, at }) => {
    const automation = automations.get(entryId);
    const stop = ledger.stops.find(({ what, from, until }) => what === automation && from.at < at && (until === null || at < until.at));
    return stop ? [`The entry ${entryId} took the step ${stepId} while its automation was paused.`] : [];
  });
}

export const EARLY: Invariant = {
  name: "early",
  promise: "Nothing leaves before its time, outside its hours or faster than its pace.",
  says: [
    "A mail with a time is sent at that time at the earliest, and so is a campaign with a schedule, or with a local time of each reader. Mail of a campaign with a window of hours is released, which is when its first attempt becomes due, within the window, by the clock of its time zone, also where that changes to or from summer time.",
    "A campaign with a pace of so many mails a second releases no more than that at once, and as long after the last ones as the pace says. It counts from the first release; a campaign that somebody resumes may release at once. Over a relay with a pace no more mail leaves in any stretch of time than that pace allows, of all servers together, but for the mail of a tenth of a second that each server may send at once; a change counts from its answer, within ten seconds.",
    "An agent is woken at its time at the earliest. A mail that was put off is tried again after 1, 5 and 15 minutes, then after 1, 2, 4, 8, 16 and 16 hours, each up to a fifth shorter at the earliest, unless somebody asks for it.",
  ],
  check: async (universe) => {
    const { read } = universe.world.app.deps.db;
    const campaigns = await read.select().from(read.t.campaigns);
    const mails = await read.select().from(read.t.emails);
    const found = mails.flatMap(({ id, sentAt, scheduledAt }) =>
      sentAt !== null && scheduledAt !== null && sentAt < scheduledAt ? [`The mail ${id} was sent before its time.`] : [],
    );
    const resumed = new Set(
      (await read.select().from(read.t.events)).flatMap(({ type, campaignId }) => (type === "campaign.resumed" ? campaignId : [])),
    );
    for (const { id, throttle, localTime, scheduledAt, startedAt } of campaigns) {
      if (scheduledAt !== null && startedAt !== null && startedAt < scheduledAt)
        found.push(`The campaign ${id} has started before its time.`);
      if (localTime !== null) found.push(...(await atWrongTime(universe, { id, localTime, startedAt })));
      if (throttle === null || localTime !== null) continue;
      const released = mails.filter(({ campaignId, sentAt }) => campaignId === id && sentAt !== null).map((mail) => mail.scheduledAt ?? 0);
      const outside = released.find((at) => !isOpen(throttle.window, at));
      if (outside !== undefined)
        found.push(`The campaign ${id} has released mail at ${new Date(outside).toISOString()}, outside its window.`);
      // Deleted events no longer tell who was resumed.
      if (throttle.perSecond !== undefined && !resumed.has(id) && !universe.rewound && universe.script.keepDays === null)
        found.push(...tooFast(released, throttle.perSecond).map((what) => `The campaign ${id} ${what}`));
    }
    // Deeds after the instant to which data was set back are done again.
    if (universe.rewound) return found;
    const woken = wokenEarly(universe, await read.select().from(read.t.wakeups));
    return [...found, ...woken, ...triedTooSoon(universe), ...findTooFast(universe)];
  },
};

/** True within a window of hours; one such as 22:00 to 06:00 holds midnight. */
function isOpen(window: Throttle["window"], at: number): boolean {
  if (window === undefined) return true;
  const { minutes } = toLocalTime(at, window.timeZone);
  const [start, end] = [minutesOf(window.start), minutesOf(window.end)];
  return start < end ? minutes >= start && minutes < end : minutes >= start || minutes < end;
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

interface LocalCampaign {
  readonly id: string;
  readonly localTime: LocalTime;
  readonly startedAt: number | null;
}

/** Says which readers whose zone is certain were not to get a campaign at its time by their clock. */
async function atWrongTime({ world }: Universe, { id, localTime, startedAt }: LocalCampaign): Promise<string[]> {
  const { read } = world.app.deps.db;
  const contacts = new Map((await read.select().from(read.t.contacts)).map((row) => [row.id, row]));
  return (await read.select().from(read.t.emails)).flatMap(({ id: emailId, campaignId, contactId, scheduledAt, status }) => {
    const contact = contacts.get(contactId ?? "");
    if (campaignId !== id || status === "skipped" || scheduledAt === null || !contact || contact.updatedAt >= (startedAt ?? 0)) return [];
    const own = contact.customFields[localTime.field];
    const zone = typeof own === "string" && isTimeZone(own) ? own : localTime.fallback;
    const { year, month, day, minutes } = toLocalTime(scheduledAt, zone);
    const clock = Date.UTC(year, month - 1, day, 0, minutes);
    const wanted = Date.parse(`${localTime.at}Z`);
    // An hour later if clocks were put forward over that time; at once if the campaign started after it.
    const isRight = clock - wanted >= 0 && (clock - wanted <= 3_600_000 || scheduledAt <= (startedAt ?? 0) + 1000);
    return isRight
      ? []
      : [`The mail ${emailId} of the campaign ${id} was due at minute ${minutes} of the day in ${zone}, and not at ${localTime.at}.`];
  });
}

interface Wakeup {
  readonly id: string;
  readonly createdAt: number;
  readonly fireAt: number;
}

/** Says which agents were woken before the time that is stored, or before the time that they have asked for. */
function wokenEarly({ ledger, things }: Universe, wakeups: readonly Wakeup[]): string[] {
  const told = ledger.calls.filter(({ body }) => body.includes('"agent.wakeup"'));
  const delays = new Map([...things.values()].map(({ id, also }) => [id, Number(also["delaySeconds"] ?? 0) * 1000]));
  return wakeups.flatMap(({ id, createdAt, fireAt }) => {
    const due = Math.max(fireAt, createdAt + (delays.get(id) ?? 0));
    return told.some(({ body, at }) => at < due && body.includes(id)) ? [`The wakeup ${id} was sent before its time.`] : [];
  });
}

// Each wait after a mail server has put a mail off is up to a fifth longer or shorter than its number says.
const SHORTEST = 0.8;

/** Says which mail was handed over again right after a mail server had put it off, although nobody has asked for that. */
function triedTooSoon({ ledger, script, peer }: Universe): string[] {
  const isAsked = /^(?:resume|requeue|pauseForAWhile|between|relay|kill|faults|slowDisk|pauseSending)/;
  if (peer === null || script.steps.some((step) => step.do === "disturb" && isAsked.test(step.by))) return [];
  return [...Map.groupBy(ledger.handOvers, ({ emailId, to }) => `${emailId} ${to}`)].flatMap(([what, tries]) =>
    tries.flatMap(({ at }, i) => {
      const before = tries[i - 1];
      const least = (WAITS_MS[i - 1] ?? 0) * SHORTEST;
      return before && !what.startsWith("null") && at - before.at < least
        ? [`The mail ${what} was handed over again after ${at - before.at} ms.`]
        : [];
    }),
  );
}

/** Says where mail was released faster than a pace allows. */
function tooFast(released: readonly number[], perSecond: number): string[] {
  const atOnce = Math.max(1, Math.floor(perSecond));
  const groups = [...Map.groupBy(released, (at) => at)].sort(([one], [other]) => one - other);
  return groups.flatMap(([at, group], i) => {
    if (group.length > atOnce) return [`has released ${group.length} mails at once, and its pace is ${perSecond} a second.`];
    const before = groups[i - 1];
    const wait = before ? ((before[1] as readonly number[]).length * 1000) / perSecond : 0;
    return before && at - before[0] < wait - 1
      ? [`has released mail ${at - before[0]} ms after the last ${before[1].length}, and its pace is ${perSecond} a second.`]
      : [];
  });
}
