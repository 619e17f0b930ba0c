import type { Deps } from "../../deps.ts";
import type { JobHandler } from "../../queue/queue.ts";
import { FIRE_JOB, fireWakeup } from "./ring.ts";

export function wakeupJobs(deps: Deps): Readonly<Record<string, JobHandler>> {
  return { [FIRE_JOB]: fireWakeup(deps) };
}
