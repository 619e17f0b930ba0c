import type { Tx } from "../db/db.ts";
import { StorageUnavailable } from "../db/errors.ts";
import type { Deps } from "../deps.ts";
import { type ListingRow, listingById } from "../marketplace/listings/store.ts";
import type { Wish } from "./concurrency.ts";
import { type Ended, settle } from "./outcomes.ts";
import { type Claimed, claimLanes, type Following, type Job, LEASE_MS } from "./streams.ts";

/** What a round found: for each job that ended what follows in its lane, for each wish what was taken. */
export interface Found {
  readonly followed: ReadonlyMap<Job, Following>;
  readonly claimed: readonly (readonly [listingId: string, claimed: Claimed])[];
}

/**
 * Notes what has ended and takes what is next, in one transaction, and tells what it `found`. When that fails it is taken apart,
 * so that one outcome which cannot be noted does not hold up the others: its lease ends by itself, and the event is sent again
 * then. Answers null, or the outcomes that are still to be noted when the database cannot work.
 */
export async function round(
  deps: Deps,
  claim: string,
  outcomes: readonly Ended[],
  wishes: readonly Wish[],
  found: (found: Found) => void,
): Promise<readonly Ended[] | null> {
  const done = await attempt(deps, claim, outcomes, wishes).catch((error: unknown) => ({ error }));
  if (!("error" in done)) {
    found(done);
    return null;
  }
  const { error } = done;
  if (error instanceof StorageUnavailable) {
    deps.log.error("outcomes of deliveries could not be stored; the next try is in a second", { error: error.message });
    return outcomes;
  }
  if (outcomes.length + wishes.length <= 1) {
    deps.log.error("a delivery could not be noted", { event: outcomes[0]?.job.event.id ?? null, error: String(error) });
    const nextAt = deps.clock.now() + LEASE_MS;
    // Nobody else may look for it then.
    const followed = new Map(outcomes.map(({ job }): [Job, Following] => [job, { next: null, dueAt: job.until }]));
    found({ followed, claimed: wishes.map(([listingId]) => [listingId, { jobs: [], nextAt }]) });
    return null;
  }
  const parts: [readonly Ended[], readonly Wish[]][] = [
    ...outcomes.map((outcome): [Ended[], Wish[]] => [[outcome], []]),
    ...wishes.map((wish): [Ended[], Wish[]] => [[], [wish]]),
  ];
  for (const [i, [outcome, wish]] of parts.entries())
    if ((await round(deps, claim, outcome, wish, found)) !== null) return parts.slice(i).flatMap(([left]) => left);
  return null;
}

/** Each listing is read once. */
function reading(tx: Tx): (id: string) => Promise<ListingRow | undefined> {
  const read = new Map<string, Promise<ListingRow | undefined>>();
  return (id) => {
    let listing = read.get(id);
    if (!listing) {
      listing = listingById(tx, id);
      read.set(id, listing);
    }
    return listing;
  };
}

function attempt(deps: Deps, claim: string, outcomes: readonly Ended[], wishes: readonly Wish[]): Promise<Found> {
  return deps.db.tx(async (tx) => {
    // Anew when the transaction runs again: what has fallen due meanwhile is what it ran into.
    const now = deps.clock.now();
    const listingOf = reading(tx);
    // First, so that what is given back can be taken.
    const followed = await settle(tx, deps, outcomes, listingOf);
    const claimed = await Promise.all(
      wishes.map(async ([listingId, n]) => [listingId, await claimLanes(tx, listingId, now, n, claim)] as const),
    );
    return { followed, claimed };
  });
}
