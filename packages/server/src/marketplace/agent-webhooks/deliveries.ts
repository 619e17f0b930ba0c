import type { AgentEventState, AgentEventType, Delivery, DeliveryAttempt, DeliveryDetail, Page } from "@mailsvc/sdk/contract";
import { and, desc, eq } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import { listPage, type PageInput } from "../../db/pagination.ts";
import { notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import type { Tables } from "../../schema.ts";
import { type EventRow, HINTS } from "../../webhooks/webhooks.ts";
import type { ListingRow } from "../listings/store.ts";

type AttemptRow = Tables["webhookAttempts"]["$inferSelect"];

// Earlier attempts that are shown. A schedule has nine; those beyond were made by hand.
const MAX_SHOWN = 99;

export interface DeliveryFilter extends PageInput {
  state?: AgentEventState | undefined;
  type?: AgentEventType | undefined;
  activationId?: string | undefined;
}

/** An event with the slug of the listing it is for. */
export type SentEvent = Delivery & { slug: string };

/** The events for the webhook of a listing, newest first. */
export function listDeliveries(read: Reader, listing: ListingRow, input: DeliveryFilter): Promise<Page<Delivery>> {
  const { webhookEvents: e } = read.t;
  const where = and(
    eq(e.endpointId, listing.id),
    input.state && eq(e.state, input.state),
    input.type && eq(e.type, input.type),
    input.activationId === undefined ? undefined : eq(e.streamId, input.activationId),
  );
  return listPage(read, input, { table: e, where, toItem: showDelivery });
}

/** The latest events for the webhooks of all listings of all workspaces, newest first: for the page of dev mode. */
export async function listSentEvents(read: Reader, limit: number): Promise<SentEvent[]> {
  const { webhookEvents: e, listings: l } = read.t;
  const rows = await read.select({ event: e, slug: l.slug }).from(e).innerJoin(l, eq(l.id, e.endpointId)).orderBy(desc(e.id)).limit(limit);
  return rows.map(({ event, slug }) => ({ slug, ...showDelivery(event) }));
}

/** One of them, with its bytes and every attempt. Throws ApiError not_found. */
export async function getSentEvent(read: Reader, slug: string, id: string): Promise<DeliveryDetail> {
  const [listing] = await read.select().from(read.t.listings).where(eq(read.t.listings.slug, slug));
  if (!listing) throw notFound("listing", slug);
  return showDeliveryDetail(read, await findEvent(read, listing, id));
}

/** An event for the webhook of a listing. Throws ApiError not_found. */
export async function findEvent(q: Reader | Tx, listing: ListingRow, id: string): Promise<EventRow> {
  const { webhookEvents: e } = q.t;
  const [row] = await q
    .select()
    .from(e)
    .where(and(eq(e.id, id), eq(e.endpointId, listing.id)));
  if (!row) throw notFound("delivery", id);
  return row;
}

/** An event as its builder sees it. */
export function showDelivery(row: EventRow): Delivery {
  return {
    id: row.id,
    type: row.type as AgentEventType,
    activationId: row.streamId,
    runId: row.subjectId,
    sequence: row.sequence,
    timestamp: iso(row.at),
    state: row.state,
    attempts: row.attempts,
    nextAttemptAt: row.settledAt === null ? toInstant(row.dueAt) : null,
    settledAt: toInstant(row.settledAt),
    lastAttempt: showLastAttempt(row),
  };
}

/** An event with its bytes and every attempt. */
export async function showDeliveryDetail(q: Reader | Tx, row: EventRow): Promise<DeliveryDetail> {
  const { webhookAttempts: a } = q.t;
  const earlier = await q.select().from(a).where(eq(a.eventId, row.id)).orderBy(desc(a.attempt), desc(a.id)).limit(MAX_SHOWN);
  const last = showLastAttempt(row);
  return { ...showDelivery(row), body: row.body, log: [...earlier.reverse().map(showAttempt), ...(last ? [last] : [])] };
}

function toInstant(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}

function showAttempt({ attempt, at, ms, class: kind, httpStatus, message, answer }: Omit<AttemptRow, "id" | "eventId">): DeliveryAttempt {
  return { attempt, at: iso(at), ms, class: kind, httpStatus, message, hint: HINTS[kind], answer };
}

function showLastAttempt(row: EventRow): DeliveryAttempt | null {
  if (row.lastAttempt === null || row.lastAt === null || row.lastClass === null) return null;
  return showAttempt({
    attempt: row.lastAttempt,
    at: row.lastAt,
    ms: row.lastMs ?? 0,
    class: row.lastClass,
    httpStatus: row.lastStatus,
    message: row.lastError,
    answer: row.lastAnswer,
  });
}
