import { listMatchingTypes } from "@mailsvc/sdk/contract";
import { and, eq, gte, inArray, lte } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findTraces } from "../emails/emails.ts";
import type { Advance, EventRow } from "../events/events.ts";
import { splitIntoChunks } from "../lib/chunks.ts";
import { type NewWebhookEvent, writeDeliveries } from "../webhooks/webhooks.ts";
import type { DeveloperWebhookDeps } from "./deps.ts";
import { RECEIVING, type WebhookRow } from "./webhook.ts";

// The events of one email or contact arrive in their order; those of different ones travel in parallel streams, this many.
const STREAMS = 64;

/** The type of events that go to the webhook they name, and to no other one. */
export const ADDRESSED = "automation.webhook";

/** What is needed of an event to write it for webhooks. */
export interface SentEvent extends Pick<EventRow, "sequence" | "workspaceId" | "type" | "emailId" | "contactId" | "at"> {
  /** Its number in the stream. */
  readonly position: number;
}

/**
 * Writes events that have got their numbers for the webhooks that want them. The webhooks are read in the same transaction, once for
 * a few thousand events, so that a webhook which another server has just registered misses nothing.
 */
export async function fanOut(tx: Tx, deps: DeveloperWebhookDeps, advances: readonly Advance[]): Promise<void> {
  const webhooks = await tx
    .prepared("receiving_webhooks", (q, { developerWebhooks: w }, arg) =>
      q
        .select()
        .from(w)
        .where(and(tx.sqlDialect.among(w.workspaceId, arg("workspaceIds")), inArray(w.status, [...RECEIVING]))),
    )
    .execute({ workspaceIds: JSON.stringify(advances.map(({ workspaceId }) => workspaceId)) });
  if (webhooks.length === 0) return;
  for (const { workspaceId, first, last } of advances) {
    const own = webhooks.filter((webhook) => webhook.workspaceId === workspaceId);
    const types = new Set(own.flatMap(listWanted));
    if (types.size === 0) continue;
    await writeForWebhooks(tx, deps, own, await listNumbered(tx, workspaceId, first, last));
  }
}

/** The columns of a SentEvent. */
export function sentColumns({ events: e, eventNumbers: n }: Tx["t"]) {
  return {
    sequence: e.sequence,
    position: n.position,
    workspaceId: e.workspaceId,
    type: e.type,
    emailId: e.emailId,
    contactId: e.contactId,
    at: e.at,
  };
}

/** The types of events that a webhook wants. */
export function listWanted({ events }: WebhookRow): string[] {
  return events.flatMap(listMatchingTypes);
}

/** Writes events into the outbox, for each webhook those of its types, and those that an automation sends to it. */
export async function writeForWebhooks(
  tx: Tx,
  deps: DeveloperWebhookDeps,
  webhooks: readonly WebhookRow[],
  events: readonly SentEvent[],
): Promise<void> {
  const traces =
    deps.tracing && events[0]
      ? await findTraces(
          tx,
          events[0].workspaceId,
          events.flatMap(({ emailId }) => emailId ?? []),
        )
      : null;
  const addressees = await findAddressees(tx, events);
  const written = webhooks.flatMap((webhook) =>
    filterFor(webhook, events, addressees).map((event) =>
      toWebhookEvent(webhook, event, traces ? (traces.get(event.emailId ?? "") ?? null) : undefined),
    ),
  );
  await writeDeliveries(tx, deps, written);
}

/** Those of some events that a webhook gets: events of its types, and those that an automation sends to it. */
export async function selectFor(q: Tx | Reader, webhook: WebhookRow, events: readonly SentEvent[]): Promise<SentEvent[]> {
  return filterFor(webhook, events, await findAddressees(q, events));
}

function filterFor(webhook: WebhookRow, events: readonly SentEvent[], addressees: ReadonlyMap<number, string>): SentEvent[] {
  const wanted = new Set<string>(listWanted(webhook));
  return events.filter(({ sequence, type }) => (type === ADDRESSED ? addressees.get(sequence) === webhook.id : wanted.has(type)));
}

/** The events of a workspace with these numbers, in their order. */
function listNumbered(tx: Tx, workspaceId: string, first: number, last: number): Promise<SentEvent[]> {
  return tx
    .prepared("list_numbered", (q, t, arg) =>
      q
        .select(sentColumns(t))
        .from(t.eventNumbers)
        .innerJoin(t.events, eq(t.events.sequence, t.eventNumbers.eventKey))
        .where(
          and(
            eq(t.eventNumbers.workspaceId, arg("workspaceId")),
            gte(t.eventNumbers.position, arg("first")),
            lte(t.eventNumbers.position, arg("last")),
          ),
        )
        .orderBy(t.eventNumbers.position),
    )
    .execute({ workspaceId, first, last });
}

/** The webhooks that events name, by the keys of the events. */
async function findAddressees(q: Tx | Reader, events: readonly SentEvent[]): Promise<Map<number, string>> {
  const keys = events.filter(({ type }) => type === ADDRESSED).map(({ sequence }) => sequence);
  const { events: e } = q.t;
  const found = new Map<number, string>();
  for (const chunk of splitIntoChunks(keys))
    for (const { sequence, data } of await q.select({ sequence: e.sequence, data: e.data }).from(e).where(inArray(e.sequence, chunk)))
      found.set(sequence, String(data?.["webhookId"]));
  return found;
}

/**
 * The id of the delivery of an event to a webhook: `whd_`, the key of the event, by which ids sort, and the end of the webhook's
 * id. Derived, so that an event is written for a webhook once.
 */
export function toDeliveryId(webhookId: string, eventKey: number): string {
  return `${toDeliveryPrefix(eventKey)}${webhookId.slice(-15)}`;
}

/** What the ids of all deliveries of an event begin with. */
export function toDeliveryPrefix(eventKey: number): string {
  return `whd_${eventKey.toString(32).padStart(11, "0")}`;
}

/** What the names of all streams of a webhook begin with. */
export function toStreamPrefix(webhookId: string): string {
  return `${webhookId}.`;
}

function toWebhookEvent({ id }: WebhookRow, event: SentEvent, traceparent: string | null | undefined): NewWebhookEvent {
  return {
    id: toDeliveryId(id, event.sequence),
    endpointId: id,
    streamId: `${toStreamPrefix(id)}${hash(event.emailId ?? event.contactId ?? event.type) % STREAMS}`,
    workspaceId: event.workspaceId,
    type: event.type,
    subjectId: null,
    sequence: event.position,
    at: event.at,
    eventKey: event.sequence,
    body: "",
    secretBody: null,
    passesHold: false,
    traceparent,
  };
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}
