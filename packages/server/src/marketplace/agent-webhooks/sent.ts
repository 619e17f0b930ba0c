import type { Delivery, DeliveryDetail } from "@mailsvc/sdk/contract";
import { desc, eq } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { notFound } from "../../lib/api-error.ts";
import { findEvent } from "./list.ts";
import { showDelivery, showDetail } from "./show.ts";

/** An event with the listing whose webhook it is for. */
export type SentEvent = Delivery & { slug: string };

/** The latest events for the webhooks of all listings of all workspaces, newest first: for the page of dev mode. */
export async function listSentEvents(read: Reader, limit: number): Promise<SentEvent[]> {
  const { agentEvents: e, listings: l } = read.t;
  const rows = await read.select({ event: e, slug: l.slug }).from(e).innerJoin(l, eq(l.id, e.listingId)).orderBy(desc(e.id)).limit(limit);
  return rows.map(({ event, slug }) => ({ slug, ...showDelivery(event) }));
}

/** One of them, with its bytes and every attempt. Throws ApiError not_found. */
export async function getSentEvent(read: Reader, slug: string, id: string): Promise<DeliveryDetail> {
  const [listing] = await read.select().from(read.t.listings).where(eq(read.t.listings.slug, slug));
  if (!listing) throw notFound("listing", slug);
  return showDetail(read, await findEvent(read, listing, id));
}
