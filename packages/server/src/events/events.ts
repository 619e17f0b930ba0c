import { EMAIL_EVENT_TYPES, type EventType } from "@mailsvc/sdk/contract";
import { and, asc, desc, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import type { HeldContactId, HeldEmailId } from "../db/held.ts";
import type { EventDeps } from "./deps.ts";
import { addReceivedData } from "./received-data.ts";
import type { EventRow } from "./show.ts";
import type { EventTables } from "./tables.ts";

export { listRecentEvents } from "./list.ts";
export { type EventRow, parseEventId, readByKeys, showEvent, toEventId } from "./show.ts";
export type { Advance } from "./stream.ts";

/** A row of `event_arrivals`. */
type NewArrival = EventTables["eventArrivals"]["$inferInsert"];

// So that the loop that numbers events, which takes a few hundred rows at a time, has neither too few events nor too many.
const ARRIVAL_KEYS = 16;

/** The types of events of an email to a recipient, whose row knows the contact. */
type RecipientEventType = Exclude<(typeof EMAIL_EVENT_TYPES)[number], "email.received">;

interface EventFacts {
  readonly workspaceId: string;
  /** When it happened, ms. */
  readonly at: number;
  /** The email it is about, or that caused it. */
  readonly emailId?: HeldEmailId | null;
  readonly campaignId?: string | null;
  readonly automationId?: string | null;
  /** Of an open or a click: whether a machine made it; the reason is in `data`. */
  readonly machine?: boolean | null;
  /** Starts no automations: part of a change of many people whose caller did not ask for them. Goals and waits still end. */
  readonly startsNothing?: boolean | undefined;
  /** What else is to be said. It may name fields and tags of a contact, and never contains their values or an address: the log outlives the person. */
  readonly data?: Record<string, unknown> | null;
}

/** Something that happened to an email. Only listeners get its contact, which the row of the email knows. */
export interface EmailEvent extends EventFacts {
  readonly type: RecipientEventType;
  readonly contactId?: string | null;
}

/** Anything else. */
interface OtherEvent extends EventFacts {
  readonly type: Exclude<EventType, RecipientEventType>;
  /** The contact it is about, which the transaction holds: a person who is erased meanwhile leaves no event. */
  readonly contactId?: HeldContactId | null;
}

/** Something that happened in a workspace. */
export type NewEvent = EmailEvent | OtherEvent;

/** Reacts to new events, in the transaction that records them. */
export type EventListener = (tx: Tx, events: readonly NewEvent[]) => Promise<void>;

/** Records events, in the transaction that causes them, and tells the listeners. The only way to record events. */
export async function recordEvents(tx: Tx, deps: EventDeps, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const keys = await tx.insertNumbered(tx.t.events, events.map(toRow));
  await tx.insertAll(tx.t.eventArrivals, listArrivals(events, keys));
  for (const listener of deps.eventListeners) await listener(tx, events);
  tx.afterCommit(() => deps.eventStream.wake());
}

/** The time of the latest event, ms; null before the first one. */
export async function findLastEventTime(read: Reader): Promise<number | null> {
  const { events } = read.t;
  const [last] = await read.select({ at: events.at }).from(events).orderBy(desc(events.sequence)).limit(1);
  return last?.at ?? null;
}

/** An event that is deleted. */
export interface DeletedEvent {
  readonly key: number;
  readonly workspaceId: string;
}

/** Deletes events with their numbers, and returns which they were. The only way to delete events. */
export async function deleteEvents(tx: Tx, which: SQL | undefined): Promise<DeletedEvent[]> {
  const { events: e, eventNumbers: n } = tx.t;
  const deleted = await tx.delete(e).where(which).returning({ key: e.sequence, workspaceId: e.workspaceId });
  if (deleted.length === 0) return deleted;
  const keys = deleted.map(({ key }) => key);
  const numbered = await tx
    .delete(n)
    .where(tx.sqlDialect.amongNumbers(n.eventKey, sql`${JSON.stringify(keys)}`))
    .returning({ key: n.eventKey });
  if (numbered.length < keys.length) await forgetArrivals(tx, new Set(keys));
  return deleted;
}

/** Events that were deleted before they had a number get none: SQLite may use their keys again. */
async function forgetArrivals(tx: Tx, deleted: ReadonlySet<number>): Promise<void> {
  const { eventArrivals: a } = tx.t;
  for (const { id, eventKeys } of await tx.select().from(a)) {
    const left = eventKeys.filter((key) => !deleted.has(key));
    if (left.length < eventKeys.length) await tx.update(a).set({ eventKeys: left }).where(eq(a.id, id));
  }
}

/** The condition that events have got their numbers, for events with these keys. */
export function isNumbered(q: Tx, keys: readonly number[]): SQL {
  const { events: e, eventNumbers: n } = q.t;
  return inArray(
    e.sequence,
    q
      .select({ key: n.eventKey })
      .from(n)
      .where(q.sqlDialect.amongNumbers(n.eventKey, sql`${JSON.stringify(keys)}`)),
  );
}

/** The events about one contact, oldest first. */
export function listContactEvents(q: Tx | Reader, contactId: string): Promise<EventRow[]> {
  return Promise.resolve(q.select().from(q.t.events).where(eq(q.t.events.contactId, contactId)).orderBy(asc(q.t.events.sequence)));
}

/** The events of emails, oldest first, without those they caused for their contacts or the suppression list. */
export async function listEventsOfEmails(read: Reader, emailIds: readonly string[]): Promise<EventRow[]> {
  const { events } = read.t;
  const rows = await read
    .select()
    .from(events)
    .where(and(inArray(events.emailId, [...emailIds]), inArray(events.type, [...EMAIL_EVENT_TYPES])))
    .orderBy(asc(events.sequence));
  return addReceivedData(read, rows);
}

function toRow(event: NewEvent) {
  return {
    workspaceId: event.workspaceId,
    type: event.type,
    emailId: event.emailId ?? null,
    contactId: isOfRecipient(event) ? null : (event.contactId ?? null),
    at: event.at,
    data: event.data ?? null,
    campaignId: event.campaignId ?? null,
    automationId: event.automationId ?? null,
    machine: event.machine ?? null,
  };
}

function isOfRecipient(event: NewEvent): event is EmailEvent {
  return event.type.startsWith("email.") && event.type !== "email.received";
}

/** What lets `stream.ts` find the events of a transaction, some in each row. */
function listArrivals(events: readonly NewEvent[], keys: readonly number[]): NewArrival[] {
  const byWorkspace = new Map<string, number[]>();
  for (const [i, { workspaceId }] of events.entries()) {
    const own = byWorkspace.get(workspaceId);
    if (own) own.push(keys[i] as number);
    else byWorkspace.set(workspaceId, [keys[i] as number]);
  }
  return [...byWorkspace].flatMap(([workspaceId, own]) =>
    Array.from({ length: Math.ceil(own.length / ARRIVAL_KEYS) }, (_, i) => ({
      workspaceId,
      eventKeys: own.slice(i * ARRIVAL_KEYS, (i + 1) * ARRIVAL_KEYS),
    })),
  );
}

/** The newest number of each stream of events, by workspace. */
export async function loadStreamEnds(read: Reader): Promise<ReadonlyMap<string, number>> {
  const { eventStreams: s } = read.t;
  const rows = await read.select({ workspaceId: s.workspaceId, last: s.last }).from(s);
  return new Map(rows.map(({ workspaceId, last }) => [workspaceId, last]));
}

/**
 * Lets the streams of the workspaces that there are go on behind these numbers, after their events were replaced: programs that follow a
 * stream wait for numbers above those they have seen.
 */
export async function continueStreams(tx: Tx, ends: ReadonlyMap<string, number>): Promise<void> {
  const { eventStreams, workspaces } = tx.t;
  const now = await loadStreamEnds(tx);
  const known = await tx.select({ id: workspaces.id }).from(workspaces);
  for (const { id: workspaceId } of known) {
    const [last = 0, before] = [ends.get(workspaceId), now.get(workspaceId)];
    if (last <= (before ?? 0)) continue;
    if (before === undefined) await tx.insert(eventStreams).values({ workspaceId, last });
    else await tx.update(eventStreams).set({ last }).where(eq(eventStreams.workspaceId, workspaceId));
  }
}
