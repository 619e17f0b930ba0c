import type { Mailsvc } from "@mailsvc/sdk";
import type { Event } from "@mailsvc/sdk/contract";
import type { ForwardedEvent } from "./forwarder.ts";

type Client = Pick<Mailsvc, "deliveries" | "events">;
export type EventFilter = Omit<NonNullable<Parameters<Mailsvc["events"]["tail"]>[0]>, "from">;

/** An event of the workspace as its webhooks get it: the same bytes. */
export function toForwarded(event: Event): ForwardedEvent {
  const { id, type, at, sequence } = event;
  return {
    id,
    type,
    at,
    sequence,
    position: sequence,
    subject: event.emailId ?? event.contactId ?? event.campaignId ?? id,
    body: JSON.stringify(event),
  };
}

/** The events of the workspace from a sequence on, without end. Goes on after sleep and restarts of the server, without a gap. */
export async function* followWorkspace(
  client: Client,
  filter: EventFilter,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<ForwardedEvent> {
  for await (const event of client.events.tail({ ...filter, from }, { signal })) yield toForwarded(event);
}

/** The sequence of the last event of the workspace; 0 before the first one. */
export async function findLastSequence({ events }: Pick<Client, "events">): Promise<number> {
  // An event may be recorded later than it happened, so the latest one is not always the one with the highest sequence.
  const { data } = await events.list({ limit: 100 });
  return Math.max(0, ...data.map(({ sequence }) => sequence));
}

// Before every id: the stream from its start.
const BEFORE_ALL = `evt_${"0".repeat(26)}`;
const PAGE = 100;
const MAX_COUNTED = 1000;

/** Starting position in the stream of an agent. */
export interface AgentStart {
  /** The id of an event. */
  readonly after: string;
  /** Events that are not wanted again, though the stream may repeat them; oldest first. */
  readonly known: readonly string[];
}

/** The end of the stream of an agent, as it is now. */
export async function findAgentEnd({ deliveries }: Pick<Client, "deliveries">, slug: string): Promise<AgentStart> {
  const known = (await deliveries.list(slug, { limit: PAGE })).data.map(({ id }) => id).reverse();
  return { after: known.at(-1) ?? BEFORE_ALL, known };
}

/** Counts the events after a position in the stream of an agent, 1,000 at most. */
export async function countAgentEvents(
  { deliveries }: Pick<Client, "deliveries">,
  slug: string,
  { after, known }: AgentStart,
): Promise<number> {
  const seen = new Set(known);
  let count = 0;
  for await (const { id } of deliveries.list(slug, { limit: PAGE })) {
    if (id <= after || count >= MAX_COUNTED) break;
    if (!seen.has(id)) count += 1;
  }
  return count;
}

/**
 * The events for the webhook of an agent from a place on, without end. Goes on after sleep and restarts of the server, without a gap. Their
 * bodies are those of the real webhook; the key of agent.activated is masked, unless `withKeys` asks for those of the own workspace.
 */
export async function* followAgent(
  { deliveries }: Client,
  slug: string,
  { after, known }: AgentStart,
  signal: AbortSignal,
  withKeys: boolean,
): AsyncGenerator<ForwardedEvent> {
  const seen = new Set(known);
  const query = { after, ...(withKeys && { keys: true }) };
  for await (const { id, type, timestamp, activationId, body } of deliveries.tail(slug, query, { signal })) {
    if (seen.has(id)) continue;
    seen.add(id);
    yield { id, type, at: timestamp, sequence: null, position: id, subject: activationId, body };
  }
}
