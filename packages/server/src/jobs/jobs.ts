import { type contract, type Job, type QueueStatus, toDomain } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import { paginateBySeq, type Total } from "../db/pagination.ts";
import { holdDomain, listHolds, releaseDomain, requeueDeferred } from "../delivery/delivery.ts";
import type { Handlers } from "../http/handler.ts";
import { ApiError } from "../lib/api-error.ts";
import { type Clock, iso } from "../lib/clock.ts";
import type { JobRow, Queue } from "../queue/queue.ts";

export const queueHandlers: Handlers<typeof contract.queue, JobDeps> = {
  status: (_input, { read, deps }) => showQueue(read, deps),
  pause: async ({ reason }, { tx, deps }) => {
    await deps.queue.pause(tx, reason ?? null);
    return showQueue(tx, deps);
  },
  resume: async (_input, { tx, deps }) => {
    await deps.queue.resume(tx);
    return showQueue(tx, deps);
  },
  hold: async ({ domain, reason }, { tx, deps }) => {
    await holdDomain(tx, deps, toDomain(domain), reason ?? null);
    return showQueue(tx, deps);
  },
  release: async ({ domain }, { tx, deps }) => {
    await releaseDomain(tx, deps, toDomain(domain));
    return showQueue(tx, deps);
  },
  requeue: async ({ domain }, { tx, deps }) => {
    await requeueDeferred(tx, deps, domain === undefined ? null : toDomain(domain));
    return showQueue(tx, deps);
  },
};

async function showQueue(q: Reader | Tx, { queue, clock }: JobDeps): Promise<QueueStatus> {
  const pause = await queue.readPause(q);
  const { jobs, oldestDueAt } = await queue.readStats(q);
  return {
    paused: pause !== null,
    pausedAt: pause && iso(pause.at),
    reason: pause?.reason ?? null,
    jobs: { ...jobs },
    unhandledKinds: await queue.countUnhandled(q),
    // A job that is planned for later does not wait.
    oldestDueAt: oldestDueAt === null || oldestDueAt > clock.now() ? null : iso(oldestDueAt),
    holds: await listHolds(q),
  };
}

export const jobHandlers: Handlers<typeof contract.jobs, JobDeps> = {
  list: async ({ state, ...page }, { read, deps, workspaceId }) => {
    let total: Total = { total: 0, isMinimum: false };
    return paginateBySeq(
      page,
      async (slice) => {
        const { rows, ...counted } = await deps.queue.list(read, { workspaceId, state, ...slice });
        total = counted;
        return rows.map((row) => ({ seq: Number(row.id), row }));
      },
      async () => total,
      ({ row }) => show(row),
    );
  },
  retry: async ({ id }, { tx, deps, workspaceId }) => {
    const revived = await deps.queue.retry(tx, id);
    // Thrown for a job of another workspace too: what was just done is rolled back.
    if (revived?.payload.workspaceId === workspaceId) return show(revived);
    throw new ApiError("not_found", `There is no dead job ${JSON.stringify(id.slice(0, 100))}.`);
  },
};

function show({ runAt, createdAt, ...rest }: JobRow): Job {
  return { ...rest, runAt: iso(runAt), createdAt: iso(createdAt) };
}

export interface JobDeps {
  readonly clock: Clock;
  readonly queue: Queue;
}
