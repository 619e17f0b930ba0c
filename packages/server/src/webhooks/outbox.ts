import type { AgentEventState } from "@mailsvc/sdk/contract";
import { and, desc, eq, gt, inArray, or, type Placeholder, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import type { Clock } from "../lib/clock.ts";
import type { Seal } from "../lib/seal.ts";
import type { Tracing } from "../lib/tracing.ts";
import type { Webhooks } from "./endpoint.ts";
import type { WebhookTables } from "./tables.ts";

type Outbox = WebhookTables["webhookEvents" | "webhookDeliveries"];

/** A transaction that may act for an agent. */
type OutboxTx = Tx<Pick<WebhookTables, "webhookEvents" | "webhookStreams">>;

/** An event for a webhook. `sequence` is its place in its stream: the caller counts it, without gaps. */
export interface NewWebhookEvent {
  readonly id: string;
  readonly endpointId: string;
  readonly streamId: string;
  readonly workspaceId: string;
  readonly type: string;
  readonly subjectId: string | null;
  readonly sequence: number;
  /** The event's timestamp, ms. */
  readonly at: number;
  /** The key of the event in the log, for an endpoint whose policy makes the bytes. */
  readonly eventKey?: number;
  /** The bytes to send; with a secret in them, the same with the secret masked. */
  readonly body: string;
  /** The bytes with their secret: stored encrypted, and erased once the webhook has acknowledged them. */
  readonly secretBody: string | null;
  /** Goes out although its stream is held. */
  readonly passesHold: boolean;
  /** The trace it belongs to, as a traceparent; that of its writer when absent. */
  readonly traceparent?: string | null | undefined;
}

interface OutboxDeps {
  readonly clock: Clock;
  readonly seal: Seal;
  readonly tracing: Tracing | null;
  readonly webhooks: Pick<Webhooks, "wake">;
}

/** Writes events into the outbox of agents, in the transaction of what they report, and wakes the dispatcher after its commit. */
export function writeEvents(tx: OutboxTx, deps: OutboxDeps, events: readonly NewWebhookEvent[]): Promise<void> {
  return writeInto(tx.t.webhookEvents, tx, deps, events);
}

/** Writes events into the outbox of developers. */
export function writeDeliveries(tx: Tx, deps: OutboxDeps, events: readonly NewWebhookEvent[]): Promise<void> {
  return writeInto(tx.t.webhookDeliveries, tx, deps, events);
}

async function writeInto(outbox: Outbox, tx: OutboxTx, deps: OutboxDeps, events: readonly NewWebhookEvent[]): Promise<void> {
  if (events.length === 0) return;
  const now = deps.clock.now();
  const current = deps.tracing?.current() ?? null;
  await tx.insertAll(
    outbox,
    // Each column by its name: copying the rest of an event takes longer than all else here.
    events.map((event) => ({
      id: event.id,
      endpointId: event.endpointId,
      streamId: event.streamId,
      workspaceId: event.workspaceId,
      type: event.type,
      subjectId: event.subjectId,
      sequence: event.sequence,
      at: event.at,
      eventKey: event.eventKey ?? null,
      body: event.body,
      sealed: event.secretBody === null ? null : deps.seal.seal(event.secretBody, eventBodyPlace(event.id)),
      passesHold: event.passesHold,
      state: "pending" as const,
      attempts: 0,
      tries: 0,
      dueAt: now,
      traceparent: event.traceparent === undefined ? current : event.traceparent,
    })),
  );
  const streams = new Map(events.map(({ streamId, endpointId }) => [streamId, endpointId]));
  await wakeStreams(tx, streams, now);
  tx.afterCommit(() => deps.webhooks.wake(new Set(streams.values())));
}

/** The bytes to send. Throws SealBroken when they are encrypted under another master key. */
export function openBody({ seal }: Pick<OutboxDeps, "seal">, event: { id: string; body: string; sealed: Uint8Array | null }): string {
  return event.sealed === null ? event.body : seal.open(event.sealed, eventBodyPlace(event.id));
}

/** Gives the dead events of a stream a fresh set of attempts, in their order. */
export async function reviveDeadEvents(tx: OutboxTx, deps: OutboxDeps, streamId: string): Promise<void> {
  const { webhookEvents: e } = tx.t;
  await tx
    .update(e)
    .set({ state: "pending", tries: 0, dueAt: deps.clock.now(), settledAt: null })
    .where(and(eq(e.streamId, streamId), eq(e.state, "dead")));
}

/**
 * Gives what is dead or waits for a retry in these streams a fresh set of attempts, in their order, and makes the streams due. An event
 * whose attempt is under way keeps its place. Streams that are held stay so.
 */
export async function recoverEvents(tx: OutboxTx, deps: OutboxDeps, endpointId: string, streamIds: readonly string[]): Promise<void> {
  const { webhookEvents: e } = tx.t;
  const now = deps.clock.now();
  await tx
    .update(e)
    .set({ state: "pending", tries: 0, dueAt: now, settledAt: null })
    .where(and(inArray(e.streamId, [...streamIds]), or(inArray(e.state, ["dead", "queued"]), gt(e.dueAt, now))));
  await wakeStreams(tx, new Map(streamIds.map((streamId) => [streamId, endpointId])), now);
  tx.afterCommit(() => deps.webhooks.wake([endpointId]));
}

/** Gives settled events of a developer's webhook a fresh set of attempts. They go out as before, each in its stream. */
export async function reviveEvents(
  tx: Tx,
  deps: OutboxDeps,
  endpointId: string,
  events: readonly { readonly id: string; readonly streamId: string }[],
): Promise<void> {
  if (events.length === 0) return;
  const { webhookDeliveries: e } = tx.t;
  const now = deps.clock.now();
  const ids = events.map(({ id }) => id);
  await tx.update(e).set({ state: "pending", tries: 0, dueAt: now, settledAt: null }).where(inArray(e.id, ids));
  await wakeStreams(tx, new Map(events.map(({ streamId }) => [streamId, endpointId])), now);
  tx.afterCommit(() => deps.webhooks.wake([endpointId]));
}

/** True if a stream is held. */
export async function isHeld(tx: OutboxTx, streamId: string): Promise<boolean> {
  const { webhookStreams: s } = tx.t;
  const [row] = await tx.select({ held: s.held }).from(s).where(eq(s.streamId, streamId));
  return row?.held === true;
}

/** Ends the hold on streams: what waits in them goes out, in its order. */
export async function releaseStreams(tx: OutboxTx, deps: OutboxDeps, streamIds: readonly string[]): Promise<void> {
  const { webhookStreams: s } = tx.t;
  const released = await tx
    .update(s)
    .set({ held: false, dueAt: dueNow(s, deps.clock.now()) })
    .where(and(inArray(s.streamId, [...streamIds]), eq(s.held, true)))
    .returning({ endpointId: s.endpointId });
  if (released.length > 0) tx.afterCommit(() => deps.webhooks.wake(new Set(released.map(({ endpointId }) => endpointId))));
}

/** Settles events of these types without sending them, and erases their secrets. One in flight is still recorded if it arrives. */
export async function withdrawEvents(
  tx: OutboxTx,
  deps: Pick<OutboxDeps, "clock">,
  which: { streamIds: readonly string[]; types: readonly string[]; states: readonly AgentEventState[] },
  state: "superseded" | "cancelled",
): Promise<void> {
  const { webhookEvents: e } = tx.t;
  await tx
    .update(e)
    .set({ state, dueAt: null, sealed: null, settledAt: deps.clock.now() })
    .where(and(inArray(e.streamId, [...which.streamIds]), inArray(e.type, [...which.types]), inArray(e.state, [...which.states])));
}

/** The timestamp of the newest event, ms; null before the first one. */
export async function findLatestEventAt(read: Reader): Promise<number | null> {
  const { webhookEvents: e } = read.t;
  const [latest] = await read.select({ at: e.at }).from(e).orderBy(desc(e.id)).limit(1);
  return latest?.at ?? null;
}

/** Creates streams, or makes them due: ids of streams with those of their endpoints. */
async function wakeStreams(tx: OutboxTx, streams: ReadonlyMap<string, string>, now: number): Promise<void> {
  // Written also while a worker has the stream: on Postgres it then sees that there is more, or runs its transaction again.
  const known = await tx
    .prepared("wake_streams", (q, { webhookStreams: s }, arg) =>
      q
        .update(s)
        .set({ dueAt: dueNow(s, arg("now")) })
        .where(tx.sqlDialect.among(s.streamId, arg("streamIds")))
        .returning({ streamId: s.streamId }),
    )
    .execute({ now, streamIds: JSON.stringify([...streams.keys()]) });
  if (known.length === streams.size) return;
  const { webhookStreams: s } = tx.t;
  await tx
    .insert(s)
    .values(
      [...streams].map(([streamId, endpointId]) => ({ streamId, endpointId, dueAt: now, claim: null, interrupted: false, held: false })),
    )
    .onConflictDoUpdate({ target: s.streamId, set: { dueAt: dueNow(s, now) } });
}

/**
 * Returns the time at which a stream is due next: now, unless a worker has it, which then looks by itself. A stream that is due
 * already keeps its place; otherwise events in quick succession would put it off again and again.
 */
function dueNow(s: WebhookTables["webhookStreams"], now: number | Placeholder) {
  return sql`case when ${s.claim} is null and (${s.dueAt} is null or ${s.dueAt} > ${now}) then ${now} else ${s.dueAt} end`;
}

/** Encryption context of an event's bytes. Stored events open only under this label, so it keeps the name of the first kind. */
export function eventBodyPlace(eventId: string): string {
  return `agent_event:${eventId}`;
}
