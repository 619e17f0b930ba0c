import type { Deps } from "../../deps.ts";
import type { JobHandler } from "../../queue/queue.ts";
import { SWEEP_JOB } from "./contents.ts";
import { sweepContents } from "./staging.ts";

export function fileJobs(deps: Deps): Readonly<Record<string, JobHandler>> {
  return { [SWEEP_JOB]: sweepContents(deps) };
}
