import type { Deps } from "../../deps.ts";
import type { JobHandler } from "../../queue/queue.ts";
import { RING_JOB, ring } from "./ring.ts";

export const wakeupJobs = (deps: Deps): Readonly<Record<string, JobHandler>> => ({ [RING_JOB]: ring(deps) });
