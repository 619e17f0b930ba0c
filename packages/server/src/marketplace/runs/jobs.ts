import type { Deps } from "../../deps.ts";
import type { JobHandler } from "../../queue/queue.ts";
import { sweepRuns } from "./sweep.ts";
import { SWEEP_JOB } from "./watch.ts";

export function runJobs(deps: Deps): Readonly<Record<string, JobHandler>> {
  return { [SWEEP_JOB]: sweepRuns(deps) };
}
