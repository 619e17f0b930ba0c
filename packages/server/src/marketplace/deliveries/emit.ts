import type { AgentEvent, AgentEventType } from "@mailsvc/sdk/contract";
import { inArray, sql } from "drizzle-orm";
import type { AgentDeps, AgentTx } from "../../deps.ts";
import { iso } from "../../lib/clock.ts";

type Envelope = "id" | "type" | "activationId" | "runId" | "sequence" | "timestamp";

type EventOf<T extends AgentEventType> = Omit<Extract<AgentEvent, { type: T }>, Envelope>;

/** Something an agent's builder must hear of. `at` is when it happened (ms); `fields` is what its type adds to the envelope. */
export type NewAgentEvent = {
  [T in Exclude<AgentEventType, "test.ping">]: { type: T; at: number; runId?: string | null; fields: EventOf<T> };
}[Exclude<AgentEventType, "test.ping">];

/** Where the bytes of an event are sealed for. */
export const sealPlace = (eventId: string): string => `agent_event:${eventId}`;

const masked = (key: string): string => `***${key.slice(-4)}`;

/**
 * Writes an event for each of these activations into the outbox, in the transaction of what happened. The bytes are made
 * here, once: every attempt and replay sends them as they are. Sequence and timestamp rise strictly per activation.
 */
export const emitAll = async (tx: AgentTx, deps: AgentDeps, activationIds: readonly string[], event: NewAgentEvent): Promise<void> => {
  if (activationIds.length === 0) return;
  const { activations: a, agentEvents } = tx.t;
  const places = await tx
    .update(a)
    .set({
      sequence: sql`${a.sequence} + 1`,
      lastEventAt: sql`case when ${a.lastEventAt} < ${event.at} then ${event.at} else ${a.lastEventAt} + 1 end`,
    })
    .where(inArray(a.id, [...activationIds]))
    .returning({ id: a.id, listingId: a.listingId, workspaceId: a.workspaceId, sequence: a.sequence, at: a.lastEventAt });
  const rows = places.map(({ id: activationId, listingId, workspaceId, sequence, at }) => {
    const id = deps.ids("evt");
    const runId = event.runId ?? null;
    const bytes = (fields: object): string =>
      JSON.stringify({ id, type: event.type, activationId, runId, sequence, timestamp: iso(at), ...fields });
    const secret = event.type === "agent.activated";
    return {
      id,
      activationId,
      listingId,
      workspaceId,
      type: event.type,
      runId,
      sequence,
      at,
      body: bytes(secret ? { ...event.fields, apiKey: masked(event.fields.apiKey) } : event.fields),
      sealed: secret ? deps.seal.seal(bytes(event.fields), sealPlace(id)) : null,
      state: "pending" as const,
      attempts: 0,
      dueAt: deps.clock.now(),
    };
  });
  await tx.insert(agentEvents).values(rows);
};

/** The same for one activation. */
export const emit = (tx: AgentTx, deps: AgentDeps, activationId: string, event: NewAgentEvent): Promise<void> =>
  emitAll(tx, deps, [activationId], event);
