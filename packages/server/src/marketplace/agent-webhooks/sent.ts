import type { Delivery, DeliveryDetail } from "@mailsvc/sdk/contract";
import { desc, eq } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { findListing } from "../listings/store.ts";
import { findEvent } from "./list.ts";
import { showDelivery, showDetail } from "./show.ts";

/** An event with the listing whose webhook it is for. */
export type SentEvent = Delivery & { slug: string };

/** The latest events for the webhooks of all listings of a workspace, newest first. */
export async function listSentEvents(read: Reader, workspaceId: string, limit: number): Promise<SentEvent[]> {
  const { agentEvents: e, listings: l } = read.t;
  const rows = await read
    .select({ event: e, slug: l.slug })
    .from(e)
    .innerJoin(l, eq(l.id, e.listingId))
    .where(eq(l.workspaceId, workspaceId))
    .orderBy(desc(e.id))
    .limit(limit);
  return rows.map(({ event, slug }) => ({ slug, ...showDelivery(event) }));
}

/** One of them, with its bytes and every attempt. Throws ApiError not_found. */
export async function getSentEvent(read: Reader, workspaceId: string, slug: string, id: string): Promise<DeliveryDetail> {
  return showDetail(read, await findEvent(read, await findListing(read, workspaceId, slug), id));
}
