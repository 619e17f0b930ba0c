import { endpoint } from "./endpoint.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import * as z from "./zod.ts";

export const JOB_STATES = ["ready", "running", "dead", "unhandled"] as const;

export const Job = z
  .object({
    id: z.string(),
    kind: z.string(),
    state: z.enum(JOB_STATES),
    payload: z.record(z.string(), z.unknown()),
    attempts: z.int(),
    maxAttempts: z.int(),
    runAt: Instant,
    lastError: z.string().nullable(),
    createdAt: Instant,
  })
  .meta({ id: "Job" });
export type Job = z.infer<typeof Job>;

export const jobs = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/jobs",
    access: { permission: "jobs:read" },
    summary: "List background jobs: waiting, running, dead, or of a kind that this version does not know",
    query: z.object({ ...pageQuery, state: z.enum(JOB_STATES).optional().meta({ description: "Only jobs in this state" }) }),
    uncompressed: true,
    output: pageSchema(Job),
    examples: [{ summary: "Dead jobs", query: { state: "dead" } }],
  }),
  retry: endpoint({
    method: "POST",
    path: "/api/v1/jobs/:id/retry",
    access: { permission: "jobs:write" },
    mailsTo: "unknown",
    summary: "Retry a dead job with a new set of attempts",
    output: Job,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Retry", params: { id: "42" } }],
  }),
};
