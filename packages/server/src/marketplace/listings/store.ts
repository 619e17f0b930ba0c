import { and, eq } from "drizzle-orm";
import { notFound } from "../../lib/api-error.ts";
import type { AgentQuery } from "../agent-access.ts";
import type { ListingTables } from "./tables.ts";

export type ListingRow = ListingTables["listings"]["$inferSelect"];

/** A listing by id; undefined when there is none. */
export async function listingById(q: AgentQuery, id: string): Promise<ListingRow | undefined> {
  const [row] = await q
    .prepared("listing_by_id", (build, { listings }, arg) =>
      build
        .select()
        .from(listings)
        .where(eq(listings.id, arg("id"))),
    )
    .execute({ id });
  return row;
}

/** A builder's own listing. Throws ApiError not_found, also for another builder's. */
export async function getListingRow(q: AgentQuery, workspaceId: string, slug: string): Promise<ListingRow> {
  const { listings: t } = q.t;
  const [row] = await q
    .select()
    .from(t)
    .where(and(eq(t.slug, slug), eq(t.workspaceId, workspaceId)));
  if (!row) throw notFound("listing", slug);
  return row;
}

/**
 * Whether a listing is in the catalog and the keys of its activations work: until the end of its paid time, to the
 * millisecond, even when no job has stored the end yet.
 */
export function isListed({ state, expiresAt }: Pick<ListingRow, "state" | "expiresAt">, now: number): boolean {
  return state === "LISTED" && (expiresAt === null || now < expiresAt);
}
