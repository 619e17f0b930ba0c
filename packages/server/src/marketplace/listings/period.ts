import type { Listing } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import type { Tx } from "../../db/db.ts";
import type { Deps } from "../../deps.ts";
import { ApiError } from "../../lib/api-error.ts";
import { closeCheckouts } from "../payments/close.ts";
import { STOP_JOB } from "../payments/jobs.ts";
import { showListing } from "./listings.ts";
import { findListing, isListed, type ListingRow } from "./store.ts";

/** Tells the agents of a listing that has ended. */
export const END_JOB = "agent.listing.end";
/** Ends a listing whose paid time is over. */
export const EXPIRE_JOB = "agent.listing.expire";

/**
 * Puts a paid listing into the catalog until `expiresAt` (null: until its provider tells that it ended), or keeps it there
 * longer. A listing that had ended begins a new period: activations of earlier ones stay dead.
 */
export async function listUntil(
  tx: Tx,
  deps: Deps,
  row: ListingRow,
  { expiresAt, subscription }: { expiresAt: number; subscription: string | null },
): Promise<ListingRow> {
  const now = deps.clock.now();
  const over = row.state === "LISTED" && !isListed(row, now);
  // A renewal that came too late for the period it was for: the same subscription goes on.
  const kept = row.subscription === subscription ? null : row.subscription;
  const before = over ? await endListing(tx, deps, { ...row, subscription: kept }, "EXPIRED") : row;
  const listed = await save(
    tx,
    before,
    before.state === "LISTED"
      ? { expiresAt: Math.max(expiresAt, before.expiresAt ?? 0), subscription, updatedAt: now }
      : { state: "LISTED", period: before.period + 1, listedAt: now, endedAt: null, expiresAt, subscription, updatedAt: now },
  );
  await deps.queue.enqueue(tx, {
    kind: EXPIRE_JOB,
    payload: { workspaceId: row.workspaceId, listingId: row.id },
    runAt: listed.expiresAt ?? expiresAt,
    dedupeKey: `${EXPIRE_JOB}:${row.id}`,
  });
  return listed;
}

/**
 * Ends a listing: from the commit of this one row on, every key of its activations is refused. A job tells each agent and
 * ends what it had under way.
 */
export async function endListing(tx: Tx, deps: Deps, row: ListingRow, state: "CANCELLED" | "EXPIRED"): Promise<ListingRow> {
  const now = deps.clock.now();
  const endedAt = state === "EXPIRED" ? Math.min(row.expiresAt ?? now, now) : now;
  const ended = await save(tx, row, { state, endedAt, subscription: null, updatedAt: now });
  await closeCheckouts(tx, deps, row);
  const { workspaceId } = row;
  if (row.subscription !== null) await deps.queue.enqueue(tx, { kind: STOP_JOB, payload: { workspaceId, subscription: row.subscription } });
  await deps.queue.enqueue(tx, { kind: END_JOB, payload: { workspaceId, listingId: row.id, period: row.period, after: "" } });
  return ended;
}

/** Takes a builder's listing out of the catalog. Throws ApiError not_found, or invalid_state for a draft. */
export async function cancelListing(tx: Tx, deps: Deps, workspaceId: string, slug: string): Promise<Listing> {
  const row = await findListing(tx, workspaceId, slug);
  const now = deps.clock.now();
  if (row.state === "DRAFT") throw new ApiError("invalid_state", "This listing is a draft: it was never in the catalog.");
  if (row.state !== "LISTED") return showListing(row, now);
  return showListing(await endListing(tx, deps, row, isListed(row, now) ? "CANCELLED" : "EXPIRED"), now);
}

async function save(tx: Tx, row: ListingRow, change: Partial<ListingRow>): Promise<ListingRow> {
  await tx.update(tx.t.listings).set(change).where(eq(tx.t.listings.id, row.id));
  return { ...row, ...change };
}
