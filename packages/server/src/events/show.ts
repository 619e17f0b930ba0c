import type { Event, EventType } from "@mailsvc/sdk/contract";
import { and, eq, gte, inArray, isNotNull } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { iso } from "../lib/clock.ts";
import type { Tables } from "../schema.ts";

export type EventRow = Tables["events"]["$inferSelect"];

/** An event with what its email knows: the recipient, the contact and the campaign. */
export interface FullEvent {
  readonly event: EventRow;
  readonly email: Pick<Tables["emails"]["$inferSelect"], "to" | "contactId" | "campaignId"> | null;
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
  const { events: e } = read.t;
  return selectFull(read)
    .where(and(eq(e.workspaceId, workspaceId), isNotNull(e.position), gte(e.position, first)))
    .orderBy(e.position)
    .limit(limit);
}

/** Events by their keys, in any order. */
export function selectByKeys(q: Pick<Reader, "select" | "t">, keys: readonly number[]): Promise<FullEvent[]> {
  return Promise.resolve(selectFull(q).where(inArray(q.t.events.sequence, [...keys])));
}

/** An event as the API and webhooks show it. Its number must have been given. */
export function showEvent({ event, email }: FullEvent): Event {
  const shown = {
    id: toEventId(event.sequence),
    sequence: event.position ?? 0,
    type: event.type as EventType,
    at: iso(event.at),
    emailId: event.emailId,
    to: email?.to ?? null,
    contactId: event.contactId ?? email?.contactId ?? null,
    campaignId: event.campaignId ?? email?.campaignId ?? null,
    automationId: event.automationId,
    machine: event.machine,
    data: event.data ?? {},
  };
  // What a type's data holds is decided where the event is recorded.
  return shown as Event;
}

/** Selects events with what their emails know. */
export function selectFull(q: Pick<Reader, "select" | "t">) {
  const { events: e, emails: m } = q.t;
  return q
    .select({ event: e, email: { to: m.to, contactId: m.contactId, campaignId: m.campaignId } })
    .from(e)
    .leftJoin(m, and(eq(m.workspaceId, e.workspaceId), eq(m.id, e.emailId)));
}
