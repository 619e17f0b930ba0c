import { eq } from "drizzle-orm";
import { isTestMail } from "../../../packages/server/src/lib/ids.ts";
import type { Refusal } from "../ledger.ts";
import { MARKS } from "../script.ts";
import type { Universe } from "../universe.ts";
import type { Invariant } from "./invariant.ts";
import { listSends, type Send } from "./sends.ts";

interface Sent {
  readonly contactId: string | null;
  readonly marketing: boolean;
  readonly inDoubt: boolean;
  readonly bypass: boolean;
}

/**
 * Loads the database's view of the mails that were handed over, by their ids and recipients: one mail may go to several. Mails of erased
 * people are gone.
 */
async function loadSent({ world }: Universe): Promise<ReadonlyMap<string, Sent>> {
  const { read } = world.app.deps.db;
  const { emails, contents } = read.t;
  const rows = await read.select().from(emails).innerJoin(contents, eq(contents.id, emails.contentsId));
  return new Map(
    rows.map(({ emails: e, contents: c }) => [
      `${e.mailId ?? e.id} ${e.toKey}`,
      {
        contactId: e.contactId,
        marketing: e.campaignId !== null || c.automationId !== null,
        inDoubt: e.inDoubt,
        bypass: c.bypassUnsubscribe,
      },
    ]),
  );
}

export const REFUSALS: Invariant = {
  name: "refusals",
  promise: "Nobody who said no is mailed after that was acknowledged.",
  says: [
    "Once the service has answered that a person wants no mail, none is handed over to them: no campaign and no automation after a no to marketing, nothing at all after a no to everything. It counts from the answer, also for mail that is on its way to the mail server; what is being handed over at that moment leaves within a second. It counts until the person confirms or signs up anew, or somebody sets their contact to SUBSCRIBED or removes the suppression: no import, no upsert and no erasure takes it back. A call that would send them a mail is refused. A no to marketing keeps no receipt back that its sender marks as one.",
    "A campaign to a list goes to people who have joined it, not to those who were asked to confirm and have not. A contact that was deleted gets no mail of a campaign or an automation any more. Who leaves a list by themselves gets no mail of a campaign to that list any more, also none that was on its way, until they join it again. A person who has said no and is erased has said no for good, also where somebody adds the address again. Mail that was sent with a test key goes to nobody.",
  ],
  check: async (universe) => {
    if (universe.rewound) return [];
    const sent = await loadSent(universe);
    const { refusals, handOvers } = universe.ledger;
    const accepted = await listAccepted(universe);
    const unasked = await listUnconfirmed(universe);
    const found = [...unasked].map((id) => `The mail ${id} of a campaign to a list went to somebody who has not joined it.`);
    found.push(...(await sentAfterLeaving(universe)));
    const tests = handOvers
      .filter(({ emailId }) => isTestMail(emailId))
      .map(({ emailId, to }) => `The test mail ${emailId} went to ${to}.`);
    const late = (await listSends(universe)).flatMap((one) => {
      const mail = sent.get(`${one.emailId} ${one.to}`);
      if (universe.ledger.removals.some((removal) => mail?.marketing && mail.contactId === removal.contactId && one.isAfter(removal)))
        return [`The mail ${one.emailId} went to ${one.to} after the contact ${mail?.contactId} was deleted.`];
      const no = mail && refusals.find((refusal) => forbids(universe, refusal, one, mail));
      return no ? [`The mail ${one.emailId} went to ${one.to} after a no of scope ${no.scope}.`] : [];
    });
    return [...found, ...tests, ...late, ...accepted, ...(universe.ledger.notes.get("refusals") ?? [])];
  },
};

/** Asks for one more mail to each who has said no, and says for whom it was accepted. */
async function listAccepted(universe: Universe): Promise<string[]> {
  const found: string[] = [];
  for (const { tenant, address, scope } of universe.ledger.refusals) {
    const mail = { from: "hello@acme.test", to: address, subject: `Once more ${MARKS[tenant]}`, text: "Hello" };
    if (await universe.value(() => universe.sdk(tenant).emails.send(mail)))
      found.push(`A mail to ${address} was accepted, who has said no of scope ${scope}.`);
  }
  return found;
}

function forbids({ workspaces }: Universe, no: Refusal, one: Send, mail: Sent): boolean {
  if (!one.isAfter(no) || no.address !== one.to || workspaces[no.tenant] !== one.workspaceId) return false;
  return no.scope === "all" || (mail.marketing && !mail.bypass);
}

