import { and, eq, sql } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import type { AgentTx } from "../../deps.ts";
import { notFound } from "../../lib/api-error.ts";
import type { AgentTables, Tables } from "../../schema.ts";

export type ListingRow = Tables["listings"]["$inferSelect"];

type Source = Reader<AgentTables> | AgentTx;

const ph = sql.placeholder;

/** A listing by its id. */
export async function listingById(q: Source, id: string): Promise<ListingRow | undefined> {
  const [row] = await q
    .prepared("listing_by_id", (build, { listings }) =>
      build
        .select()
        .from(listings)
        .where(eq(listings.id, ph("id")))
        .prepare("listing_by_id"),
    )
    .execute({ id });
  return row;
}

/** A builder's own listing. Throws ApiError not_found, for another builder's too. */
export async function findListing(q: Source, workspaceId: string, slug: string): Promise<ListingRow> {
  const { listings: t } = q.t;
  const [row] = await q
    .select()
    .from(t)
    .where(and(eq(t.slug, slug), eq(t.workspaceId, workspaceId)));
  if (!row) throw notFound("listing", slug);
  return row;
}

/**
 * Whether brands find it in the catalog and its keys work: paid for, and not a millisecond longer, whenever the job that
 * notes the end runs.
 */
export function isListed({ state, expiresAt }: Pick<ListingRow, "state" | "expiresAt">, now: number): boolean {
  return state === "LISTED" && (expiresAt === null || now < expiresAt);
}
