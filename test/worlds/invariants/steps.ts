import { type AutomationStep, isTimeZone, toLocalTime } from "@mailsvc/sdk/contract";
import type { Universe } from "../universe.ts";

const MINUTE = 60_000;

type Tables = Universe["world"]["app"]["deps"]["db"]["read"]["t"];
type Contact = Tables["contacts"]["$inferSelect"];
type Move = Tables["automationMoves"]["$inferSelect"];

/** A step that an entry has taken, and what there is to compare it with. */
interface Taken {
  readonly move: Move;
  /** The step after it; undefined for the last one. */
  readonly next: Move | undefined;
  /** The contact as it was when the step was taken; undefined if it was changed since. */
  readonly contact: Contact | undefined;
  /** True if something may have kept the entry where it was. */
  readonly wasKept: boolean;
}

/** Says which steps of automations did not do what they say, or asked their question wrongly. */
export async function findWrongSteps({ world, ledger, script }: Universe): Promise<string[]> {
  const { read } = world.app.deps.db;
  const isLate = script.steps.some((step) => step.do === "disturb" && /^(month|fullDisk|faults|kill|move|oldBackup|backup)/.test(step.by));
  // Calls that change contacts at the instant of a step, after it.
  const isTouched = script.steps.some((step) =>
    step.do === "make"
      ? step.noun === "ownId"
      : step.do === "disturb" && (/^(contact|ownId)-/.test(step.on) || /^(import|undo)$/.test(step.by)),
  );
  const versions = new Map((await read.select().from(read.t.automationVersions)).map((row) => [`${row.automationId} ${row.version}`, row]));
  const contacts = new Map((await read.select().from(read.t.contacts)).map((row) => [row.id, row]));
  const mails = new Set((await read.select().from(read.t.emails)).map(({ id }) => id));
  const moves = Map.groupBy(await read.select().from(read.t.automationMoves), ({ entryId }) => entryId);
  return (await read.select().from(read.t.automationEntries)).flatMap((entry) => {
    const steps = versions.get(`${entry.automationId} ${entry.version}`)?.steps ?? [];
    const path = (moves.get(entry.id) ?? []).sort((one, other) => one.move - other.move);
    const known = contacts.get(entry.contactId);
    return path.flatMap((move, i) => {
      const step = steps.find(({ id }) => id === move.stepId);
      const next = path[i + 1];
      const wasPaused = ledger.stops.some(
        ({ what, from, until: end }) =>
          what === entry.automationId && from.at < (next?.at ?? move.at) && (end === null || end.at > move.at),
      );
      const isSame = known !== undefined && (known.updatedAt < move.at || (known.updatedAt === move.at && !isTouched));
      const contact = isSame ? known : undefined;
      const what = step && judge(step, { move, next, contact, wasKept: wasPaused || isLate });
      if (what) return [`The entry ${entry.id} was at ${move.stepId}: ${what}`];
      const isLost = script.keepDays === null && known !== undefined && move.emailId !== null && !mails.has(move.emailId);
      return isLost ? [`The entry ${entry.id} has sent the mail ${move.emailId} at ${move.stepId}, which does not exist.`] : [];
    });
  });
}

/** Fault of a step that was taken; null if it did what it says. */
function judge(step: AutomationStep, { move, next, contact, wasKept }: Taken): string | null {
  if (step.type === "send_email" && move.outcome === "done" && move.emailId === null) return "it sends mail, and has sent none.";
  if (step.type === "wait_until") return next && !wasKept ? judgeMoment(step, next, contact) : null;
  if (contact === undefined || move.outcome !== "done") return null;
  switch (step.type) {
    case "add_tag":
      return contact.tags.includes(step.tag) ? null : `the contact has no tag ${step.tag}.`;
    case "remove_tag":
      return contact.tags.includes(step.tag) ? `the contact has the tag ${step.tag} yet.` : null;
    case "update_contact":
      return Object.entries(step.set.customFields ?? {}).every(([name, value]) => contact.customFields[name] === value)
        ? null
        : "the contact does not have the fields that it sets.";
    case "condition": {
      if (!("field" in step.rule) || step.rule.field !== "customFields.score") return null;
      const score = contact.customFields["score"];
      const answer = typeof score === "number" && score >= Number(step.rule.value) ? "yes" : "no";
      return move.branch === answer ? null : `it went on by "${move.branch}", and the score is ${score}.`;
    }
    default:
      return null;
  }
}

/** A wait for a time of day on some weekdays is over at such a time; where clocks change, in the hour around it. */
function judgeMoment(
  { time = "00:00", weekdays, timeZone }: Extract<AutomationStep, { type: "wait_until" }>,
  { at }: Move,
  contact: Contact | undefined,
): string | null {
  const own = contact?.customFields["timeZone"];
  const zone = timeZone === "contact" ? own : timeZone;
  if (typeof zone !== "string" || !isTimeZone(zone)) return null;
  const { year, month, day, minutes } = toLocalTime(at, zone);
  const weekday = new Date(Date.UTC(year, month - 1, day)).toLocaleDateString("en", { weekday: "long", timeZone: "UTC" }).toLowerCase();
  const [hours = 0, rest = 0] = time.split(":").map(Number);
  const late = minutes - hours * 60 - rest;
  const changes = toLocalTime(at - 6 * 60 * MINUTE, zone).minutes + 6 * 60 !== minutes + 24 * 60 * Number(minutes < 6 * 60);
  const isRight = (weekdays ?? [weekday]).some((one) => one === weekday) && (changes ? Math.abs(late) <= 60 : late === 0);
  return isRight ? null : `it went on on ${weekday} at minute ${minutes} of the day in ${zone}, and not at ${time}.`;
}