/** Mail of campaigns to one list whose contacts had not joined it when the campaign started. */
async function listUnconfirmed({ world, script }: Universe): Promise<ReadonlySet<string>> {
  // Deleted events no longer tell who joined.
  if (script.keepDays !== null) return new Set();
  const { read } = world.app.deps.db;
  const campaigns = new Map((await read.select().from(read.t.campaigns)).map((row) => [row.id, row]));
  const joined = new Map<string, number>();
  for (const { type, contactId, data, at } of await read.select().from(read.t.events))
    if (type === "list.joined" && !joined.has(`${data?.["listId"]} ${contactId}`)) joined.set(`${data?.["listId"]} ${contactId}`, at);
  const mails = await read.select().from(read.t.emails);
  return new Set(
    mails.flatMap(({ id, campaignId, contactId, sentAt }) => {
      const { recipientType, listId = null, startedAt = null } = campaigns.get(campaignId ?? "") ?? {};
      if (recipientType !== "list" || contactId === null || sentAt === null) return [];
      const at = joined.get(`${listId} ${contactId}`);
      return at !== undefined && at <= (startedAt ?? 0) ? [] : id;
    }),
  );
}

/** Says which mail of a campaign to a list was handed over to somebody who had left the list, and has not joined it again. */
async function sentAfterLeaving(universe: Universe): Promise<string[]> {
  const { ledger, script, world, workspaces } = universe;
  // Deleted events no longer tell who joined.
  if (script.keepDays !== null || ledger.departures.length === 0) return [];
  const { read } = world.app.deps.db;
  const lists = new Map((await read.select().from(read.t.campaigns)).map(({ id, listId }) => [id, listId]));
  const mails = new Map((await read.select().from(read.t.emails)).map((row) => [row.id, row]));
  const joins = (await read.select().from(read.t.events)).filter(({ type }) => type === "list.joined");
  const sends = await listSends(universe);
  return ledger.departures.flatMap((left) =>
    sends.flatMap((one) => {
      const mail = mails.get(one.emailId ?? "");
      if (lists.get(mail?.campaignId ?? "") !== left.list || one.to !== left.address || !one.isAfter(left)) return [];
      const hasJoined = joins.some(
        ({ contactId, data, at }) => contactId === mail?.contactId && data?.["listId"] === left.list && at >= left.at,
      );
      if (hasJoined || one.workspaceId !== workspaces[left.tenant]) return [];
      return [`The mail ${one.emailId} of a campaign to the list ${left.list} went to ${one.to}, who had left it.`];
    }),
  );
}

export const ONCE: Invariant = {
  name: "once",
  promise: "Nobody gets a mail twice, unless the service lists it as in doubt.",
  says: [
    "A mail is handed over once to each of its recipients. Where a crash, or a connection that broke, left open whether it arrived, it is handed over again under the same Message-ID, and listed as in doubt.",
    "A campaign has one mail for each address, however often its contact was changed, deleted or imported meanwhile. A request that is repeated with its Idempotency-Key sends nothing again. An event that a program reports under the same id again is answered as before, and counts once.",
  ],
  check: async (universe) => {
    if (universe.rewound) return [];
    const sent = await loadSent(universe);
    const found: string[] = [...(universe.ledger.notes.get("once") ?? [])];
    const taken = universe.ledger.handOvers.filter((one) => one.taken && one.emailId !== null);
    for (const [key, mails] of Map.groupBy(taken, ({ emailId, to }) => `${emailId} ${to}`)) {
      const mail = sent.get(key);
      if (mails.length > 1 && mail && !mail.inDoubt) found.push(`${key} was handed over ${mails.length} times and is not in doubt.`);
      if (new Set(mails.map(({ messageId }) => messageId)).size > 1) found.push(`${key} was handed over under several Message-IDs.`);
    }
    return [...found, ...(await doubleRecipients(universe)), ...(await trackedTwice(universe))];
  },
};

/** Says which events of a program, each of which it names by its own id, are there several times. */
async function trackedTwice({ world }: Universe): Promise<string[]> {
  const { read } = world.app.deps.db;
  const named = (await read.select().from(read.t.events)).flatMap(({ type, workspaceId, data }) => {
    const { batch } = (data?.["properties"] ?? {}) as { readonly batch?: string };
    return type === "contact.tracked" && batch !== undefined ? `${workspaceId} ${batch}` : [];
  });
  return [...Map.groupBy(named, (name) => name)].flatMap(([name, { length }]) =>
    length > 1 ? [`The event ${name} was tracked ${length} times.`] : [],
  );
}

async function doubleRecipients({ world }: Universe): Promise<string[]> {
  const { read } = world.app.deps.db;
  const { emails } = read.t;
  const rows = (await read.select().from(emails)).filter(({ campaignId, status }) => campaignId !== null && status !== "skipped");
  return [...Map.groupBy(rows, ({ campaignId, toKey }) => `${campaignId} ${toKey}`)]
    .filter(([, mails]) => mails.length > 1)
    .map(([key, mails]) => `The campaign and address ${key} have ${mails.length} mails.`);
}
