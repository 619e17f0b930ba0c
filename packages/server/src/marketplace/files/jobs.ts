import type { Deps } from "../../deps.ts";
import type { JobHandler } from "../../queue/queue.ts";
import { SWEEP_JOB } from "./contents.ts";
import { sweepContents } from "./staging.ts";

export const fileJobs = (deps: Deps): Readonly<Record<string, JobHandler>> => ({ [SWEEP_JOB]: sweepContents(deps) });
