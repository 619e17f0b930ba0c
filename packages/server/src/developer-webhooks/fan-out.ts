import { listMatchingTypes } from "@mailsvc/sdk/contract";
import { and, eq, getTableColumns, inArray, isNull, lt, lte, notExists, or, type SQL, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findTraces } from "../emails/emails.ts";
import { byPosition, type EventRow, findStreamEnd, inRun, isAfter, positionIn, positionOf, type StreamReader } from "../events/events.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import { type NewWebhookEvent, writeDeliveries } from "../webhooks/webhooks.ts";
import type { DeveloperWebhookDeps } from "./developer-webhooks.ts";
import { RECEIVING, type WebhookRow } from "./webhook.ts";

// Numbers that one transaction reads.
const BATCH = 1000;

// The events of one email or contact arrive in their order; those of different ones travel in parallel streams, this many.
const STREAMS = 64;

/** The type of events that go to the webhook they name, and to no other one. */
export const ADDRESSED = "automation.webhook";

/** The part of an event that is used to write it for webhooks. */
export interface SentEvent extends Pick<EventRow, "sequence" | "workspaceId" | "type" | "emailId" | "contactId" | "at"> {
  /** Its number in the stream. */
  readonly position: number;
}

/**
 * Reads the streams for the webhooks: writes the events behind the number that a webhook has reached, if it wants them, and keeps the
 * number up to which it has read. A new webhook begins at the end of its stream.
 */
export function readForWebhooks(deps: () => DeveloperWebhookDeps): StreamReader {
  return {
    read: async (streams) => {
      const { read, tx } = deps().db;
      const workspaceIds = streams === null ? null : streams.map(({ workspaceId }) => workspaceId);
      if ((await listBehind(read, workspaceIds)).length === 0) return false;
      await tx(async (t) => {
        // Another process may have read for them meanwhile.
        for (const webhooks of Map.groupBy(await listBehind(t, workspaceIds), ({ workspaceId }) => workspaceId).values())
          await readForWorkspace(t, deps(), webhooks);
      });
      return true;
    },
  };
}

/** Waits until the webhooks of a workspace have read everything that was committed before the call, or reading fails. */
export async function catchUpWebhooks(
  read: Reader,
  { eventStream }: Pick<DeveloperWebhookDeps, "eventStream">,
  workspaceId: string,
): Promise<void> {
  await eventStream.catchUp();
  const end = await findStreamEnd(read, workspaceId);
  const isBehind = async (): Promise<boolean> => (await listBehind(read, [workspaceId])).some(({ position }) => position < end);
  while ((await isBehind()) && (await eventStream.readOn()));
}

/** A webhook that has not reached the end of its stream. */
type BehindWebhook = WebhookRow & {
  /** The last number of its stream. */
  readonly last: number;
};

function listBehind(q: Tx | Reader, workspaceIds: readonly string[] | null): Promise<BehindWebhook[]> {
  const name = workspaceIds === null ? "webhooks_behind" : "webhooks_behind_in";
  return q
    .prepared(name, (query, { developerWebhooks: w, eventStreams: s }, arg) =>
      query
        .select({ ...getTableColumns(w), last: s.last })
        .from(w)
        .innerJoin(s, eq(s.workspaceId, w.workspaceId))
        .where(
          and(
            workspaceIds === null ? undefined : q.sqlDialect.among(w.workspaceId, arg("workspaceIds")),
            inArray(w.status, [...RECEIVING]),
            lt(w.position, s.last),
          ),
        ),
    )
    .execute(workspaceIds === null ? {} : { workspaceIds: JSON.stringify(workspaceIds) });
}

/** Lets the webhooks of a workspace read on, up to a thousand numbers. */
async function readForWorkspace(tx: Tx, deps: DeveloperWebhookDeps, webhooks: readonly BehindWebhook[]): Promise<void> {
  const { developerWebhooks: w } = tx.t;
  const after = Math.min(...webhooks.map(({ position }) => position));
  const { workspaceId = "", last: end = after } = webhooks[0] ?? {};
  const last = Math.min(end, after + BATCH);
  const events = await listNumbered(tx, workspaceId, after, last);
  for (const [reached, alike] of Map.groupBy(webhooks, ({ position }) => position))
    await writeForWebhooks(
      tx,
      deps,
      alike,
      events.filter(({ position }) => position > reached),
    );
  await tx.updateAll(
    w,
    webhooks.filter(({ position }) => position < last).map(({ id }) => ({ where: { id }, set: { position: last } })),
  );
}

/**
 * Lets a transaction that deletes events of a workspace collide with those that read events for its webhooks: one of two begins again when
 * the other is done. Otherwise deliveries of events that are gone would be written.
 */
export async function collideWithReading(tx: Tx, workspaceId: string): Promise<void> {
  const { developerWebhooks: w } = tx.t;
  if (tx.sqlDialect.singleWriter) return;
  await tx
    .update(w)
    .set({ position: sql`${w.position}` })
    .where(eq(w.workspaceId, workspaceId));
}

/** The condition that all webhooks have read an event: only then it may be deleted. */
export function isRead(q: Tx): SQL {
  const { events: e, developerWebhooks: w } = q.t;
  const unread = q
    .select({ id: w.id })
    .from(w)
    .where(
      and(
        eq(w.workspaceId, e.workspaceId),
        inArray(w.status, [...RECEIVING]),
        or(isNull(positionOf(q.t)), lt(w.position, sql`${positionOf(q.t)}`)),
      ),
    );
  return notExists(unread);
}

/** The columns of a SentEvent. */
export function sentColumns(t: Tx["t"]) {
  const { events: e } = t;
  return {
    sequence: e.sequence,
    position: positionIn(t),
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

/** Selects the events that a webhook gets: events of its types, and those that an automation sends to it. */
export async function selectFor(q: Tx | Reader, webhook: WebhookRow, events: readonly SentEvent[]): Promise<SentEvent[]> {
  return filterFor(webhook, events, await findAddressees(q, events));
}

function filterFor(webhook: WebhookRow, events: readonly SentEvent[], addressees: ReadonlyMap<number, string>): SentEvent[] {
  const wanted = new Set<string>(listWanted(webhook));
  return events.filter(({ sequence, type }) => (type === ADDRESSED ? addressees.get(sequence) === webhook.id : wanted.has(type)));
}

/** The events of a workspace with numbers above `after`, up to `last`, in their order. */
function listNumbered(tx: Tx, workspaceId: string, after: number, last: number): Promise<SentEvent[]> {
  return tx
    .prepared("list_numbered", (q, t, arg) =>
      q
        .select(sentColumns(t))
        .from(t.eventRuns)
        .innerJoin(t.events, inRun(t))
        .where(and(isAfter(t, arg("workspaceId"), arg("after")), lte(t.eventRuns.position, arg("last")), lte(positionIn(t), arg("last"))))
        .orderBy(...byPosition(t)),
    )
    .execute({ workspaceId, after, last });
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
  return `whd_${eventKey.toString(32).padStart(11, "0")}${webhookId.slice(-15)}`;
}

/** Prefix of the names of all streams of a webhook. */
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
