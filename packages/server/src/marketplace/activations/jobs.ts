import type { JobHandler } from "../../queue/queue.ts";
import { deactivateUncovered, UNCOVERED_JOB } from "./coverage.ts";
import type { ActivationDeps } from "./deps.ts";
import { endListingActivations, LISTING_END_JOB } from "./listing-end.ts";

export function activationJobs(deps: ActivationDeps): Readonly<Record<string, JobHandler>> {
  return { [LISTING_END_JOB]: endListingActivations(deps), [UNCOVERED_JOB]: deactivateUncovered(deps) };
}
