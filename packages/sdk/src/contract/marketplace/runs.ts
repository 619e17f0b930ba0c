import { endpoint } from "../endpoint.ts";
import { limits } from "../limits.ts";
import { Instant, pageQuery, pageSchema } from "../page.ts";
import * as z from "../zod.ts";
import { RUN_FAILURES, RUN_STATUSES } from "./states.ts";
import { line } from "./text.ts";

export const RUN_LIMITS = limits("runs", "Runs of an agent", {
  windowMinutes: [15, "silence after which a run fails", "minutes"],
  heartbeatSeconds: [60, "how often an agent should log", "seconds"],
  /** RUNNING and WAITING ones. */
  active: [20, "runs of an activation at a time"],
  entries: [50, "log entries of one call"],
});

const RUN_TRIGGERS = ["manual", "activation", "approval", "wakeup", "schedule", "message"] as const;

/** The agent's id of a run. */
export const RunId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{8,64}$/, "Use 8 to 64 letters, digits, _ and - for a run id.")
  .meta({ description: "Id of the run" });

export const RunTrigger = z.strictObject({
  type: z.enum(RUN_TRIGGERS),
  ref: line(200).optional().meta({ description: "Its trigger, e.g. the id of a message" }),
});

export const RunProgress = z.strictObject({ percent: z.number().min(0).max(100), label: line(200).optional() });

export const RunError = z.strictObject({ code: line(100), message: line(2000) });

export const Run = z
  .object({
    runId: z.string(),
    activationId: z.string(),
    status: z.enum(RUN_STATUSES),
    title: z.string().nullable(),
    trigger: RunTrigger.nullable(),
    parentRunId: z.string().nullable(),
    startedAt: Instant,
    lastHeartbeatAt: Instant,
    /** RUNNING: when it fails without a further heartbeat. WAITING: when the wait ends at the latest. */
    deadlineAt: Instant.nullable(),
    finishedAt: Instant.nullable(),
    waitingFor: z.enum(["approval", "wakeup"]).nullable(),
    progress: RunProgress.nullable(),
    summary: z.string().nullable(),
    output: z.unknown(),
    error: RunError.nullable(),
    failureReason: z.enum(RUN_FAILURES).nullable(),
    metrics: z.record(z.string(), z.number()).nullable(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    creditsConsumed: z.int(),
    /** True when the brand asked it to stop. */
    cancelRequested: z.boolean(),
  })
  .meta({ id: "Run" });
export type Run = z.infer<typeof Run>;

/** A run with its latest checkpoint. */
export const RunDetail = Run.extend({ checkpoint: z.unknown() }).meta({ id: "RunDetail" });
export type RunDetail = z.infer<typeof RunDetail>;

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

export const RunLogEntry = z
  .object({
    level: z.enum(LOG_LEVELS),
    message: z.string(),
    data: z.unknown(),
    /** Time it arrived. */
    at: Instant,
    /** Time of the entry, according to the agent. */
    agentAt: Instant.nullable(),
  })
  .meta({ id: "RunLogEntry" });
export type RunLogEntry = z.infer<typeof RunLogEntry>;

/** Filters of a list of runs. */
export const runFilter = {
  status: z.enum(RUN_STATUSES).optional().meta({ description: "Only runs in this state" }),
  since: Instant.optional().meta({ description: "Only runs started from this time on" }),
};

export const logFilter = { level: z.enum(LOG_LEVELS).optional().meta({ description: "Only entries of this level" }) };

const params = { id: "act_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const ofOne = { ...params, runId: "run_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const read = { permission: "marketplace:read" } as const;

/** Runs of agents, for their brand. */
export const runs = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/activations/:id/runs",
    access: read,
    summary: "List the runs of an agent, newest first",
    query: z.object({ ...pageQuery, ...runFilter }),
    output: pageSchema(Run),
    errors: ["not_found"],
    examples: [{ summary: "Running runs", params, query: { status: "RUNNING" } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/activations/:id/runs/:runId",
    access: read,
    summary: "Show one run",
    output: Run,
    errors: ["not_found"],
    examples: [{ summary: "By id", params: ofOne }],
  }),
  logs: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/activations/:id/runs/:runId/logs",
    access: read,
    summary: "List the log entries of a run, newest first",
    query: z.object({ ...pageQuery, ...logFilter }),
    output: pageSchema(RunLogEntry),
    errors: ["not_found"],
    examples: [{ summary: "Its errors", params: ofOne, query: { level: "error" } }],
  }),
  cancel: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/activations/:id/runs/:runId/cancel",
    access: { permission: "marketplace:write" },
    mailsTo: "nobody",
    summary: "Cancel a run",
    description:
      "Asks a RUNNING run to stop: its agent reads `cancelRequested` in the response to its next log. A WAITING run, and any run with `force`, is CANCELLED at once; later calls of its agent for it are refused. Cancelling again changes nothing.",
    body: z.strictObject({ force: z.boolean().default(false).meta({ description: "Cancel at once, without waiting for the agent" }) }),
    output: Run,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "At once", params: ofOne, body: { force: true } }],
  }),
};
