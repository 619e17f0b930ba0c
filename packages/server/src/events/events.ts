import { EMAIL_EVENT_TYPES, type EventType } from "@mailsvc/sdk/contract";
import { and, asc, desc, eq, inArray } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import type { EventRow } from "./show.ts";

export { type EventRow, readByKeys, showEvent, toEventId } from "./show.ts";
export type { StreamListener } from "./stream.ts";

/** Something that happened in a workspace. */
export interface NewEvent {
  readonly workspaceId: string;
  readonly type: EventType;
  /** When it happened, ms. */
  readonly at: number;
  /** The email it is about, or that caused it. */
  readonly emailId?: string | null;
  /** The contact it is about. Of an `email.*` event only listeners get it: the row of the email knows its contact. */
  readonly contactId?: string | null;
  readonly campaignId?: string | null;
  readonly automationId?: string | null;
  /** Of an open or a click: whether a machine made it; the reason is in `data`. */
  readonly machine?: boolean | null;
  /** What else is to be said. It may name fields and tags of a contact, and never contains their values or an address: the log outlives the person. */
  readonly data?: Record<string, unknown> | null;
}

/** Reacts to new events, in the transaction that records them. */
export type EventListener = (tx: Tx, deps: Deps, events: readonly NewEvent[]) => Promise<void>;

/** Records events, in the transaction that causes them, and tells the listeners. The only way to record events. */
export async function recordEvents(tx: Tx, deps: Deps, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.insertAll(tx.t.events, events.map(toRow));
  for (const listener of deps.eventListeners) await listener(tx, deps, events);
  tx.afterCommit(deps.eventStream.wake);
}

/** The time of the latest event, ms; null before the first one. */
export async function getLastEventTime(read: Reader): Promise<number | null> {
  const { events } = read.t;
  const [last] = await read.select({ at: events.at }).from(events).orderBy(desc(events.sequence)).limit(1);
  return last?.at ?? null;
}

/** The events about one contact, oldest first. */
export function listContactEvents(q: Tx | Reader, contactId: string): Promise<EventRow[]> {
  return Promise.resolve(q.select().from(q.t.events).where(eq(q.t.events.contactId, contactId)).orderBy(asc(q.t.events.sequence)));
}

/** The events of emails, oldest first, without those they caused for their contacts or the suppression list. */
export function listEventsOfEmails(read: Reader, emailIds: readonly string[]): Promise<EventRow[]> {
  const { events } = read.t;
  return Promise.resolve(
    read
      .select()
      .from(events)
      .where(and(inArray(events.emailId, [...emailIds]), inArray(events.type, [...EMAIL_EVENT_TYPES])))
      .orderBy(asc(events.sequence)),
  );
}

function toRow(event: NewEvent): Omit<EventRow, "sequence"> {
  return {
    workspaceId: event.workspaceId,
    type: event.type,
    emailId: event.emailId ?? null,
    contactId: event.type.startsWith("email.") ? null : (event.contactId ?? null),
    at: event.at,
    data: event.data ?? null,
    campaignId: event.campaignId ?? null,
    automationId: event.automationId ?? null,
    machine: event.machine ?? null,
    position: null,
  };
}
