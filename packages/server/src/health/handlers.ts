import { type contract, served } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { buildOpenApi } from "../http/openapi.ts";
import { ApiError } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { countUnhandledJobs } from "../queue/unhandled.ts";
import { findRetentionDelay } from "../retention/retention.ts";
import type { HealthDeps } from "./deps.ts";

export const healthHandlers: Handlers<typeof contract.health, HealthDeps> = {
  live: async (_input, { deps }) => ({ status: "ok", version: deps.version }),
  ready: async (_input, { deps }) => {
    const { db, queue, storage } = deps;
    await db.ping();
    await storage.probe(() => writeProbe(deps));
    const problem = storage.problem ?? db.health().reason;
    if (problem !== null) throw new ApiError("storage_unavailable", problem, { headers: { "retry-after": "5" } });
    const delayedSince = await findRetentionDelay(db.read);
    // A server that is paused, has jobs of unknown kinds, or cannot drop old mail, still accepts mail and delivers it: it is ready.
    return {
      status: "ready",
      version: deps.version,
      sendingPaused: (await queue.readPause(db.read)) !== null,
      relays: deps.relays.states(),
      smtp: deps.submissionPorts.list(),
      unhandledJobs: await countUnhandledJobs(queue, db.read),
      retentionDelayedSince: delayedSince === null ? null : iso(delayedSince),
    };
  },
  openapi: async () => buildOpenApi(served) as Record<string, unknown>,
};

// The row that probes write.
const PROBE_ROW = "readiness.probe";

/** Writes a row and waits until it is durable. Throws StorageUnavailable when the disk is full or broken. */
function writeProbe({ db, clock }: HealthDeps): Promise<void> {
  return db.tx(async (tx) => {
    const { meta } = tx.t;
    const value = String(clock.now());
    await tx.insert(meta).values({ name: PROBE_ROW, value }).onConflictDoUpdate({ target: meta.name, set: { value } });
  });
}
