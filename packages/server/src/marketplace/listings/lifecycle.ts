import type { Listing } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import type { Tx } from "../../db/db.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { JobHandler } from "../../queue/queue.ts";
import type { ListingDeps } from "./listings.ts";
import { getListingRow, isListed, type ListingRow, listingById, showListing } from "./store.ts";

/*
 * The states of a listing.
 *
 *   from                 trigger                                               to
 *   (new)                createListing                                         DRAFT
 *   DRAFT                extendListing: a payment                              LISTED, the same period
 *   LISTED               extendListing: a renewal in time                      LISTED, until later
 *   LISTED, time over    extendListing: a payment that came too late           EXPIRED, then LISTED, period + 1
 *   LISTED               cancelListing                                         CANCELLED
 *   LISTED               the end of its paid time, or its subscription's end   EXPIRED
 *   CANCELLED, EXPIRED   extendListing: a payment                              LISTED, period + 1
 *
 * `isListed` decides by the clock, so a listing ends to the millisecond although the job that stores EXPIRED runs later. Activations
 * belong to a period: those of an earlier one stay deactivated. The builder's own workspace may turn a draft on, to try it; that
 * activation goes on when the listing is paid.
 */

const EXPIRE_JOB = "agent.listing.expire";

/**
 * Reactions of other features to the end of a listing, in the same transaction. Those features import listings, so listings
 * cannot import them; `features.ts` connects both.
 */
export interface ListingHooks {
  /** `listing` is the row before it ended; its subscription is null when there is none left to cancel. */
  ended(tx: Tx, listing: ListingRow): Promise<void>;
}

export function listingJobs(deps: ListingDeps): Readonly<Record<string, JobHandler>> {
  return { [EXPIRE_JOB]: expireListing(deps) };
}

/**
 * Lists a listing until `expiresAt` (ms), or extends the time of one that is listed. A listing that had ended starts a new
 * period.
 */
export async function extendListing(
  tx: Tx,
  deps: ListingDeps,
  row: ListingRow,
  { expiresAt, subscription }: { expiresAt: number; subscription: string | null },
): Promise<ListingRow> {
  const now = deps.clock.now();
  const lapsed = row.state === "LISTED" && !isListed(row, now);
  // A renewal that came after the end of its period: keep the subscription that renewed.
  const toCancel = row.subscription === subscription ? null : row.subscription;
  const before = lapsed ? await endListing(tx, deps, { ...row, subscription: toCancel }, "EXPIRED") : row;
  const listed = await save(
    tx,
    before,
    before.state === "LISTED"
      ? { expiresAt: Math.max(expiresAt, before.expiresAt ?? 0), subscription, updatedAt: now }
      : {
          state: "LISTED",
          period: before.state === "DRAFT" ? before.period : before.period + 1,
          listedAt: now,
          endedAt: null,
          expiresAt,
          subscription,
          updatedAt: now,
        },
  );
  await deps.queue.enqueue(tx, {
    kind: EXPIRE_JOB,
    payload: { workspaceId: row.workspaceId, listingId: row.id },
    runAt: listed.expiresAt ?? expiresAt,
    dedupeKey: `${EXPIRE_JOB}:${row.id}`,
  });
  return listed;
}

/** Ends a listing. From the commit of this one row on, every key of its activations is refused; the hooks do the rest. */
export async function endListing(tx: Tx, deps: ListingDeps, row: ListingRow, state: "CANCELLED" | "EXPIRED"): Promise<ListingRow> {
  const now = deps.clock.now();
  const endedAt = state === "EXPIRED" ? Math.min(row.expiresAt ?? now, now) : now;
  const ended = await save(tx, row, { state, endedAt, subscription: null, updatedAt: now });
  await deps.listingHooks.ended(tx, row);
  return ended;
}

/** Takes a builder's listing out of the catalog. Throws ApiError not_found, or invalid_state for a draft. */
export async function cancelListing(tx: Tx, deps: ListingDeps, workspaceId: string, slug: string): Promise<Listing> {
  const row = await getListingRow(tx, workspaceId, slug);
  const now = deps.clock.now();
  if (row.state === "DRAFT") throw new ApiError("invalid_state", "This listing is a draft. It has never been in the catalog.");
  if (row.state !== "LISTED") return showListing(row, now);
  return showListing(await endListing(tx, deps, row, isListed(row, now) ? "CANCELLED" : "EXPIRED"), now);
}

/** Ends a listing when its paid time is over. A renewal in the meantime moves the job. */
function expireListing(deps: ListingDeps): JobHandler {
  return async ({ payload }) => {
    const row = await listingById(deps.db.read, String(payload.listingId));
    if (row?.state !== "LISTED" || row.expiresAt === null) return {};
    if (isListed(row, deps.clock.now())) return { again: row.expiresAt };
    return {
      commit: async (tx) => {
        const current = await listingById(tx, row.id);
        if (current?.state === "LISTED" && !isListed(current, deps.clock.now())) await endListing(tx, deps, current, "EXPIRED");
      },
    };
  };
}

async function save(tx: Tx, row: ListingRow, change: Partial<ListingRow>): Promise<ListingRow> {
  await tx.update(tx.t.listings).set(change).where(eq(tx.t.listings.id, row.id));
  return { ...row, ...change };
}
