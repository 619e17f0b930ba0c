import { LISTING_PRICE, type Listing } from "@mailsvc/sdk/contract";
import { and, eq, sql } from "drizzle-orm";
import { findRows } from "../../db/find.ts";
import { notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import type { AgentQuery, AgentTx } from "../agent-access.ts";
import type { ListingTables } from "./tables.ts";

export type ListingRow = ListingTables["listings"]["$inferSelect"];

/** A listing by id; undefined when there is none. */
export async function listingById(q: AgentQuery, id: string): Promise<ListingRow | undefined> {
  const [row] = await findRows(q, q.t.listings, { id });
  return row;
}

/** A builder's own listing. Throws ApiError not_found, also for another builder's. */
export async function getListingRow(q: AgentQuery, workspaceId: string, slug: string): Promise<ListingRow> {
  const { listings: t } = q.t;
  const [row] = await findRows(q, t, { slug, workspaceId });
  if (!row) throw notFound("listing", slug);
  return row;
}

/** The same, which no other transaction changes until this one ends. Throws ApiError not_found. */
export async function lockListingRow(tx: AgentTx, workspaceId: string, slug: string): Promise<ListingRow> {
  const { listings: t } = tx.t;
  const [row] = await tx
    .update(t)
    .set({ id: sql`${t.id}` })
    .where(and(eq(t.slug, slug), eq(t.workspaceId, workspaceId)))
    .returning();
  if (!row) throw notFound("listing", slug);
  return row;
}

/**
 * True while a listing is in the catalog and the keys of its activations work: until the end of its paid time, to the
 * millisecond, even if no job has stored the end yet.
 */
export function isListed({ state, expiresAt }: Pick<ListingRow, "state" | "expiresAt">, now: number): boolean {
  return state === "LISTED" && (expiresAt === null || now < expiresAt);
}

/** True if a workspace may turn an agent on: while it is listed, and the builder's own workspace also while it is a draft, to try it. */
export function isOfferedTo(row: Pick<ListingRow, "state" | "expiresAt" | "workspaceId">, workspaceId: string, now: number): boolean {
  return isListed(row, now) || (row.state === "DRAFT" && row.workspaceId === workspaceId);
}

/** True when some workspace of the server has a listing. */
export async function isAnyListed(q: AgentQuery): Promise<boolean> {
  const { listings: t } = q.t;
  return (await q.select({ id: t.id }).from(t).limit(1)).length > 0;
}

/** A listing as its builder sees it at this moment. */
export function showListing(row: ListingRow, now: number): Listing {
  const expired = row.state === "LISTED" && !isListed(row, now);
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    webhookUrl: row.webhookUrl,
    permissions: row.permissions,
    settingsSchema: row.settingsSchema,
    installRedirects: row.installRedirects,
    version: row.version,
    state: expired ? "EXPIRED" : row.state,
    price: LISTING_PRICE,
    listedAt: instant(row.listedAt),
    expiresAt: instant(row.expiresAt),
    endedAt: instant(expired ? row.expiresAt : row.endedAt),
    secretRotatesAt: row.nextSecretAt !== null && now < row.nextSecretAt ? iso(row.nextSecretAt) : null,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

function instant(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}
