import type { Deps } from "../../deps.ts";
import type { JobHandler } from "../../queue/queue.ts";
import { EXPIRE_APPROVAL_JOB, expireApproval } from "./approvals.ts";

export function messageJobs(deps: Deps): Readonly<Record<string, JobHandler>> {
  return { [EXPIRE_APPROVAL_JOB]: expireApproval(deps) };
}
