import type { AgentEventType, DeliveryDetail, StreamMessage } from "@mailsvc/sdk/contract";
import { and, asc, eq, gt } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { findRows } from "../../db/find.ts";
import { invalid } from "../../lib/api-error.ts";
import { firstIdAt, readIdTime } from "../../lib/ids.ts";
import { waitForTurn } from "../../lib/turn.ts";
import { MINUTE, SECOND } from "../../lib/units.ts";
import { openBody } from "../../webhooks/webhooks.ts";
import type { ListingRow } from "../listings/listings.ts";
import { showDeliveryDetail } from "./deliveries.ts";
import type { AgentWebhookDeps } from "./deps.ts";

/** Request to follow a listing's events. */
interface TailRequest {
  readonly keyId: string;
  /** The id of the last event that the client has seen. */
  readonly after?: string | undefined;
  /** Last-Event-ID of a reconnecting client; takes precedence. */
  readonly lastEventId: string | null;
  readonly type?: AgentEventType | undefined;
  /** True to get agent.activated of an activation in the builder's own workspace with the key, until the webhook has got it. */
  readonly withKeys: boolean;
  /** Aborted when the client disconnects, and when its key is revoked. */
  readonly signal: AbortSignal;
}

// Ids sort by the time at which they were made. On Postgres a transaction may commit after another one whose ids are newer, but none lasts
// this long: so far back the stream looks again for what it has not sent.
const OVERLAP_MS = MINUTE;
// Another process may have written events: look this often (real time).
const POLL_MS = 300;
// Interval of the messages sent while nothing happens, so that both sides notice a dead connection (real time).
const PING_MS = 15 * SECOND;
const PAGE = 500;

/**
 * The events for the webhook of a listing as they are written, without end: it stops when the client disconnects, its key is revoked or
 * the server stops. A client that connects again may get events of the last minute again, under the same ids. Throws ApiError
 * validation_error, rate_limited.
 */
export async function followDeliveries(
  read: Reader,
  deps: AgentWebhookDeps,
  listing: ListingRow,
  request: TailRequest,
): Promise<AsyncIterable<StreamMessage<DeliveryDetail>>> {
  const { eventStream, deliverySignal, clock } = deps;
  const last = readEventId("Last-Event-ID", request.lastEventId) ?? readEventId("after", request.after ?? null);
  const unsent = new UnsentEvents(read, listing.id, last ?? firstIdAt("evt", clock.now()));
  // Without a position, start with new events.
  for (let full = last === null; full; await waitForTurn()) ({ full } = await unsent.take());
  const close = eventStream.followers.open(listing.workspaceId, request.keyId);
  const signal = AbortSignal.any([request.signal, eventStream.stopping]);
  // It may have left while the database was asked.
  if (signal.aborted) close();
  else signal.addEventListener("abort", close, { once: true });

  async function* follow(): AsyncGenerator<StreamMessage<DeliveryDetail>> {
    try {
      // At once, so that the client knows it is connected.
      yield { id: unsent.newest };
      let quietSince = clock.real.now();
      let behind = false;
      while (!signal.aborted) {
        // Before the read, so that nothing is missed in between; behind a full page there is no need to wait.
        const waiting = behind ? null : deliverySignal.wait(listing.id, POLL_MS, signal);
        const { taken, full } = await unsent.take();
        for (const { id, type } of taken) {
          if (signal.aborted) return;
          if (request.type !== undefined && type !== request.type) continue;
          const [row] = await findRows(read, read.t.webhookEvents, { id });
          if (!row) continue;
          const shown = await showDeliveryDetail(read, row);
          const hasKey = request.withKeys && row.sealed !== null && (await isOwn(read, listing, row.streamId));
          yield { id, data: hasKey ? { ...shown, body: openBody(deps, row) } : shown };
          quietSince = clock.real.now();
        }
        // Its id tells how far was searched: a client that connects again goes on from there.
        if (clock.real.now() - quietSince >= PING_MS) {
          yield { id: unsent.newest };
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

/** True if an activation is in the workspace of its builder. */
async function isOwn(read: Reader, listing: ListingRow, activationId: string): Promise<boolean> {
  const [own] = await findRows(read, read.t.activations, { id: activationId });
  return own?.workspaceId === listing.workspaceId && own.listingId === listing.id && own.status !== "deactivated";
}

interface EventOfListing {
  readonly id: string;
  readonly type: string;
}

/** A listing's events that were not taken before, from an id on. */
class UnsentEvents {
  readonly #read: Reader;
  readonly #listingId: string;
  /** Events of the last minute, oldest first. */
  readonly #taken = new Set<string>();
  #newest: string;
  /** Position after which the next page begins. */
  #from: string;

  constructor(read: Reader, listingId: string, after: string) {
    this.#read = read;
    this.#listingId = listingId;
    this.#newest = after;
    this.#from = findFloor(after);
    this.#taken.add(after);
  }

  /** The newest id that was taken, or the one to begin after. */
  get newest(): string {
    return this.#newest;
  }

  /** The next ones, oldest first; a page at most, and `full` says that more may follow. */
  async take(): Promise<{ readonly taken: readonly EventOfListing[]; readonly full: boolean }> {
    const page = await this.#listAfter(this.#from);
    const taken = page.filter(({ id }) => !this.#taken.has(id));
    for (const { id } of taken) {
      this.#taken.add(id);
      if (id > this.#newest) this.#newest = id;
    }
    const floor = findFloor(this.#newest);
    for (const id of this.#taken) if (id < floor) this.#taken.delete(id);
    const full = page.length === PAGE;
    this.#from = full ? (page.at(-1)?.id ?? floor) : floor;
    return { taken, full };
  }

  async #listAfter(id: string): Promise<EventOfListing[]> {
    const { webhookEvents: e } = this.#read.t;
    return this.#read
      .select({ id: e.id, type: e.type })
      .from(e)
      .where(and(eq(e.endpointId, this.#listingId), gt(e.id, id)))
      .orderBy(asc(e.id))
      .limit(PAGE);
  }
}

/** Returns the id from which to look again for events that were committed late. */
function findFloor(newest: string): string {
  return firstIdAt("evt", readIdTime(newest) - OVERLAP_MS);
}

/** Throws ApiError validation_error for what is no id of an event. */
function readEventId(name: string, text: string | null): string | null {
  if (text === null || text === "") return null;
  if (/^evt_[0-9a-hjkmnp-tv-z]{26}$/.test(text)) return text;
  throw invalid(name, "invalid_format", `${name} must be the id of an event, such as evt_01jc3v2m9k8q4w6x0y5z7a1b2c.`);
}
