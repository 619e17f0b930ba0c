import type { AgentEventState, AgentEventType, Delivery, Page } from "@mailsvc/sdk/contract";
import { and, desc, eq } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import { listPage, type PageInput } from "../../db/pagination.ts";
import { notFound } from "../../lib/api-error.ts";
import type { EventRow } from "../../webhooks/streams.ts";
import type { ListingRow } from "../listings/store.ts";
import { showDelivery } from "./show.ts";

export interface DeliveryFilter extends PageInput {
  state?: AgentEventState | undefined;
  type?: AgentEventType | undefined;
  activationId?: string | undefined;
}

/** When what the latest event tells happened, ms; null before the first one. */
export async function lastAgentEventAt(read: Reader): Promise<number | null> {
  const { agentEvents: e } = read.t;
  const [last] = await read.select({ at: e.at }).from(e).orderBy(desc(e.id)).limit(1);
  return last?.at ?? null;
}

/** The events for a listing's webhook. */
export function listDeliveries(read: Reader, listing: ListingRow, input: DeliveryFilter): Promise<Page<Delivery>> {
  const { agentEvents: e } = read.t;
  const where = and(
    eq(e.listingId, listing.id),
    input.state && eq(e.state, input.state),
    input.type && eq(e.type, input.type),
    input.activationId === undefined ? undefined : eq(e.activationId, input.activationId),
  );
  return listPage(read, input, { table: e, where, toItem: showDelivery });
}

/** An event of a listing. Throws ApiError not_found. */
export async function findEvent(q: Reader | Tx, listing: ListingRow, id: string): Promise<EventRow> {
  const { agentEvents: e } = q.t;
  const [row] = await q
    .select()
    .from(e)
    .where(and(eq(e.id, id), eq(e.listingId, listing.id)));
  if (!row) throw notFound("delivery", id);
  return row;
}
