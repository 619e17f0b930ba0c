import type { SegmentRule } from "@mailsvc/sdk/contract";
import type { Universe } from "../universe.ts";

/**
 * Says whom a campaign has left out or reached by mistake: of those of whom it is certain whether they were in its audience when it started,
 * because neither they nor what decides about them was changed since.
 */
export async function findLeftOut({ world, script }: Universe): Promise<string[]> {
  // Deleted mail cannot tell who got it.
  if (script.keepDays !== null) return [];
  const { read } = world.app.deps.db;
  const contacts = await read.select().from(read.t.contacts);
  const groups = await loadGroups(world);
  const states = new Map((await read.select().from(read.t.emails)).map((row) => [`${row.campaignId} ${row.toKey}`, row.status]));
  const sent = (await read.select().from(read.t.campaigns)).filter(({ status }) => status === "SENT");
  return sent.flatMap(({ id, workspaceId, recipientType, listId, segmentId, exclude, startedAt }) => {
    if (startedAt === null || (recipientType !== "all" && recipientType !== "list" && recipientType !== "segment")) return [];
    const wanted = recipientType === "all" ? null : recipientType === "list" ? listId : segmentId;
    const isIn = (group: string | null, seq: number): boolean | null =>
      group === null ? true : (groups.get(group)?.(seq, startedAt) ?? null);
    return contacts.flatMap((one) => {
      if (one.workspaceId !== workspaceId || one.updatedAt >= startedAt) return [];
      const state = states.get(`${id} ${one.emailKey}`);
      const without = (exclude ?? []).map((group) => isIn(group, one.seq));
      const isAsked = isIn(wanted, one.seq);
      // A list from which they were taken since, or a segment whose rules were changed, cannot tell.
      if (isAsked === null || without.includes(null)) return [];
      const belongs = isAsked && !without.includes(true);
      if (one.status === "SUBSCRIBED" && belongs && state === undefined)
        return [`The campaign ${id} has left out ${one.email}, who was in its audience when it started.`];
      if (!belongs && state !== undefined) return [`The campaign ${id} has a mail for ${one.email}, who was not in its audience.`];
      if (one.status === "UNSUBSCRIBED" && (state ?? "skipped") !== "skipped")
        return [`The campaign ${id} has a mail for ${one.email}, who had unsubscribed when it started.`];
      return [];
    });
  });
}

/** Tells whether a contact that was not changed since was in a group at an instant; null where that is not known any more. */
type Belongs = (contactSeq: number, at: number) => boolean | null;

/** Fields of rules that change with their contact alone. */
const OF_CONTACT = /^(?:tags|status|customFields\.score)$/;

async function loadGroups({ app }: Universe["world"]): Promise<ReadonlyMap<string, Belongs>> {
  const { read } = app.deps.db;
  const joined = new Map((await read.select().from(read.t.listMembers)).map((row) => [`${row.listSeq} ${row.contactSeq}`, row]));
  const left = new Set(
    (await read.select().from(read.t.events)).flatMap(({ type, contactId, data }) =>
      type === "list.left" ? `${data?.["listId"]} ${contactId}` : [],
    ),
  );
  const ids = new Map((await read.select().from(read.t.contacts)).map(({ seq, id }) => [seq, id]));
  const members = new Set((await read.select().from(read.t.segmentMembers)).map((row) => `${row.segmentSeq} ${row.contactSeq}`));
  const lists = (await read.select().from(read.t.lists)).map(({ id, seq: listSeq, deletedAt }): [string, Belongs] => [
    id,
    (seq, at) => {
      const row = joined.get(`${listSeq} ${seq}`);
      if (deletedAt !== null || left.has(`${id} ${ids.get(seq)}`)) return null;
      if (row === undefined) return false;
      if (row.status !== "MEMBER" || row.joinedAt === null) return row.status === "MEMBER" ? null : false;
      return row.joinedAt < at ? true : row.joinedAt > at ? false : null;
    },
  ]);
  const segments = (await read.select().from(read.t.segments)).map((row): [string, Belongs] => {
    const isKnown = row.deletedAt === null && row.state === "READY" && isOfContact(row.rules);
    return [row.id, (seq, at) => (isKnown && row.updatedAt < at ? members.has(`${row.seq} ${seq}`) : null)];
  });
  return new Map([...lists, ...segments]);
}

function isOfContact(rule: SegmentRule): boolean {
  if ("field" in rule) return OF_CONTACT.test(rule.field);
  return "not" in rule ? isOfContact(rule.not) : Object.values(rule).flat().every(isOfContact);
}

/** Says which A/B tests were decided for a variant that fewer of its readers had opened, or followed, than another one. */
export async function findWrongWinners({ world, script }: Universe): Promise<string[]> {
  // Later reports change who counts as a reader.
  if (script.keepDays !== null || script.steps.some((step) => step.do === "disturb" && /^(report|erase)$/.test(step.by))) return [];
  const { read } = world.app.deps.db;
  const mails = await read.select().from(read.t.emails);
  const events = (await read.select().from(read.t.events)).filter(({ machine }) => machine === false);
  return (await read.select().from(read.t.campaigns)).flatMap(({ id, abTest, winner, decideAt }) => {
    if (abTest === null || abTest.winner === "manual" || winner === null || decideAt === null) return [];
    const type = abTest.winner === "clicks" ? "email.clicked" : "email.opened";
    const isOfTest = Map.groupBy(
      mails.filter(({ campaignId, variant, sentAt, status }) => {
        const isAccepted = status === "sent" || status === "delivered";
        return campaignId === id && variant !== null && sentAt !== null && sentAt < decideAt && isAccepted;
      }),
      ({ variant }) => variant,
    );
    // A test that was paused is decided when it goes on, by what was read until then.
    const isWorse = [decideAt, Number.POSITIVE_INFINITY].every((until) => {
      const reacted = new Set(events.flatMap((one) => (one.type === type && one.campaignId === id && one.at < until ? one.emailId : [])));
      const rates = new Map([...isOfTest].map(([name, own]) => [name, own.filter((one) => reacted.has(one.id)).length / own.length]));
      return (rates.get(winner) ?? 0) < Math.max(0, ...rates.values());
    });
    return isWorse ? [`The test ${id} was won by ${winner}, which fewer of its readers had read than another variant.`] : [];
  });
}
