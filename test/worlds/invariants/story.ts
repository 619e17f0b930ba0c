import { EMAIL_STATES, type EmailStatus } from "@mailsvc/sdk/contract";
import { positionOf } from "../../../packages/server/src/events/events.ts";
import type { Universe } from "../universe.ts";
import type { Invariant } from "./invariant.ts";

export const STORY: Invariant = {
  name: "story",
  promise: "The events tell what happened: each once, in its order, up to the present state.",
  says: [
    "Whoever knows nothing but the events, in the order of their numbers, arrives at the state that the service shows. The events of a mail go along the ways that the table of states allows, and the last of them is that of its state; a mail that was skipped has none. The last event of a campaign is that of its state, and it is completed at most once.",
    "Each entry of an automation has one event that it entered. One that has ended has one event of its end, after that; one that has not has none. Of a person who was erased nothing is told but the end.",
  ],
  check: async (universe) => {
    const events = await readEvents(universe);
    return [...(await mails(universe, events)), ...(await campaigns(universe, events)), ...(await entries(universe, events))];
  },
};

interface Told {
  readonly type: string;
  readonly emailId: string | null;
  readonly campaignId: string | null;
  readonly data: Record<string, unknown> | null;
}

/** All events in the order of their numbers. */
async function readEvents({ world }: Universe): Promise<readonly Told[]> {
  const { read } = world.app.deps.db;
  const rows = await read.select({ event: read.t.events, position: positionOf(read.t) }).from(read.t.events);
  return rows.sort((one, other) => (one.position ?? 0) - (other.position ?? 0)).map(({ event }) => event);
}

const BY_EVENT = new Map<string, EmailStatus>(
  (["queued", "sent", "delivered", "deferred", "bounced", "complained", "failed", "suppressed", "cancelled"] as const).map((status) => [
    `email.${status}`,
    status,
  ]),
);

/** The states that events can tell of next: `sending` has no event. */
const nextOf = (status: EmailStatus): readonly EmailStatus[] => {
  const { next } = EMAIL_STATES[status];
  return next.includes("sending") ? [...next, ...EMAIL_STATES.sending.next] : next;
};

async function mails({ world, script }: Universe, events: readonly Told[]): Promise<string[]> {
  // Deleted events may include the beginning of a story.
  if (script.keepDays !== null) return [];
  const { read } = world.app.deps.db;
  const told = Map.groupBy(
    events.filter(({ type }) => BY_EVENT.has(type)),
    ({ emailId }) => emailId,
  );
  return (await read.select().from(read.t.emails)).flatMap(({ id, status, campaignId }) => {
    const path = (told.get(id) ?? []).map(({ type }) => BY_EVENT.get(type) as EmailStatus);
    const isWay = path.every((next, i) => i === 0 || isNext(path[i - 1] as EmailStatus, next));
    const last = path.at(-1) ?? "queued";
    const shown = `The mail ${id}${campaignId === null ? "" : ` of ${campaignId}`} is ${status}, and its events tell ${path.join(", ")}.`;
    return isWay && (status === "skipped" || status === "sending" || last === status) ? [] : [shown];
  });
}

/** A mail that failed, bounced or was kept back can be queued again by a person; one that waits gets another time. */
function isNext(from: EmailStatus, to: EmailStatus): boolean {
  return nextOf(from).includes(to) || to === "queued";
}

const STATUS_OF: Readonly<Record<string, string>> = {
  "campaign.started": "SENDING",
  "campaign.resumed": "SENDING",
  "campaign.paused": "PAUSED",
  // It could not start when it was due.
  "campaign.failed": "PAUSED",
  "campaign.scheduled": "SCHEDULED",
  "campaign.cancelled": "CANCELLED",
  "campaign.completed": "SENT",
};

async function campaigns({ world, script }: Universe, events: readonly Told[]): Promise<string[]> {
  if (script.keepDays !== null) return [];
  const { read } = world.app.deps.db;
  const told = Map.groupBy(
    events.filter(({ type }) => type in STATUS_OF),
    ({ campaignId }) => campaignId,
  );
  return (await read.select().from(read.t.campaigns)).flatMap(({ id, status }) => {
    const types = (told.get(id) ?? []).map(({ type }) => type);
    const last = STATUS_OF[types.at(-1) ?? ""] ?? "DRAFT";
    const twice = types.filter((type) => type === "campaign.completed" || type === "campaign.started").length > 2;
    return last === status && !twice ? [] : [`The campaign ${id} is ${status}, and its events tell ${types.join(", ")}.`];
  });
}

const ENDS = new Set(["automation.completed", "automation.exited", "automation.failed"]);

async function entries({ world, script }: Universe, events: readonly Told[]): Promise<string[]> {
  if (script.keepDays !== null) return [];
  const { read } = world.app.deps.db;
  const told = Map.groupBy(
    events.filter(({ type }) => ENDS.has(type) || type === "automation.entered"),
    ({ data }) => data?.["entryId"],
  );
  return (await read.select().from(read.t.automationEntries)).flatMap(({ id, status, reason }) => {
    const types = (told.get(id) ?? []).map(({ type }) => type);
    if (reason === "contact_deleted" && types.length < 2) return [];
    const wanted = status === "ACTIVE" ? "automation.entered" : `automation.entered, automation.${status.toLowerCase()}`;
    return types.join(", ") === wanted ? [] : [`The entry ${id} is ${status}, and its events tell ${types.join(", ") || "nothing"}.`];
  });
}
