import { EMAIL_EVENT_TYPES, type EmailStatus, type EventType } from "@mailsvc/sdk/contract";
import { and, asc, desc, eq, inArray, lt, type SQL } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import type { HeldContactId, HeldEmailId } from "../db/held.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import type { EventDeps } from "./deps.ts";
import { addReceivedData } from "./received-data.ts";
import { numberAtOnce, shortenRuns, toRuns } from "./runs.ts";
import type { EventRow } from "./show.ts";
import type { LongerStream } from "./stream.ts";
import { NO_WORKSPACE } from "./tables.ts";
import { forgetTrackedIds } from "./tracked-ids.ts";

export { listRecentEvents } from "./list.ts";
export {
  type EventReader,
  type FailingReader,
  findReaderPosition,
  holdReader,
  isReadByReaders,
  listLog,
  type ReadEvent,
} from "./readers.ts";
export type { RebuildPart } from "./rebuild.ts";
export {
  byPosition,
  continueStreams,
  findMark,
  findStreamEnd,
  inRun,
  isAfter,
  loadStreamEnds,
  markOf,
  positionIn,
  positionOf,
} from "./runs.ts";
export { type EventRow, parseEventId, readByKeys, showEvent, toEventId } from "./show.ts";
export type { StreamReader } from "./stream.ts";
export { findTrackedIds, storeTrackedIds } from "./tracked-ids.ts";

/** The types of events of an email to a recipient, whose row knows the contact. */
type RecipientEventType = Exclude<(typeof EMAIL_EVENT_TYPES)[number], "email.received">;

interface EventFacts {
  readonly workspaceId: string;
  /** Time of the event, ms. */
  readonly at: number;
  /** The email it is about, or that caused it. */
  readonly emailId?: HeldEmailId | null;
  readonly campaignId?: string | null;
  readonly automationId?: string | null;
  /** For an open or a click: true if a machine made it; the reason is in `data`. */
  readonly machine?: boolean | null;
  /** Starts no automations: part of a change of many people whose caller did not ask for them. Goals and waits still end. */
  readonly startsNothing?: boolean | undefined;
  /** Further facts. They may name fields and tags of a contact, but never contain values or an address: the log outlives the person. */
  readonly data?: Record<string, unknown> | null;
}

/** Something that happened to an email. Only listeners get its contact, which the row of the email knows. */
export interface EmailEvent extends EventFacts {
  readonly type: RecipientEventType;
  readonly contactId?: string | null;
  /** The status before, if the event changes the status of a campaign's mail. */
  readonly was?: EmailStatus | null;
}

/** Anything else. */
interface OtherEvent extends EventFacts {
  readonly type: Exclude<EventType, RecipientEventType>;
  /** The contact it is about, which the transaction holds: a person who is erased meanwhile leaves no event. */
  readonly contactId?: HeldContactId | null;
}

/** Something that happened in a workspace. */
export type NewEvent = EmailEvent | OtherEvent;

/** Is told of new events, in the transaction that records them. Nothing follows from them there: `readers.ts` does that. */
export type EventListener = (tx: Tx, events: readonly NewEvent[]) => Promise<void>;

/**
 * Records events, in the transaction that causes them, and tells the listeners. The only way to record events. They get their numbers at
 * once where transactions commit in their order, otherwise after the commit (decision 14).
 */
export async function recordEvents(tx: Tx, deps: EventDeps, events: readonly NewEvent[]): Promise<void> {
  await recordWithKeys(tx, deps, events);
}

/** Records events as `recordEvents` does, and returns their keys, in order. */
export async function recordWithKeys(tx: Tx, deps: EventDeps, events: readonly NewEvent[]): Promise<readonly number[]> {
  if (events.length === 0) return [];
  const keys = await tx.insertNumbered(tx.t.events, events.map(toRow));
  const runs = toRuns(events, keys);
  let longer: readonly LongerStream[] = [];
  if (tx.sqlDialect.singleWriter) longer = await numberAtOnce(tx, runs);
  else await tx.insertAll(tx.t.eventArrivals, runs);
  for (const listener of deps.eventListeners) await listener(tx, events);
  tx.afterCommit(() => deps.eventStream.wake(longer));
  return keys;
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

/**
 * Deletes events with their numbers, and returns which they were. The only way to delete events. Their keys are never given again, since
 * programs know an event by its id.
 */
export async function deleteEvents(tx: Tx, which: SQL | undefined): Promise<DeletedEvent[]> {
  const { events: e } = tx.t;
  const deleted = await tx.delete(e).where(which).returning({ key: e.sequence, type: e.type, workspaceId: e.workspaceId, at: e.at });
  await shortenRuns(
    tx,
    deleted.map(({ key }) => key),
  );
  await forgetTrackedIds(
    tx,
    deleted.filter(({ type }) => type === "contact.tracked").map(({ key }) => key),
  );
  await keepLastKey(tx, deleted);
  return deleted;
}

/**
 * Leaves a blank row of no workspace in the place of the newest event, if that was deleted: SQLite counts on from the newest row. It goes
 * with the first events that are deleted after there is a newer one.
 */
async function keepLastKey(tx: Tx, deleted: readonly { readonly key: number; readonly at: number }[]): Promise<void> {
  if (!tx.sqlDialect.singleWriter || deleted.length === 0) return;
  const { events: e } = tx.t;
  const last = deleted.reduce((one, other) => (one.key > other.key ? one : other));
  const [newest] = await tx.select({ key: e.sequence }).from(e).orderBy(desc(e.sequence)).limit(1);
  const key = Math.max(newest?.key ?? 0, last.key);
  await tx.delete(e).where(and(eq(e.workspaceId, NO_WORKSPACE), lt(e.sequence, key)));
  if (newest?.key !== key) await tx.insert(e).values({ sequence: key, workspaceId: NO_WORKSPACE, type: "", at: last.at });
}

/** Deletes the events of emails, and those about a contact. */
export async function deleteEventsAbout(tx: Tx, emailIds: readonly string[], contactId: string | null): Promise<DeletedEvent[]> {
  const { events: e } = tx.t;
  const which: SQL[] = splitIntoChunks(emailIds).map((chunk) => inArray(e.emailId, chunk));
  if (contactId !== null) which.push(eq(e.contactId, contactId));
  const deleted: DeletedEvent[] = [];
  for (const one of which) deleted.push(...(await deleteEvents(tx, one)));
  return deleted;
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
    was: isOfRecipient(event) ? (event.was ?? null) : null,
    startsNothing: event.startsNothing === true ? true : null,
  };
}

function isOfRecipient(event: NewEvent): event is EmailEvent {
  return event.type.startsWith("email.") && event.type !== "email.received";
}
