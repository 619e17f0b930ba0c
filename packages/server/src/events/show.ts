import type { Event, EventType, RecipientKind } from "@mailsvc/sdk/contract";
import { and, desc, eq, getTableColumns, inArray, ne, sql } from "drizzle-orm";
import type { Reader, Schema, Tx } from "../db/db.ts";
import { iso } from "../lib/clock.ts";
import { isTestMail } from "../lib/ids.ts";
import { addReceivedData } from "./received-data.ts";
import { byPosition, inRun, isAfter, positionIn, positionOf } from "./runs.ts";
import { type EventTables, NO_WORKSPACE } from "./tables.ts";

export type EventRow = EventTables["events"]["$inferSelect"];

/** An event with what its email knows: the recipient, the contact and the campaign. */
export interface FullEvent {
  readonly event: EventRow;
  /** Its number in the stream; null until it has one. */
  readonly position: number | null;
  readonly email: EmailOfEvent | null;
  /** The tags of the email; null without one. */
  readonly tags: Record<string, string> | null;
  /** The id of its contact in the owner's own system, as it is now. */
  readonly externalId: string | null;
}

interface EmailOfEvent {
  readonly to: string;
  readonly mailId: string | null;
  readonly kind: RecipientKind | null;
  readonly contactId: string | null;
  readonly campaignId: string | null;
}

/** The id of an event, derived from its key, so that no id is stored. */
export function toEventId(sequence: number): string {
  return `evt_${sequence.toString(32).padStart(11, "0")}`;
}

/** The key of an event, from its id; null for what is no id of an event. */
export function parseEventId(id: string): number | null {
  const digits = /^evt_([0-9a-v]{11})$/.exec(id)?.[1];
  const key = digits === undefined ? Number.NaN : Number.parseInt(digits, 32);
  return Number.isSafeInteger(key) ? key : null;
}

/** The events of a stream with numbers from `first` on, oldest first. */
export async function readStream(read: Reader, workspaceId: string, first: number, limit: number): Promise<FullEvent[]> {
  const { events: e, eventRuns: r } = read.t;
  const rows = await read
    .select({ ...fullColumns(read.t), position: positionIn(read.t) })
    .from(r)
    .innerJoin(e, inRun(read.t))
    .leftJoin(read.t.emails, ofEmail(read.t))
    .leftJoin(read.t.contents, ofContents(read.t))
    .leftJoin(read.t.contacts, ofContact(read.t))
    .where(isAfter(read.t, workspaceId, first - 1))
    .orderBy(...byPosition(read.t))
    .limit(limit);
  return complete(read, rows);
}

/** Events by their keys, in any order. */
export async function selectByKeys(q: Pick<Reader, "select" | "t">, keys: readonly number[]): Promise<FullEvent[]> {
  return complete(q, await selectFull(q).where(inArray(q.t.events.sequence, [...keys])));
}

/** Events by their keys, in any order: `selectByKeys` for what runs for each of many events. */
export async function readByKeys(q: Reader | Tx, keys: readonly number[]): Promise<FullEvent[]> {
  const rows = await q
    .prepared("events_by_keys", (query, t, arg) =>
      query
        // Flat, and no column of another table by the same name: such rows are read fastest.
        .select({
          ...getTableColumns(t.events),
          position: positionOf(t),
          to: t.emails.to,
          mailId: t.emails.mailId,
          kind: t.emails.kind,
          contactOfEmail: t.emails.contactId,
          campaignOfEmail: t.emails.campaignId,
          tags: t.contents.tags,
          externalId: t.contacts.externalId,
        })
        .from(t.events)
        .leftJoin(t.emails, ofEmail(t))
        .leftJoin(t.contents, ofContents(t))
        .leftJoin(t.contacts, ofContact(t))
        .where(q.sqlDialect.amongNumbers(t.events.sequence, arg("keys"))),
    )
    .execute({ keys: JSON.stringify(keys) });
  const events = await addReceivedData(q, rows);
  return events.map((row) => ({
    event: row,
    position: row.position,
    email:
      row.to === null
        ? null
        : { to: row.to, mailId: row.mailId, kind: row.kind, contactId: row.contactOfEmail, campaignId: row.campaignOfEmail },
    tags: row.tags,
    externalId: row.externalId,
  }));
}

/** An event as the API and webhooks show it. Its number must have been given. */
export function showEvent({ event, position, email, tags, externalId }: FullEvent): Event {
  const shown = {
    id: toEventId(event.sequence),
    sequence: position ?? 0,
    type: event.type as EventType,
    at: iso(event.at),
    emailId: email?.mailId ?? event.emailId,
    to: email?.to ?? null,
    recipient: email && { id: event.emailId ?? "", email: email.to, kind: email.kind ?? "to" },
    contactId: event.contactId ?? email?.contactId ?? null,
    externalId,
    campaignId: event.campaignId ?? email?.campaignId ?? null,
    automationId: event.automationId,
    test: isTestMail(event.emailId),
    machine: event.machine,
    tags: tags ?? {},
    data: event.data ?? {},
  };
  // The code that records an event ensures the data of its type.
  return shown as Event;
}

/** The newest events of all workspaces, newest first. */
export async function selectNewest(read: Reader, limit: number): Promise<FullEvent[]> {
  const { events: e } = read.t;
  return complete(read, await selectFull(read).where(ne(e.workspaceId, NO_WORKSPACE)).orderBy(desc(e.sequence)).limit(limit));
}

async function complete(q: Pick<Reader, "select" | "t">, rows: readonly FullEvent[]): Promise<FullEvent[]> {
  const events = await addReceivedData(
    q,
    rows.map(({ event }) => event),
  );
  return rows.map((row, i) => ({ ...row, event: events[i] as EventRow }));
}

/** Selects events with what their emails know. */
function selectFull(q: Pick<Reader, "select" | "t">) {
  const { t } = q;
  return q
    .select({ ...fullColumns(t), position: positionOf(t) })
    .from(t.events)
    .leftJoin(t.emails, ofEmail(t))
    .leftJoin(t.contents, ofContents(t))
    .leftJoin(t.contacts, ofContact(t));
}

/** The columns of an event and its email, without its number. */
function fullColumns({ events: e, emails: m, contents: c, contacts }: Schema) {
  const email = { to: m.to, mailId: m.mailId, kind: m.kind, contactId: m.contactId, campaignId: m.campaignId };
  return { event: e, email, tags: c.tags, externalId: contacts.externalId };
}

const ofEmail = ({ events: e, emails: m }: Schema) => and(eq(m.workspaceId, e.workspaceId), eq(m.id, e.emailId));
const ofContents = ({ emails: m, contents: c }: Schema) => eq(c.id, m.contentsId);
const ofContact = ({ events: e, emails: m, contacts: c }: Schema) =>
  and(eq(c.workspaceId, e.workspaceId), eq(c.id, sql`coalesce(${e.contactId}, ${m.contactId})`));
