import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Instant, pageQuery, pageSchema } from "../page.ts";
import { RUN_FAILURES, RUN_STATUSES } from "./states.ts";
import { line } from "./text.ts";

/** SPEC 8, and limits of ours. */
export const RUN_LIMITS = {
  /** Without a heartbeat for this long a RUNNING run has FAILED. */
  windowMinutes: 15,
  /** How often an agent does well to log. */
  heartbeatSeconds: 60,
  /** RUNNING and WAITING ones of one activation. */
  active: 20,
  entries: 50,
} as const;

export const RUN_TRIGGERS = ["manual", "activation", "approval", "wakeup", "schedule", "message"] as const;

/** How an agent names a run. */
export const RunId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{8,64}$/, "A run's id is 8 to 64 letters, digits, _ and -.")
  .meta({ description: "The run" });

export const RunTrigger = z.strictObject({
  type: z.enum(RUN_TRIGGERS),
  ref: line(200).optional().meta({ description: "What it was, e.g. the id of a message" }),
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
    /** RUNNING: when it has FAILED unless it is heard of before. WAITING: when the wait is over at the latest. */
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
    /** The brand has asked it to stop. */
    cancelRequested: z.boolean(),
  })
  .meta({ id: "Run" });
export type Run = z.infer<typeof Run>;

/** A run with the last checkpoint its agent has left. */
export const RunDetail = Run.extend({ checkpoint: z.unknown() }).meta({ id: "RunDetail" });
export type RunDetail = z.infer<typeof RunDetail>;

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

export const RunLogEntry = z
  .object({
    level: z.enum(LOG_LEVELS),
    message: z.string(),
    data: z.unknown(),
    /** When it came. */
    at: Instant,
    /** When it happened, as the agent says. */
    agentAt: Instant.nullable(),
  })
  .meta({ id: "RunLogEntry" });
export type RunLogEntry = z.infer<typeof RunLogEntry>;

/** What narrows a list of runs. */
export const runFilter = {
  status: z.enum(RUN_STATUSES).optional().meta({ description: "Only runs in this state" }),
  since: Instant.optional().meta({ description: "Only runs started at this instant or later" }),
};

export const logFilter = { level: z.enum(LOG_LEVELS).optional().meta({ description: "Only entries of this level" }) };

const params = { id: "act_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const ofOne = { ...params, runId: "run_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const read = { permission: "marketplace:read" } as const;

/** What agents do, as the brand sees it. */
export const runs = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/activations/:id/runs",
    access: read,
    summary: "List the runs of an agent, newest first",
    query: z.object({ ...pageQuery, ...runFilter }),
    output: pageSchema(Run),
    errors: ["not_found"],
    examples: [{ summary: "Those at work", params, query: { status: "RUNNING" } }],
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
    summary: "List what a run has logged, newest first",
    query: z.object({ ...pageQuery, ...logFilter }),
    output: pageSchema(RunLogEntry),
    errors: ["not_found"],
    examples: [{ summary: "Its errors", params: ofOne, query: { level: "error" } }],
  }),
  cancel: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/activations/:id/runs/:runId/cancel",
    access: { permission: "marketplace:write" },
    summary: "Cancel a run",
    description:
      "A run at work is asked to stop: its agent reads `cancelRequested` in the answer to its next log. A run that waits, and with `force` any run, is CANCELLED at once; what its agent sends for it after that is refused. Cancelling twice is harmless.",
    body: z.strictObject({ force: z.boolean().default(false).meta({ description: "Do not wait for the agent" }) }),
    output: Run,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "At once", params: ofOne, body: { force: true } }],
  }),
};
