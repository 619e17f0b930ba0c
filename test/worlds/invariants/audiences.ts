import type { Universe } from "../universe.ts";

/**
 * Says which contacts a campaign has left out: they were in its audience before it started, nothing was changed about them since, and they have
 * no mail of it.
 */
export async function findLeftOut({ world, script }: Universe): Promise<string[]> {
  // Deleted mail cannot tell who got it.
  if (script.keepDays !== null) return [];
  const { read } = world.app.deps.db;
  const contacts = await read.select().from(read.t.contacts);
  const lists = new Map((await read.select().from(read.t.lists)).map(({ id, seq }) => [id, seq]));
  const members = await read.select().from(read.t.listMembers);
  const states = new Map((await read.select().from(read.t.emails)).map((row) => [`${row.campaignId} ${row.toKey}`, row.status]));
  const sent = (await read.select().from(read.t.campaigns)).filter(
    ({ status, exclude }) => status === "SENT" && (exclude ?? []).length === 0,
  );
  return sent.flatMap(({ id, workspaceId, recipientType, listId, startedAt }) => {
    if (startedAt === null || (recipientType !== "all" && recipientType !== "list")) return [];
    const joined = new Set(
      members.flatMap((one) =>
        one.listSeq === lists.get(listId ?? "") && one.status === "MEMBER" && (one.joinedAt ?? startedAt) < startedAt ? one.contactSeq : [],
      ),
    );
    const asked = contacts.filter(
      (one) =>
        one.workspaceId === workspaceId &&
        one.status === "SUBSCRIBED" &&
        one.updatedAt < startedAt &&
        (recipientType === "all" || joined.has(one.seq)),
    );
    const gone = contacts.filter((one) => one.workspaceId === workspaceId && one.status === "UNSUBSCRIBED" && one.updatedAt < startedAt);
    return [
      ...asked
        .filter(({ emailKey }) => !states.has(`${id} ${emailKey}`))
        .map(({ email }) => `The campaign ${id} has left out ${email}, who was in its audience when it started.`),
      ...gone
        .filter(({ emailKey }) => (states.get(`${id} ${emailKey}`) ?? "skipped") !== "skipped")
        .map(({ email }) => `The campaign ${id} has a mail for ${email}, who had unsubscribed when it started.`),
    ];
  });
}
