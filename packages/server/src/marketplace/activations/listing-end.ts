import { and, asc, eq, gt, lte, ne } from "drizzle-orm";
import type { Tx } from "../../db/db.ts";
import { MINUTE } from "../../lib/units.ts";
import type { JobHandler } from "../../queue/queue.ts";
import { lockWorkspaces } from "../../workspaces/workspaces.ts";
import type { ListingRow } from "../listings/listings.ts";
import type { ActivationDeps } from "./activations.ts";
import { deactivateUncovered, restoreCoverage, UNCOVERED_JOB } from "./coverage.ts";
import { endActivations } from "./lifecycle.ts";

/** Ends the activations of a listing's ended period. */
export const LISTING_END_JOB = "agent.listing.end";

// Activations ended in one transaction: about 15 ms of work on SQLite, during which other writers wait.
const CHUNK = 250;

// An activation that was being created while the listing ended may commit after its chunk. No transaction takes this long,
// so a second pass after it finds every one.
const SECOND_PASS_MS = MINUTE;

/** Schedules the end of a listing's activations when it ends. */
export async function scheduleListingEnd(tx: Tx, deps: ActivationDeps, { id, workspaceId, period }: ListingRow): Promise<void> {
  await deps.queue.enqueue(tx, { kind: LISTING_END_JOB, payload: { workspaceId, listingId: id, period, after: "" } });
}

/**
 * Ends the activations of an ended period, by id and in chunks. Each chunk commits together with the job for the next one,
 * so after a crash the work continues where it stopped: every activation gets exactly one agent.deactivated.
 */
function endListingActivations(deps: ActivationDeps): JobHandler {
  return async ({ payload }) => {
    const { listingId, period, after, last } = payload as { listingId: string; period: number; after: string; last?: boolean };
    const { activations: a } = deps.db.read.t;
    const rows = await deps.db.read
      .select({ id: a.id, workspaceId: a.workspaceId })
      .from(a)
      .where(and(eq(a.listingId, listingId), gt(a.id, after), lte(a.period, period), ne(a.status, "deactivated")))
      .orderBy(asc(a.id))
      .limit(CHUNK);
    const ids = rows.map(({ id }) => id);
    const end = ids.at(-1);
    const next = (change: object, runAt?: number) => ({
      kind: LISTING_END_JOB,
      payload: { ...payload, ...change },
      ...(runAt !== undefined && { runAt }),
    });
    return {
      commit: async (tx) => {
        const workspaceIds = [...new Set(rows.map(({ workspaceId }) => workspaceId))];
        await lockWorkspaces(tx, workspaceIds);
        await endActivations(tx, deps, ids, "admin_revoke");
        await restoreCoverage(tx, deps, workspaceIds);
        if (end !== undefined && ids.length === CHUNK) await deps.queue.enqueue(tx, next({ after: end }));
        else if (last !== true) await deps.queue.enqueue(tx, next({ after: "", last: true }, deps.clock.now() + SECOND_PASS_MS));
      },
    };
  };
}

export function activationJobs(deps: ActivationDeps): Readonly<Record<string, JobHandler>> {
  return { [LISTING_END_JOB]: endListingActivations(deps), [UNCOVERED_JOB]: deactivateUncovered(deps) };
}
