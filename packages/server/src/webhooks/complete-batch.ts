import type { Tx } from "../db/db.ts";
import { StorageUnavailable } from "../db/errors.ts";
import { composeEvents } from "./composed-events.ts";
import type { ClaimRequest } from "./concurrency.ts";
import type { Endpoint, LoadEndpoint } from "./endpoint.ts";
import { cancelEvent, type Outcome, recordOutcome } from "./outcomes.ts";
import { type Claimed, type Continuation, claimStreams, continueStreams, type FindEndpoint, type Job, LEASE_MS } from "./streams.ts";
import type { WebhookDeps } from "./webhooks.ts";

/** Outcomes to record, and streams to claim. */
interface Batch {
  readonly claim: string;
  readonly outcomes: readonly Outcome[];
  readonly requests: readonly ClaimRequest[];
}

/** Results of a batch: for each outcome the continuation of its stream, for each request the claimed jobs. */
export interface Progress {
  readonly continued: ReadonlyMap<Job, Continuation>;
  readonly claimed: readonly (readonly [endpointId: string, claimed: Claimed])[];
}

/**
 * Records outcomes and claims streams in one transaction, and reports the progress. When the transaction fails, it is retried
 * item by item, so that one outcome that cannot be recorded does not hold up the others: its lease ends by itself, and the event
 * is sent again. Returns null, or the outcomes that are still to be recorded because the database is unavailable; they may be stored.
 */
export async function completeBatch(
  deps: WebhookDeps,
  loadEndpoint: LoadEndpoint,
  batch: Batch,
  report: (progress: Progress) => void,
): Promise<readonly Outcome[] | null> {
  const { outcomes, requests } = batch;
  let failure: unknown;
  try {
    report(await runBatch(deps, loadEndpoint, batch));
    return null;
  } catch (error) {
    failure = error;
  }
  if (failure instanceof StorageUnavailable) {
    deps.log.error("cannot store webhook outcomes; retrying in a second", { error: failure.message });
    return outcomes.map((outcome) => ({ ...outcome, isRepeated: true }));
  }
  if (outcomes.length + requests.length <= 1) {
    deps.log.error("cannot record a webhook outcome", { event: outcomes[0]?.job.event.id ?? null, error: String(failure) });
    // Look again when the lease has ended: no other worker may do so.
    const continued = new Map(outcomes.map(({ job }): [Job, Continuation] => [job, { next: null, dueAt: job.leaseEndsAt }]));
    const nextAt = deps.clock.now() + LEASE_MS;
    report({ continued, claimed: requests.map(([endpointId]) => [endpointId, { jobs: [], nextAt }]) });
    return null;
  }
  const items: Batch[] = [
    ...outcomes.map((outcome) => ({ ...batch, outcomes: [outcome], requests: [] })),
    ...requests.map((request) => ({ ...batch, outcomes: [], requests: [request] })),
  ];
  for (const [i, item] of items.entries())
    if ((await completeBatch(deps, loadEndpoint, item, report)) !== null) return items.slice(i).flatMap((left) => left.outcomes);
  return null;
}

function runBatch(deps: WebhookDeps, loadEndpoint: LoadEndpoint, { claim, outcomes, requests }: Batch): Promise<Progress> {
  return deps.db.tx(async (tx) => {
    // Read again when the transaction runs again: it collided with what has become due meanwhile.
    const now = deps.clock.now();
    const composedAt = deps.clock.real.now();
    const findEndpoint = cacheEndpoints(tx, loadEndpoint);
    // First, so that released streams can be claimed.
    await Promise.all(outcomes.map((outcome) => recordOutcome(tx, deps, outcome, now)));
    const delivered = new Set(outcomes.flatMap(({ job, attempt }) => (attempt?.class === "ok" && !job.held ? [job] : [])));
    const jobs = outcomes.flatMap(({ job, next }) => (next ? [] : [job]));
    const continued = await continueStreams(tx, jobs, (job) => delivered.has(job), now, findEndpoint);
    const claimed = await Promise.all(
      requests.map(
        async ([endpointId, limit]) => [endpointId, await claimStreams(tx, await findEndpoint(endpointId), now, limit, claim)] as const,
      ),
    );
    const following = [...continued.values()].flatMap((one) => one.next ?? []);
    for (const gone of await composeEvents(tx, [...following, ...claimed.flatMap(([, { jobs: more }]) => more)], composedAt))
      await cancelEvent(tx, gone.endpoint.policy.outbox, gone.event, now);
    return { continued, claimed };
  });
}

/** Reads each endpoint once. */
function cacheEndpoints(tx: Tx, loadEndpoint: LoadEndpoint): FindEndpoint {
  const found = new Map<string, Promise<Endpoint | undefined>>();
  return (endpointId) => {
    const known = found.get(endpointId) ?? loadEndpoint(tx, endpointId);
    found.set(endpointId, known);
    return known;
  };
}
