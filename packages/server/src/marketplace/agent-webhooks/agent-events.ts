import type { AgentEvent, AgentEventType } from "@mailsvc/sdk/contract";
import { and, eq, inArray, sql } from "drizzle-orm";
import type { AgentDeps, AgentTx } from "../../deps.ts";
import { iso } from "../../lib/clock.ts";

type Envelope = "id" | "type" | "activationId" | "runId" | "sequence" | "timestamp";

type EventOf<T extends AgentEventType> = Omit<Extract<AgentEvent, { type: T }>, Envelope>;

/** Something an agent's builder must hear of. `at` is when it happened (ms); `fields` is what its type adds to the envelope. */
export type NewAgentEvent = {
  [T in Exclude<AgentEventType, "test.ping">]: { type: T; at: number; runId?: string | null; fields: EventOf<T> };
}[Exclude<AgentEventType, "test.ping">];

/** Types that say whether the agent may work: a newer one makes an older one moot. */
const TURNS: readonly AgentEventType[] = ["agent.paused", "agent.resumed"];

/** Where the bytes of an event are sealed for. */
export function sealPlace(eventId: string): string {
  return `agent_event:${eventId}`;
}

/** Where an event stands among those of its activation. */
interface Place {
  id: string;
  listingId: string;
  workspaceId: string;
  period: number;
  sequence: number;
  at: number;
}

/**
 * Writes an event for each of these activations into the outbox, in the transaction of what happened. Sequence and timestamp
 * rise strictly per activation.
 */
export async function emitAll(tx: AgentTx, deps: AgentDeps, activationIds: readonly string[], event: NewAgentEvent): Promise<void> {
  if (activationIds.length === 0) return;
  const { activations: a, agentEvents } = tx.t;
  const places: Place[] = await tx
    .update(a)
    .set({
      sequence: sql`${a.sequence} + 1`,
      lastEventAt: sql`case when ${a.lastEventAt} < ${event.at} then ${event.at} else ${a.lastEventAt} + 1 end`,
    })
    .where(inArray(a.id, [...activationIds]))
    .returning({
      id: a.id,
      listingId: a.listingId,
      workspaceId: a.workspaceId,
      period: a.period,
      sequence: a.sequence,
      at: a.lastEventAt,
    });
  if (places.length === 0) return;
  if (TURNS.includes(event.type)) await supersede(tx, activationIds, deps.clock.now());
  await tx.insertAll(
    agentEvents,
    places.map((place) => rowOf(deps, place, event)),
  );
  await callLanes(tx, deps, places);
}

const ph = sql.placeholder;

/** The same for events that differ, in their order. */
export async function emitEach(
  tx: AgentTx,
  deps: AgentDeps,
  events: readonly { activationId: string; event: NewAgentEvent }[],
): Promise<void> {
  const placed: { place: Place; event: NewAgentEvent }[] = [];
  for (const { activationId, event } of events) {
    if (TURNS.includes(event.type)) await supersede(tx, [activationId], deps.clock.now());
    const place = await nextPlace(tx, activationId, event.at);
    if (place) placed.push({ place, event });
  }
  if (placed.length === 0) return;
  await tx.insertAll(
    tx.t.agentEvents,
    placed.map(({ place, event }) => rowOf(deps, place, event)),
  );
  await callLanes(
    tx,
    deps,
    placed.map(({ place }) => place),
  );
}

/** The same for one activation. */
export function emit(tx: AgentTx, deps: AgentDeps, activationId: string, event: NewAgentEvent): Promise<void> {
  return emitEach(tx, deps, [{ activationId, event }]);
}

/**
 * Gives events that were given up a fresh set of attempts, in their order, and lets the lane go on. When the activation is
 * active again (`resumes`), what told of its pause is set aside.
 */
export async function reviveEvents(tx: AgentTx, deps: AgentDeps, activationId: string, resumes: boolean): Promise<void> {
  const { agentEvents: e, deliveryLanes: lanes } = tx.t;
  const now = deps.clock.now();
  if (resumes) await supersede(tx, [activationId], now);
  await tx
    .update(e)
    .set({ state: "pending", tries: 0, dueAt: now, settledAt: null })
    .where(and(eq(e.activationId, activationId), eq(e.state, "dead")));
  const woken = await tx
    .update(lanes)
    .set({ held: false, dueAt: lookNow(lanes, now) })
    .where(eq(lanes.activationId, activationId))
    .returning({ listingId: lanes.listingId });
  tx.afterCommit(() => deps.deliveries.wake(woken.map(({ listingId }) => listingId)));
}

function masked(key: string): string {
  return `***${key.slice(-4)}`;
}

/**
 * Sets aside what told of an earlier pause or its end and has not arrived with all its direct attempts: the agent hears of the
 * last state only. What is still in its direct attempts goes out, in its order.
 */
async function supersede(tx: AgentTx, activationIds: readonly string[], now: number): Promise<void> {
  const { agentEvents: e } = tx.t;
  await tx
    .update(e)
    .set({ state: "superseded", dueAt: null, settledAt: now })
    .where(and(inArray(e.activationId, [...activationIds]), inArray(e.type, [...TURNS]), inArray(e.state, ["queued", "dead"])));
}

/** An event in the outbox. Its bytes are made here, once: every attempt and replay sends them as they are. */
function rowOf(deps: AgentDeps, { id: activationId, listingId, workspaceId, sequence, at }: Place, event: NewAgentEvent) {
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
    tries: 0,
    dueAt: deps.clock.now(),
  };
}

/** Lets somebody look at the lanes of these activations. */
async function callLanes(tx: AgentTx, deps: AgentDeps, places: readonly Place[]): Promise<void> {
  const { deliveryLanes: lanes } = tx.t;
  const now = deps.clock.now();
  const each = [...new Map(places.map((place) => [place.id, place])).values()];
  // Written also while a worker has the lane: on Postgres it then sees that there is more, or runs its transaction again.
  await tx
    .insert(lanes)
    .values(each.map(({ id, listingId, period }) => ({ activationId: id, listingId, period, dueAt: now, claim: null, held: false })))
    .onConflictDoUpdate({ target: lanes.activationId, set: { dueAt: lookNow(lanes, now) } });
  const listingIds = new Set(each.map(({ listingId }) => listingId));
  tx.afterCommit(() => deps.deliveries.wake(listingIds));
}

/** The next place among the events of an activation; undefined when there is none such. */
async function nextPlace(tx: AgentTx, id: string, at: number): Promise<Place | undefined> {
  const [place] = await tx
    .prepared("emit_place", (q, { activations: a }) =>
      q
        .update(a)
        .set({
          sequence: sql`${a.sequence} + 1`,
          lastEventAt: sql`case when ${a.lastEventAt} < ${ph("at")} then ${ph("at")} else ${a.lastEventAt} + 1 end`,
        })
        .where(eq(a.id, ph("id")))
        .returning({
          id: a.id,
          listingId: a.listingId,
          workspaceId: a.workspaceId,
          period: a.period,
          sequence: a.sequence,
          at: a.lastEventAt,
        })
        .prepare("emit_place"),
    )
    .execute({ id, at });
  return place;
}

/**
 * When a lane is looked at next: now, unless a worker has it, which looks by itself. One that is due already keeps its place: events
 * that follow each other fast would put it off again and again.
 */
function lookNow(lanes: AgentTx["t"]["deliveryLanes"], now: number) {
  return sql`case when ${lanes.claim} is null and (${lanes.dueAt} is null or ${lanes.dueAt} > ${now}) then ${now} else ${lanes.dueAt} end`;
}
