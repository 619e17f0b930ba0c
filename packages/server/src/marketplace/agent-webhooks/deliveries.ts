import type { AgentEventState, AgentEventType, Delivery, DeliveryDetail, Page } from "@mailsvc/sdk/contract";
import { and, desc, eq, inArray, isNull, lt, ne, notExists, or } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import { findRows } from "../../db/find.ts";
import {
  type ChosenFilters,
  chooseFilter,
  countFiltered,
  type Filter,
  listPage,
  type PageInput,
  paginateBySeq,
} from "../../db/pagination.ts";
import { ApiError, notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import { perMinute } from "../../lib/rate.ts";
import type { DeleteOld } from "../../retention/retention.ts";
import {
  type Attempt,
  deleteAttempts,
  type EventRow,
  listAttempts,
  listTurns,
  openBody,
  recordManualAttempt,
  showLastAttempt,
  type Turn,
} from "../../webhooks/webhooks.ts";
import { getListingRow, type ListingRow } from "../listings/listings.ts";
import type { AgentWebhookDeps } from "./deps.ts";
import { toAgentEndpoint } from "./endpoint.ts";

// The largest number the column holds on Postgres.
const MAX_SEQUENCE = 2 ** 31 - 1;

interface DeliveryFilter extends PageInput {
  state?: AgentEventState | undefined;
  type?: AgentEventType | undefined;
  activationId?: string | undefined;
}

/** An event with the slug of the listing it is for. */
type SentEvent = Delivery & { slug: string };

/** The events for the webhook of a listing, newest first. */
export async function listDeliveries(
  read: Reader,
  listing: ListingRow,
  { state, type, activationId, ...page }: DeliveryFilter,
): Promise<Page<Delivery>> {
  const { webhookEvents: e } = read.t;
  const scope = eq(e.endpointId, listing.id);
  const filters: Filter[] = [];
  if (activationId !== undefined) filters.push({ scope: undefined, condition: eq(e.streamId, activationId) });
  if (state !== undefined) filters.push({ scope, condition: eq(e.state, state) });
  if (type !== undefined) filters.push({ scope, condition: eq(e.type, type) });
  if (activationId === undefined) {
    const chosen = filters.length === 0 ? { where: scope } : await chooseFilter(read, e, filters);
    return showPage(read, await listPage(read, page, { table: e, ...chosen, toItem: (row) => row }));
  }
  const found = await listStream(read, page, (await isStreamOf(read, listing, activationId)) ? await chooseFilter(read, e, filters) : null);
  return showPage(read, found);
}

/** The events of one activation, which are indexed by their sequence and not by their ids; none for filters that are null. */
function listStream(read: Reader, page: PageInput, filters: ChosenFilters | null): Promise<Page<EventRow>> {
  const { webhookEvents: e } = read.t;
  return paginateBySeq<EventRow & { seq: number }, EventRow>(
    page,
    async ({ below, limit, offset }) => {
      if (filters === null) return [];
      const rows = await read
        .select()
        .from(e)
        .where(and(filters.where, filters.unindexed, lt(e.sequence, Math.min(below, MAX_SEQUENCE))))
        .orderBy(desc(e.sequence))
        .limit(limit)
        .offset(offset);
      return rows.map((event) => ({ ...event, seq: event.sequence }));
    },
    async () => (filters === null ? 0 : countFiltered(read, e, filters, e.sequence)),
    (row) => row,
  );
}

async function isStreamOf(read: Reader, listing: ListingRow, streamId: string): Promise<boolean> {
  const { webhookStreams: s } = read.t;
  return (await read.$count(s, and(eq(s.streamId, streamId), eq(s.endpointId, listing.id)))) > 0;
}

/** The latest events for the webhooks of all listings of all workspaces, newest first: for the page of dev mode. */
export async function listSentEvents(read: Reader, limit: number): Promise<SentEvent[]> {
  const { webhookEvents: e, listings: l } = read.t;
  const rows = await read.select({ event: e, slug: l.slug }).from(e).innerJoin(l, eq(l.id, e.endpointId)).orderBy(desc(e.id)).limit(limit);
  const deliveries = await showDeliveries(
    read,
    rows.map(({ event }) => event),
  );
  return deliveries.map((delivery, i) => ({ slug: rows[i]?.slug ?? "", ...delivery }));
}

/** One of them, with its bytes and every attempt. Throws ApiError not_found. */
export async function getSentEvent(read: Reader, slug: string, id: string): Promise<DeliveryDetail> {
  const [listing] = await findRows(read, read.t.listings, { slug });
  if (!listing) throw notFound("listing", slug);
  return showDeliveryDetail(read, await getEventRow(read, listing, id));
}

/** An event for the webhook of a listing. Throws ApiError not_found. */
export async function getEventRow(q: Reader | Tx, listing: ListingRow, id: string): Promise<EventRow> {
  const { webhookEvents: e } = q.t;
  const [row] = await findRows(q, e, { id, endpointId: listing.id });
  if (!row) throw notFound("delivery", id);
  return row;
}

async function showPage(read: Reader, { data, pagination }: Page<EventRow>): Promise<Page<Delivery>> {
  return { data: await showDeliveries(read, data), pagination };
}

/** Events as their builder sees them. */
async function showDeliveries(q: Reader | Tx, rows: readonly EventRow[]): Promise<Delivery[]> {
  const turns = await listTurns(q, "webhookEvents", rows);
  return rows.map((row, i) => showDelivery(row, turns[i] as Turn));
}

function showDelivery(row: EventRow, { nextAttemptAt, waitsFor }: Turn): Delivery {
  return {
    id: row.id,
    type: row.type as AgentEventType,
    activationId: row.streamId,
    runId: row.subjectId,
    sequence: row.sequence,
    timestamp: iso(row.at),
    state: row.state,
    attempts: row.attempts,
    nextAttemptAt,
    waitsFor,
    settledAt: row.settledAt === null ? null : iso(row.settledAt),
    lastAttempt: showLastAttempt(row),
  };
}

/** An event with its bytes and every attempt. */
export async function showDeliveryDetail(q: Reader | Tx, row: EventRow): Promise<DeliveryDetail> {
  const [delivery] = await showDeliveries(q, [row]);
  return { ...(delivery as Delivery), body: row.body, log: await listAttempts(q, row) };
}

// Redelivery bypasses all streams and limits, so without its own limit it could flood any address.
const RATE = perMinute(120);

/** Sends an event by hand, before the transaction. Throws ApiError not_found, invalid_state or rate_limited. */
export async function sendAgain(read: Reader, deps: AgentWebhookDeps, workspaceId: string, slug: string, id: string): Promise<Attempt> {
  const listing = await getListingRow(read, workspaceId, slug);
  const event = await getEventRow(read, listing, id);
  await assertSendable(read, event);
  await assertRate(deps, workspaceId);
  const message = { id, type: event.type, at: event.at, attempt: event.attempts + 1, body: openBody(deps, event) };
  return deps.webhooks.send(toAgentEndpoint(deps, listing), message);
}

/** Records the attempt that `sendAgain` made. */
export async function recordAgain(
  tx: Tx,
  deps: AgentWebhookDeps,
  workspaceId: string,
  slug: string,
  id: string,
  attempt: Attempt,
): Promise<DeliveryDetail> {
  const listing = await getListingRow(tx, workspaceId, slug);
  await recordManualAttempt(tx, deps, toAgentEndpoint(deps, listing), await getEventRow(tx, listing, id), attempt);
  return showDeliveryDetail(tx, await getEventRow(tx, listing, id));
}

function refuse(message: string, code: string, hint: string): ApiError {
  return new ApiError("invalid_state", message, { details: [{ path: "id", code, message: hint }], hint });
}

/** Throws ApiError invalid_state for an event that must not go out. */
async function assertSendable(q: Reader, event: EventRow): Promise<void> {
  if (event.state === "cancelled" || event.state === "superseded")
    throw refuse(
      `This event was ${event.state}: what it reports is no longer true.`,
      event.state,
      "Read the activation to see its current state.",
    );
  if (event.type === "agent.activated" && event.sealed === null)
    throw refuse(
      "Your webhook has acknowledged the key in this event, and no copy is kept.",
      "key_already_delivered",
      "If the key is lost, the brand has to turn the agent off and on again.",
    );
  const { webhookEvents: e } = q.t;
  const older = await q.$count(e, and(eq(e.streamId, event.streamId), lt(e.sequence, event.sequence), isNull(e.settledAt)));
  if (event.settledAt === null && older > 0)
    throw refuse("Older events of this activation go first.", "not_its_turn", "Redeliver the oldest event that waits.");
}

async function assertRate({ limiter }: AgentWebhookDeps, workspaceId: string): Promise<void> {
  const { allowed, reset } = await limiter.take(`redeliver:${workspaceId}`, RATE);
  if (allowed) return;
  throw new ApiError("rate_limited", "You can redeliver at most 120 events a minute.", { headers: { "retry-after": String(reset) } });
}

/**
 * Deletes events of agents in a final state, with their attempts. A dead event stays while its activation is paused, since resuming sends it
 * again; so does one with a key that no webhook has acknowledged.
 */
export const deleteOldAgentEvents: DeleteOld = async (tx, keys, before) => {
  const { webhookEvents: e, activations: a } = tx.t;
  const paused = tx
    .select({ id: a.id })
    .from(a)
    .where(and(eq(a.id, e.streamId), eq(a.status, "paused")));
  const over = and(lt(e.settledAt, before), isNull(e.sealed), or(ne(e.state, "dead"), notExists(paused)));
  const deleted = await tx
    .delete(e)
    .where(and(inArray(e.id, keys.map(String)), over))
    .returning({ id: e.id });
  await deleteAttempts(
    tx,
    deleted.map(({ id }) => id),
  );
  return undefined;
};
