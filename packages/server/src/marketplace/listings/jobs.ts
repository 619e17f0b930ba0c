import { and, asc, eq, gt, lte, ne } from "drizzle-orm";
import type { Deps } from "../../deps.ts";
import type { JobHandler } from "../../queue/queue.ts";
import { endActivations } from "../activations/transitions.ts";
import { lockWorkspaces, recover } from "../plans/plans.ts";
import { END_JOB, EXPIRE_JOB, endListing } from "./period.ts";
import { isListed, listingById } from "./store.ts";

// Activations ended in one transaction: about 15 ms of work on SQLite, for which other writers wait.
const CHUNK = 250;

// An activation that was being written while the listing ended comes to light after its chunk: no transaction takes longer.
const STRAGGLERS_MS = 60_000;

export function listingJobs(deps: Deps): Readonly<Record<string, JobHandler>> {
  return {
    [END_JOB]: endListingActivations(deps),
    [EXPIRE_JOB]: expireListing(deps),
  };
}

/**
 * Ends the activations of a listing's ended period, by id and in chunks. Each chunk commits together with the job for the
 * next one, so after a crash the work goes on where it stood: nobody is told twice, nobody is left out.
 */
function endListingActivations(deps: Deps): JobHandler {
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
      kind: END_JOB,
      payload: { ...payload, ...change },
      ...(runAt !== undefined && { runAt }),
    });
    return {
      commit: async (tx) => {
        const workspaceIds = [...new Set(rows.map(({ workspaceId }) => workspaceId))];
        await lockWorkspaces(tx, workspaceIds);
        await endActivations(tx, deps, ids, "admin_revoke");
        await recover(tx, deps, workspaceIds);
        if (end !== undefined && ids.length === CHUNK) await deps.queue.enqueue(tx, next({ after: end }));
        else if (last !== true) await deps.queue.enqueue(tx, next({ after: "", last: true }, deps.clock.now() + STRAGGLERS_MS));
      },
    };
  };
}

/** Ends a listing when its paid time is over. A renewal meanwhile only moves the job. */
function expireListing(deps: Deps): JobHandler {
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
