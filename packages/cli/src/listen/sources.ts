import type { Mailsvc } from "@mailsvc/sdk";
import type { Delivery, Event } from "@mailsvc/sdk/contract";
import type { ForwardedEvent } from "./forwarder.ts";

type Client = Pick<Mailsvc, "deliveries" | "events">;
export type EventFilter = Omit<NonNullable<Parameters<Mailsvc["events"]["tail"]>[0]>, "from">;

/** An event of the workspace as its webhooks get it: the same bytes. */
export function toForwarded(event: Event): ForwardedEvent {
  const { id, type, at, sequence } = event;
  return { id, type, at, sequence, subject: event.emailId ?? event.contactId ?? event.campaignId ?? id, body: JSON.stringify(event) };
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

// Agents have few events, and no stream: the list is looked at this often.
const POLL_MS = 250;
const PAGE = 50;

/**
 * The events for the webhook of an agent as they happen. Their bodies are those of the real webhook, except for the key of
 * agent.activated, which goes to that webhook alone.
 */
export async function* followAgent(
  { deliveries }: Client,
  slug: string,
  { sleep, signal }: { sleep: (ms: number, signal: AbortSignal) => Promise<void>; signal: AbortSignal },
): AsyncGenerator<ForwardedEvent> {
  const known = new Set((await deliveries.list(slug, { limit: PAGE })).data.map(({ id }) => id));
  while (!signal.aborted) {
    const fresh = await listFresh(deliveries, slug, known);
    for (const { id, type, timestamp, activationId } of fresh) {
      known.add(id);
      const { body } = await deliveries.get(slug, id);
      yield { id, type, at: timestamp, sequence: null, subject: activationId, body };
    }
    await sleep(POLL_MS, signal);
  }
}

/** The deliveries before the first known one, oldest first. */
async function listFresh(deliveries: Client["deliveries"], slug: string, known: ReadonlySet<string>): Promise<Delivery[]> {
  const fresh: Delivery[] = [];
  let cursor: string | null = null;
  do {
    const page: { data: Delivery[]; pagination: { nextCursor: string | null } } = await deliveries.list(slug, {
      limit: PAGE,
      ...(cursor !== null && { cursor }),
    });
    const unknown = page.data.filter(({ id }) => !known.has(id));
    fresh.push(...unknown);
    cursor = unknown.length < page.data.length ? null : page.pagination.nextCursor;
  } while (cursor !== null);
  return fresh.reverse();
}
