import { AGENT_EVENT_TYPES, AGENT_EVENTS, type AgentEvent, type AgentEventType } from "@mailsvc/sdk/contract";
import { and, asc, eq, inArray, sql } from "drizzle-orm";
import { findRows } from "../../db/find.ts";
import { iso } from "../../lib/clock.ts";
import { type NewWebhookEvent, releaseStreams, reviveDeadEvents, withdrawEvents, writeEvents } from "../../webhooks/webhooks.ts";
import type { AgentDeps, AgentTx } from "../agent-access.ts";

type Envelope = "id" | "type" | "activationId" | "runId" | "sequence" | "timestamp";

type EventOf<T extends AgentEventType> = Omit<Extract<AgentEvent, { type: T }>, Envelope>;

/** An event for an agent's builder. `at` is when it happened (ms); `fields` are those its type adds to the envelope. */
export type NewAgentEvent = {
  [T in Exclude<AgentEventType, "test.ping">]: { type: T; at: number; runId?: string | null; fields: EventOf<T> };
}[Exclude<AgentEventType, "test.ping">];

/** Types of events that report a pause or its end. */
export const STATUS_TYPES = AGENT_EVENT_TYPES.filter((type) => AGENT_EVENTS[type].isStatus);

/** The place of an event in the stream of its activation. */
interface Position {
  readonly id: string;
  readonly listingId: string;
  readonly workspaceId: string;
  readonly sequence: number;
  readonly at: number;
}

/**
 * Writes an event for each of these activations into the outbox, in the transaction of what happened. Sequence and timestamp
 * rise strictly per activation.
 */
export async function emitAll(tx: AgentTx, deps: AgentDeps, activationIds: readonly string[], event: NewAgentEvent): Promise<void> {
  if (activationIds.length === 0) return;
  const { activations: a } = tx.t;
  const positions: Position[] = await tx
    .update(a)
    .set({
      sequence: sql`${a.sequence} + 1`,
      lastEventAt: sql`case when ${a.lastEventAt} < ${event.at} then ${event.at} else ${a.lastEventAt} + 1 end`,
    })
    .where(inArray(a.id, [...activationIds]))
    .returning({ id: a.id, listingId: a.listingId, workspaceId: a.workspaceId, sequence: a.sequence, at: a.lastEventAt });
  if (AGENT_EVENTS[event.type].isStatus) await supersede(tx, deps, activationIds);
  await write(
    tx,
    deps,
    positions.map((position) => toWebhookEvent(deps, position, event)),
  );
}

async function write(tx: AgentTx, deps: AgentDeps, rows: readonly NewWebhookEvent[]): Promise<void> {
  await writeEvents(tx, deps, rows);
  tx.afterCommit(() => deps.deliverySignal.wake(new Set(rows.map(({ endpointId }) => endpointId))));
}

/**
 * Writes events that differ, in their order. While an activation is paused its key is refused, so events of a type that is `held` are
 * kept until agent.resumed has been written; the caller has locked the activations of those.
 */
export async function emitEach(
  tx: AgentTx,
  deps: AgentDeps,
  events: readonly { activationId: string; event: NewAgentEvent }[],
): Promise<void> {
  const rows: NewWebhookEvent[] = [];
  for (const { activationId, event } of events) {
    if (AGENT_EVENTS[event.type].isStatus) await supersede(tx, deps, [activationId]);
    if (AGENT_EVENTS[event.type].held && (await isPaused(tx, activationId))) {
      await tx.insert(tx.t.heldAgentEvents).values({ activationId, event });
      continue;
    }
    const position = await takePosition(tx, activationId, event.at);
    if (position) rows.push(toWebhookEvent(deps, position, event));
  }
  await write(tx, deps, rows);
}

/** Writes an event for one activation. */
export function emit(tx: AgentTx, deps: AgentDeps, activationId: string, event: NewAgentEvent): Promise<void> {
  return emitEach(tx, deps, [{ activationId, event }]);
}

/** Writes the events that were held while these activations were paused, in their order. They are active again, or have ended. */
export async function releaseHeldEvents(tx: AgentTx, deps: AgentDeps, activationIds: readonly string[]): Promise<void> {
  const { heldAgentEvents: h } = tx.t;
  const ofActivations = inArray(h.activationId, [...activationIds]);
  const held = await tx.select().from(h).where(ofActivations).orderBy(asc(h.id));
  if (held.length === 0) return;
  await tx.delete(h).where(ofActivations);
  await emitEach(tx, deps, held);
}

