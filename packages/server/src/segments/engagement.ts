import type { EventType } from "@mailsvc/sdk/contract";
import { and, eq, getTableColumns, inArray, isNotNull, isNull, lt, not, sql } from "drizzle-orm";
import type { Reader, RowChange, Tx } from "../db/db.ts";
import { alias, findRows } from "../db/find.ts";
import type { HeldContactSeq } from "../db/held.ts";
import type { EventReader, ReadEvent } from "../events/events.ts";
import { isTestMail } from "../lib/ids.ts";
import { MAIL_ACTIONS } from "./actions.ts";
import type { SegmentDeps } from "./deps.ts";
import { syncMembershipBy } from "./membership.ts";
import type { SegmentTables } from "./tables.ts";

type EngagementRow = SegmentTables["engagement"]["$inferSelect"];
type ActionRow = SegmentTables["contactActions"]["$inferSelect"] & { readonly contactSeq: HeldContactSeq };
type Instants = Omit<EngagementRow, "contactSeq">;

const NEVER: Instants = { lastSentAt: null, lastDeliveredAt: null, lastOpenedAt: null, lastClickedAt: null };

/** The instants that events change; rules ask for them by the same names. */
const INSTANTS = {
  "email.sent": "lastSentAt",
  "email.delivered": "lastDeliveredAt",
  "email.opened": "lastOpenedAt",
  "email.clicked": "lastClickedAt",
} as const satisfies Partial<Record<EventType, keyof Instants>>;

type EngagementType = keyof typeof INSTANTS;

/** The name of the reader, and what it reads. */
export const ENGAGEMENT: Pick<EventReader, "name" | "types"> = {
  name: "engagement",
  types: [...(Object.keys(INSTANTS) as EngagementType[]), "email.received", "contact.tracked"],
};

/**
 * Records what contacts did, and when they were last sent an email, received, opened or clicked one, and updates the segments that ask for
 * it. Test mail says nothing about people, and machines are none.
 */
export function engagementReader(deps: () => SegmentDeps): EventReader {
  return {
    ...ENGAGEMENT,
    plan: async (q, workspaceId, events) => {
      const own = events.filter(isOfPerson);
      const people = own.length === 0 ? [] : await findPeople(q, workspaceId, own);
      return people.length === 0 ? null : (tx) => recordEngagements(tx, deps(), workspaceId, people);
    },
  };
}

/** An event of a contact, with what is known of the contact's engagement; `contactSeq` is null when nothing is. */
interface Personal extends Instants {
  readonly event: ReadEvent;
  readonly seq: number;
  readonly contactSeq: number | null;
  /** The slug of the template of the mail; null without one. */
  readonly template: string | null;
}

/** True for what a person did, or what happened to their mail. An answer counts unless a program wrote it. */
export function isOfPerson({ type, emailId, contactId, machine, data }: ReadEvent): boolean {
  if (emailId !== null && isTestMail(emailId)) return false;
  if (type === "contact.tracked") return contactId !== null;
  if (type === "email.received") return emailId !== null && contactId !== null && data?.autoReply === null;
  return emailId !== null && machine !== true;
}

export async function findPeople(q: Reader | Tx, workspaceId: string, events: readonly ReadEvent[]): Promise<Personal[]> {
  const [emailIds, contactIds] = [new Set<string>(), new Set<string>()];
  for (const { type, emailId, contactId } of events) {
    if (emailId !== null) emailIds.add(emailId);
    if (!(type in INSTANTS) && contactId !== null) contactIds.add(contactId);
  }
  const [mails, contacts] = await Promise.all([
    emailIds.size === 0 ? [] : findRecipients(q, workspaceId, [...emailIds]),
    contactIds.size === 0 ? [] : findContacts(q, workspaceId, [...contactIds]),
  ]);
  if (mails.length === 0 && contacts.length === 0) return [];
  const byEmail = new Map(mails.map((mail) => [mail.emailId, mail]));
  const byId = new Map(contacts.map((contact) => [contact.id, contact]));
  return events.flatMap((event): Personal[] => {
    const mail = byEmail.get(event.emailId ?? "");
    const person = event.type in INSTANTS ? mail : byId.get(event.contactId ?? "");
    if (person === undefined) return [];
    const { seq, contactSeq } = person;
    return [{ event, seq, contactSeq, template: mail?.template?.replace(/@[^@]*$/, "") ?? null, ...pickInstants(person) }];
  });
}

