import { type contract, type QueueStatus, toDomain } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import { holdDomain, listHolds, releaseDomain, requeueDeferred } from "../delivery/delivery.ts";
import type { Handlers } from "../http/handler.ts";
import { iso } from "../lib/clock.ts";
import type { JobDeps } from "./deps.ts";

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
