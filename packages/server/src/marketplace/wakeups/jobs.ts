import type { Deps } from "../../deps.ts";
import type { JobHandler } from "../../queue/queue.ts";
import { RING_JOB, ring } from "./ring.ts";

export function wakeupJobs(deps: Deps): Readonly<Record<string, JobHandler>> {
  return { [RING_JOB]: ring(deps) };
}