async function recordEngagements(tx: Tx, deps: SegmentDeps, workspaceId: string, people: readonly Personal[]): Promise<void> {
  const { fields, movers } = await storeEngagements(tx, workspaceId, people);
  // Events of long ago are told to be known, and start nothing, unless the contact did something now.
  const past = [...movers.startsNothing].filter((seq) => !movers.starts.has(seq));
  await syncMembershipBy(tx, deps, workspaceId, past, fields.startsNothing, { cause: "contact", startsNothing: true });
  await syncMembershipBy(tx, deps, workspaceId, [...movers.starts], new Set([...fields.starts, ...fields.startsNothing]));
}

/** Stores what people did, and returns the fields that changed and the contacts, by what may start because of them. */
export async function storeEngagements(tx: Tx, workspaceId: string, people: readonly Personal[]) {
  const { engagement: t, contactActions } = tx.t;
  const added: (EngagementRow & { readonly contactSeq: HeldContactSeq })[] = [];
  const changed: RowChange<SegmentTables["engagement"]>[] = [];
  const actions: (Omit<ActionRow, "kind"> & { readonly action: string })[] = [];
  const fields = { starts: new Set<string>(), startsNothing: new Set<string>() };
  const movers = { starts: new Set<number>(), startsNothing: new Set<number>() };
  for (const [seq, own] of Map.groupBy(people, (one) => one.seq)) {
    const [known] = own as [Personal];
    const after: Instants = pickInstants(known);
    for (const { event, template } of own) {
      const { type, at, sequence, campaignId } = event;
      const kind = event.startsNothing === true ? "startsNothing" : "starts";
      movers[kind].add(seq);
      if (isInstant(type)) {
        fields[kind].add(INSTANTS[type]);
        // Reports can arrive late: an earlier instant never replaces a later one.
        if (at > (after[INSTANTS[type]] ?? 0)) after[INSTANTS[type]] = at;
      }
      const action = toAction(event);
      if (action === null) continue;
      fields[kind].add(action);
      const value = typeof event.data?.value === "number" ? event.data.value : null;
      actions.push({ eventKey: sequence, contactSeq: seq as HeldContactSeq, action, at, value, campaignId, template });
    }
    // Not locked, which would write the contact for each first mail: `clearEngagement` collides with the row of its engagement.
    if (known.contactSeq === null) added.push({ contactSeq: seq as HeldContactSeq, ...after });
    else changed.push({ where: { contactSeq: seq }, set: after });
  }
  const rows = await withKinds(tx, workspaceId, actions);
  await Promise.all([tx.insertAll(t, added), tx.updateAll(t, changed), tx.insertAll(contactActions, rows)]);
  return { fields, movers };
}

/** Gives actions the numbers of their kinds. The reader of a workspace alone adds kinds to it. */
async function withKinds<Row extends { readonly action: string }>(
  tx: Tx,
  workspaceId: string,
  rows: readonly Row[],
): Promise<(Omit<Row, "action"> & { readonly kind: number })[]> {
  const { contactActionKinds: t } = tx.t;
  const actions = [...new Set(rows.map(({ action }) => action))];
  const kinds = new Map((await findRows(tx, t, { workspaceId, action: actions })).map(({ action, seq }) => [action, seq]));
  const added = actions.filter((action) => !kinds.has(action));
  const seqs = added.length === 0 ? [] : await tx.nextNumbers(t, added.length);
  for (const [i, action] of added.entries()) kinds.set(action, seqs[i] as number);
  await tx.insertAll(
    t,
    added.map((action) => ({ seq: kinds.get(action) as number, workspaceId, action })),
  );
  return rows.map(({ action, ...row }) => ({ ...row, kind: kinds.get(action) as number }));
}

function isInstant(type: EventType): type is EngagementType {
  return type in INSTANTS;
}

/** The field of rules that counts an event; null when none does. */
function toAction({ type, data }: ReadEvent): string | null {
  if (type === "contact.tracked") return `did.${data?.name}`;
  if (type === "email.received") return "replied";
  return type in MAIL_ACTIONS ? MAIL_ACTIONS[type as keyof typeof MAIL_ACTIONS] : null;
}

