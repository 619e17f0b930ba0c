import { addressKey, type Event, parseEventTypes, type StreamMessage } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import { invalid } from "../lib/api-error.ts";
import { waitForTurn } from "../lib/turn.ts";
import { findContactId } from "./contact-filter.ts";
import type { EventTailDeps } from "./deps.ts";
import type { EventFilter } from "./list.ts";
import { findStreamEnd } from "./runs.ts";

/** Events that a client wants to follow. */
interface TailRequest extends Omit<EventFilter, "since" | "until"> {
  readonly workspaceId: string;
  readonly keyId: string;
  /** The first number wanted. */
  readonly from?: number | undefined;
  /** The last number that the client has seen, as it sends it; it wins over `from`. */
  readonly lastEventId: string | null;
  /** Aborted when the client disconnects, and when its key is revoked. */
  readonly signal: AbortSignal;
}

// Interval of messages while nothing happens, so that both sides notice a dead connection (real time).
const PING_MS = 15_000;

/**
 * The events of a workspace from a number on, without end: it stops when the client disconnects, its key is revoked or the server stops.
 * Throws ApiError validation_error, rate_limited.
 */
export async function followEvents(read: Reader, deps: EventTailDeps, request: TailRequest): Promise<AsyncIterable<StreamMessage<Event>>> {
  const { eventStream, clock } = deps;
  const { followers } = eventStream;
  const { workspaceId, keyId } = request;
  const wanted = parseLastEventId(request.lastEventId) ?? request.from;
  const { contact } = request;
  const contactId = contact === undefined ? undefined : await findContactId(read, workspaceId, contact);
  const matches = createMatcher({ ...request, contact: contactId });
  const first = wanted ?? (await findNext(read, deps, workspaceId));
  const close = followers.open(workspaceId, keyId);
  const signal = AbortSignal.any([request.signal, eventStream.stopping]);
  // It may have left while the database was asked.
  if (signal.aborted) close();
  else signal.addEventListener("abort", close, { once: true });

  async function* follow(): AsyncGenerator<StreamMessage<Event>> {
    try {
      let next = first;
      // At once, so that the client knows it is connected.
      yield { id: String(next - 1) };
      let quietSince = clock.real.now();
      let behind = false;
      while (!signal.aborted) {
        // Before the read, so that nothing is missed in between; behind a full page there is no need to wait.
        const waiting = behind ? null : followers.wait(workspaceId, Math.max(0, quietSince + PING_MS - clock.real.now()), signal);
        const { events, full } = await followers.read(workspaceId, next);
        for (const event of events) {
          if (signal.aborted) return;
          next = event.sequence + 1;
          if (!matches(event)) continue;
          yield { id: String(event.sequence), data: event };
          quietSince = clock.real.now();
        }
        // Its id tells how far the stream was searched: a client that connects again goes on from there.
        if (clock.real.now() - quietSince >= PING_MS) {
          yield { id: String(next - 1) };
          quietSince = clock.real.now();
        }
        behind = full;
        await (full ? waitForTurn() : waiting);
      }
    } finally {
      signal.removeEventListener("abort", close);
      if (!signal.aborted) close();
    }
  }
  return follow();
}

/** The number that the next event of a workspace will get. */
async function findNext(read: Reader, { eventStream }: EventTailDeps, workspaceId: string): Promise<number> {
  await eventStream.catchUp();
  return (await findStreamEnd(read, workspaceId)) + 1;
}

/** Name and value: names have no `=`, values may. */
function splitTag(tag: string): [string, string] {
  const at = tag.indexOf("=");
  return [tag.slice(0, at), tag.slice(at + 1)];
}

/** The number after the one in Last-Event-ID; undefined when there is none. Throws ApiError validation_error. */
function parseLastEventId(text: string | null): number | undefined {
  if (text === null || text === "") return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw invalid("Last-Event-ID", "invalid_format", "Last-Event-ID must be the id of a message of this stream: a whole number.");
  return Number(text) + 1;
}

function createMatcher(request: TailRequest): (event: Event) => boolean {
  const types = new Set(parseEventTypes(request.type));
  const toKey = request.to === undefined ? undefined : addressKey(request.to);
  const [tagName = "", tagValue] = request.tag === undefined ? [] : splitTag(request.tag);
  const { email, campaign, automation, contact, machine, test } = request;
  return (event) =>
    types.has(event.type) &&
    (email === undefined || event.emailId === email || event.recipient?.id === email) &&
    (toKey === undefined || (event.to !== null && addressKey(event.to) === toKey)) &&
    (tagValue === undefined || event.tags[tagName] === tagValue) &&
    (campaign === undefined || event.campaignId === campaign) &&
    (automation === undefined || event.automationId === automation) &&
    (contact === undefined || event.contactId === contact || event.externalId === contact) &&
    (machine === undefined || event.machine === machine) &&
    (test === undefined || event.test === test);
}
