import {
  type ContactEventType,
  EMAIL_EVENT_TYPES,
  type ListEventType,
  type SegmentEventType,
  type SuppressionEventType,
} from "@mailsvc/sdk/contract";
import { and, asc, desc, eq, inArray, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import type { Tables } from "../schema.ts";

export type EmailEventType = (typeof EMAIL_EVENT_TYPES)[number];
/** The types of events about a contact. */
export type PersonalEventType = ContactEventType | ListEventType | SegmentEventType;
export type EventType = EmailEventType | PersonalEventType | SuppressionEventType;

export interface NewEvent {
  workspaceId: string;
  type: EventType;
  emailId: string | null;
  /** When it happened, ms. */
  at: number;
  data?: Record<string, unknown>;
}

/** The id of an event, derived from its sequence number, so that no id is stored. */
export function toEventId(sequence: number): string {
  return `evt_${sequence.toString(32).padStart(11, "0")}`;
}

const ph = sql.placeholder;

/** An event about a contact. Its data names fields, never their values, because the log outlives the contact. */
export interface ContactEvent {
  workspaceId: string;
  type: PersonalEventType;
  contactId: string;
  /** When it happened, ms. */
  at: number;
  /** The email that caused it. */
  emailId?: string | null;
  data?: Record<string, unknown>;
}

/** Records events about contacts, in the transaction that causes them. */
export function recordContactEvents(tx: Tx, events: readonly ContactEvent[]): Promise<void> {
  return tx.insertAll(
    tx.t.events,
    events.map(({ data = null, emailId = null, ...event }) => ({ ...event, emailId, data })),
  );
}

/** Records an event, in the transaction that causes it. */
export async function recordEvent(tx: Tx, event: NewEvent): Promise<void> {
  await tx
    .prepared("record_event", (q, { events }) =>
      q
        .insert(events)
        .values({ workspaceId: ph("workspaceId"), type: ph("type"), emailId: ph("emailId"), at: ph("at"), data: ph("data") })
        .prepare("record_event"),
    )
    .execute({ ...event, data: event.data ?? null });
}

/** The time of the latest event, ms; null before the first one. */
export async function getLastEventTime(read: Reader): Promise<number | null> {
  const { events } = read.t;
  const [last] = await read.select({ at: events.at }).from(events).orderBy(desc(events.sequence)).limit(1);
  return last?.at ?? null;
}

export type EventRow = Tables["events"]["$inferSelect"];

/** The events about one contact, oldest first. */
export function listContactEvents(q: Tx | Reader, contactId: string): Promise<EventRow[]> {
  return Promise.resolve(q.select().from(q.t.events).where(eq(q.t.events.contactId, contactId)).orderBy(asc(q.t.events.sequence)));
}

/** The events of one email, oldest first, without those it caused for its contact or the suppression list. */
export function listEmailEvents(read: Reader, emailId: string): Promise<EventRow[]> {
  const { events } = read.t;
  return Promise.resolve(
    read
      .select()
      .from(events)
      .where(and(eq(events.emailId, emailId), inArray(events.type, [...EMAIL_EVENT_TYPES])))
      .orderBy(asc(events.sequence)),
  );
}