function pickInstants({ lastSentAt, lastDeliveredAt, lastOpenedAt, lastClickedAt }: Instants): Instants {
  return { lastSentAt, lastDeliveredAt, lastOpenedAt, lastClickedAt };
}

/**
 * Clears what is known of the engagement of a deleted contact. On Postgres its row stays, or is made, with the number of the contact and
 * nothing else: a delivery at the same time that would store the first engagement collides with it, and runs again without the contact.
 */
export async function clearEngagement(tx: Tx, { seq }: { readonly seq: number }): Promise<void> {
  const { engagement: t, contactActions: a } = tx.t;
  await tx.delete(t).where(eq(t.contactSeq, seq));
  await tx.delete(a).where(eq(a.contactSeq, seq));
  await tx.insertAll(t, [{ contactSeq: seq as HeldContactSeq, ...NEVER }]);
  await tx.delete(t).where(and(eq(t.contactSeq, seq), not(tx.sqlDialect.concurrent)));
}

/** Deletes actions that lie before an instant (ms), by the keys of their events, and updates the segments that count them. */
export async function forgetActions(tx: Tx, deps: SegmentDeps, eventKeys: readonly number[], before: number): Promise<void> {
  const { contactActions: a, contactActionKinds: k, contacts: c } = tx.t;
  const old = await tx
    .delete(a)
    .where(and(inArray(a.eventKey, [...eventKeys]), lt(a.at, before)))
    .returning({ seq: a.contactSeq, kind: a.kind });
  if (old.length === 0) return;
  const people = await findRows(tx, c, { seq: [...new Set(old.map(({ seq }) => seq))] });
  const kinds = await findRows(tx, k, { seq: [...new Set(old.map(({ kind }) => kind))] });
  const actions = new Set(kinds.map(({ action }) => action));
  for (const [workspaceId, own] of Map.groupBy(people, (one) => one.workspaceId)) {
    const seqs = own.map(({ seq }) => seq);
    await syncMembershipBy(tx, deps, workspaceId, seqs, actions, { cause: "time", startsNothing: true });
  }
}

/**
 * The people whom emails were for, with the engagement of each, and the template of the email as `slug@version`: the contact that the email
 * names, also if it has another address now, or else the one with its address.
 */
function findRecipients(q: Reader | Tx, workspaceId: string, emailIds: readonly string[]) {
  const { sqlDialect } = q;
  return q
    .prepared("engagement_by_emails", (query, { emails: m, contents, contacts, engagement: e }, arg) => {
      const [named, other] = [alias(contacts, "named"), alias(contacts, "of_address")];
      const seq = sql<number>`coalesce(${named.seq}, ${other.seq})`.mapWith(Number);
      return query
        .select({ emailId: m.id, template: contents.template, seq, ...getTableColumns(e) })
        .from(m)
        .innerJoin(contents, eq(contents.id, m.contentsId))
        .leftJoin(named, eq(named.id, m.contactId))
        .leftJoin(other, and(isNull(named.seq), eq(other.workspaceId, m.workspaceId), eq(other.emailKey, m.toKey)))
        .leftJoin(e, eq(e.contactSeq, seq))
        .where(and(eq(m.workspaceId, arg("workspaceId")), sqlDialect.among(m.id, arg("emailIds")), isNotNull(seq)));
    })
    .execute({ workspaceId, emailIds: JSON.stringify(emailIds) });
}

/** Contacts of a workspace by their ids, with the engagement of each. */
async function findContacts(q: Reader | Tx, workspaceId: string, ids: readonly string[]) {
  const { sqlDialect } = q;
  const rows = await q
    .prepared("engagement_by_contacts", (query, { contacts: c, engagement: e }, arg) =>
      query
        .select({ id: c.id, workspaceId: c.workspaceId, seq: c.seq, ...getTableColumns(e) })
        .from(c)
        .leftJoin(e, eq(e.contactSeq, c.seq))
        .where(sqlDialect.among(c.id, arg("ids"))),
    )
    .execute({ ids: JSON.stringify(ids) });
  // Asked for the workspace as well, SQLite reads all contacts of it: half a second for a million.
  return rows.filter((row) => row.workspaceId === workspaceId);
}
