import { type contract, served } from "@mailsvc/sdk/contract";
import { StorageUnavailable } from "../db/errors.ts";
import { writeFact } from "../db/facts.ts";
import type { Handlers } from "../http/handler.ts";
import { ApiError } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { countUnhandledJobs } from "../queue/unhandled.ts";
import type { HealthDeps } from "./metrics.ts";

export const healthHandlers: Handlers<typeof contract.health, HealthDeps> = {
  live: async () => ({ status: "ok" }),
  ready: async (_input, { deps, isOperator }) => {
    const isTold = await isOperator().catch(ignoreOutage);
    const problem = await findProblem(deps);
    if (problem !== null)
      throw new ApiError("storage_unavailable", isTold ? problem : "The server is not ready.", { headers: { "retry-after": "5" } });
    return isTold ? { status: "ready", ...(await describe(deps)) } : { status: "ready" };
  },
  openapi: async () => {
    // No start of a server needs it.
    const { buildShownOpenApi } = await import("../http/openapi.ts");
    return (await buildShownOpenApi(served)) as Record<string, unknown>;
  },
};

/** Without the database nobody can be told from anybody else. */
function ignoreOutage(error: unknown): boolean {
  if (error instanceof StorageUnavailable) return false;
  throw error;
}

/** Returns the reason the server is not ready; null if it is. */
async function findProblem(deps: HealthDeps): Promise<string | null> {
  const { db, storage } = deps;
  try {
    await db.ping();
    await storage.probe(() => writeProbe(deps));
  } catch (error) {
    if (error instanceof StorageUnavailable) return error.message;
    throw error;
  }
  return storage.problem ?? db.health().reason;
}

/** A server that is paused, or has jobs of unknown kinds, still accepts mail and delivers it: it is ready. */
async function describe({ db, queue, relays, submissionPorts, inboundPeers, eventReaders, version }: HealthDeps) {
  return {
    version,
    sendingPaused: (await queue.readPause(db.read)) !== null,
    relays: relays.states(),
    smtp: submissionPorts.list(),
    inboundPeers: inboundPeers.counts,
    unhandledJobs: await countUnhandledJobs(queue, db.read),
    failingReaders: eventReaders.failing.map(({ reader, workspaceId, since, error }) => ({
      reader,
      workspaceId,
      since: iso(since),
      error,
    })),
  };
}

// The fact that probes write.
const PROBE_FACT = "readiness.probe";

/** Writes a row and waits until it is durable. Throws StorageUnavailable when the disk is full or broken. */
function writeProbe({ db, clock }: HealthDeps): Promise<void> {
  return db.tx((tx) => writeFact(tx, PROBE_FACT, String(clock.now())));
}
