import type { Deps } from "../deps.ts";
import { ApiError } from "../lib/api-error.ts";
import { readPause } from "../queue/pause.ts";

/** What `/readyz` answers. */
export interface Readiness {
  readonly status: "ready";
  readonly version: string;
  readonly sendingPaused: boolean;
}

/** Finds out whether the server can take writes. Throws StorageUnavailable or ApiError storage_unavailable when it cannot. */
export async function checkReadiness(deps: Pick<Deps, "db" | "storage" | "clock" | "version">): Promise<Readiness> {
  const { db, storage, version } = deps;
  await db.ping();
  await storage.probe(() => writeProbe(deps));
  const problem = storage.problem ?? db.health().reason;
  if (problem !== null) throw new ApiError("storage_unavailable", problem, { headers: { "retry-after": "5" } });
  // A paused server still accepts mail, so it is ready.
  return { status: "ready", version, sendingPaused: (await readPause(db.read)) !== null };
}

// The row that probes write.
const PROBE_ROW = "readiness.probe";

/** Writes a row and waits until it is durable. Throws StorageUnavailable when the disk is full or broken. */
function writeProbe({ db, clock }: Pick<Deps, "db" | "clock">): Promise<void> {
  return db.tx(async (tx) => {
    const { meta } = tx.t;
    const value = String(clock.now());
    await tx.insert(meta).values({ name: PROBE_ROW, value }).onConflictDoUpdate({ target: meta.name, set: { value } });
  });
}