/** Replaces the text of a message in the events that report it, whether they are sent already or not: somebody's data is erased. */
export async function replaceTextInEvents(tx: AgentTx, message: { activationId: string; id: string }, text: string): Promise<void> {
  const { heldAgentEvents: h, webhookEvents: e } = tx.t;
  const reports = (event: object): boolean => "messageId" in event && event.messageId === message.id;
  for (const { id, event } of await tx.select().from(h).where(eq(h.activationId, message.activationId)))
    if (event.type === "message.posted" && reports(event.fields))
      await tx
        .update(h)
        .set({ event: { ...event, fields: { ...event.fields, text } } })
        .where(eq(h.id, id));
  const posted = and(eq(e.streamId, message.activationId), eq(e.type, "message.posted"));
  for (const { id, body } of await tx.select({ id: e.id, body: e.body }).from(e).where(posted)) {
    const event: object = JSON.parse(body);
    if (reports(event))
      await tx
        .update(e)
        .set({ body: JSON.stringify({ ...event, text }) })
        .where(eq(e.id, id));
  }
}

/**
 * Delivers what a failing webhook has missed: dead events get a fresh set of attempts, and what waits goes out, all in order. If
 * the activation is active again (`resumed`), the events about its pause are superseded.
 */
export async function retryMissedEvents(tx: AgentTx, deps: AgentDeps, activationId: string, resumed: boolean): Promise<void> {
  if (resumed) await supersede(tx, deps, [activationId]);
  await reviveDeadEvents(tx, deps, activationId);
  await releaseStreams(tx, deps, [activationId]);
}

/**
 * Withdraws what reported an earlier pause or its end and has not arrived with all its direct attempts: the agent gets the last
 * status only. Events that are still in their direct attempts go out, in their order.
 */
function supersede(tx: AgentTx, deps: AgentDeps, activationIds: readonly string[]): Promise<void> {
  return withdrawEvents(tx, deps, { streamIds: activationIds, types: STATUS_TYPES, states: ["queued", "dead"] }, "superseded");
}

async function isPaused(tx: AgentTx, id: string): Promise<boolean> {
  const { activations: a } = tx.t;
  const [row] = await findRows(tx, a, { id });
  return row?.status === "paused";
}

/** Takes the next place in the stream of an activation; undefined for an unknown id. */
async function takePosition(tx: AgentTx, id: string, at: number): Promise<Position | undefined> {
  const [position] = await tx
    .prepared("emit_position", (q, { activations: a }, arg) =>
      q
        .update(a)
        .set({
          sequence: sql`${a.sequence} + 1`,
          lastEventAt: sql`case when ${a.lastEventAt} < ${arg("at")} then ${arg("at")} else ${a.lastEventAt} + 1 end`,
        })
        .where(eq(a.id, arg("id")))
        .returning({ id: a.id, listingId: a.listingId, workspaceId: a.workspaceId, sequence: a.sequence, at: a.lastEventAt }),
    )
    .execute({ id, at });
  return position;
}

/** The event as the delivery engine stores it. Its bytes are made here, once: every attempt and replay sends these. */
function toWebhookEvent(deps: AgentDeps, position: Position, event: NewAgentEvent): NewWebhookEvent {
  const { id: activationId, listingId, workspaceId, sequence, at } = position;
  const id = deps.ids("evt");
  const runId = event.runId ?? null;
  const toBody = (fields: object): string =>
    JSON.stringify({ id, type: event.type, activationId, runId, sequence, timestamp: iso(at), ...fields });
  const hasKey = event.type === "agent.activated";
  return {
    id,
    endpointId: listingId,
    streamId: activationId,
    workspaceId,
    type: event.type,
    subjectId: runId,
    sequence,
    at,
    body: toBody(hasKey ? { ...event.fields, apiKey: maskKey(event.fields.apiKey) } : event.fields),
    secretBody: hasKey ? toBody(event.fields) : null,
    // These tell the builder of the failing webhook that the activation is paused for it, and that it may go on with what waits.
    passesHold: event.type === "agent.paused" || event.type === "agent.resumed",
  };
}

function maskKey(key: string): string {
  return `***${key.slice(-4)}`;
}
