import type { Universe } from "../universe.ts";
import type { Invariant } from "./invariant.ts";

const DAY = 86_400_000;

export const KEPT: Invariant = {
  name: "kept",
  promise: "What is to be deleted after some days is there until then, and gone two days later.",
  says: [
    "Some worlds delete mail, received mail and events after five days. At rest, none of them is older than seven days: no mail that was accepted earlier, no captured copy, no received mail, no event. A sweep runs once a day, so it may be a day late.",
    "Nothing is gone too early: mail that was accepted within the five days is there, with the event that tells so. In worlds that delete nothing, so is the mail of the weeks at rest.",
    "Mail that is in doubt stays until a person has looked at it. So does mail of a campaign that is paused or being sent, with what happened to it and the events that such a campaign still needs.",
  ],
  check: async (universe) => {
    const { world, script } = universe;
    const { read } = world.app.deps.db;
    const gone = await findGone(universe);
    if (script.keepDays === null) return gone;
    const before = universe.now() - (script.keepDays + 2) * DAY;
    const campaigns = await read.select().from(read.t.campaigns);
    const underWay = new Set(campaigns.flatMap(({ id, status }) => (status === "PAUSED" || status === "SENDING" ? id : [])));
    const mails = (await read.select().from(read.t.emails)).filter(
      ({ createdAt, inDoubt, campaignId }) => createdAt < before && !inDoubt && !underWay.has(campaignId ?? ""),
    );
    const captured = (await read.select().from(read.t.inbox)).filter(({ receivedAt }) => receivedAt < before);
    // A row of no workspace keeps the key of the newest event that was deleted.
    const all = (await read.select().from(read.t.events)).filter(({ workspaceId }) => workspaceId !== "");
    const events = underWay.size > 0 ? [] : all.filter(({ at }) => at < before);
    const received = (await read.select().from(read.t.received)).filter(({ receivedAt }) => receivedAt < before);
    return [
      ...gone,
      ...received.map(({ id }) => `The received mail ${id} is still there.`),
      ...mails.map(({ id, status, createdAt }) => `The mail ${id} (${status}) of ${new Date(createdAt).toISOString()} is still there.`),
      ...captured.map(({ id }) => `The captured mail ${id} is still there.`),
      ...events.map(({ type, at }) => `An event ${type} of ${new Date(at).toISOString()} is still there.`),
    ];
  },
};

/** Says which mail that was accepted at rest is not there any more, although it is not that old. */
async function findGone({ world, script, ledger }: Universe): Promise<string[]> {
  const { read } = world.app.deps.db;
  const mails = new Set((await read.select().from(read.t.emails)).map(({ id }) => id));
  const told = new Set((await read.select().from(read.t.events)).flatMap(({ type, emailId }) => (type === "email.queued" ? emailId : [])));
  const oldest = script.keepDays === null ? 0 : world.clock.now() - script.keepDays * DAY;
  return ledger.accepted.flatMap(({ id, at }) =>
    at <= oldest || (mails.has(id) && told.has(id))
      ? []
      : [`The mail ${id} of ${new Date(at).toISOString()} is gone, or no event tells of it.`],
  );
}
