import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Instant, pageQuery, pageSchema } from "../page.ts";
import { AGENT_BASE } from "./agent-base.ts";
import { jsonObject, jsonValue } from "./json.ts";
import {
  LOG_LEVELS,
  logFilter,
  RUN_LIMITS,
  Run,
  RunDetail,
  RunError,
  RunId,
  RunLogEntry,
  RunProgress,
  RunTrigger,
  runFilter,
} from "./runs.ts";
import { RUN_STATUSES } from "./states.ts";
import { line, prose } from "./text.ts";

const KIB = 1024;

/** What an agent gets to know for its heartbeat. */
export const Heartbeat = z
  .object({
    runId: z.string(),
    status: z.enum(RUN_STATUSES),
    lastHeartbeatAt: Instant,
    /** When the run has FAILED unless it is heard of before. */
    deadlineAt: Instant,
    heartbeatIntervalSeconds: z.int(),
    /** Entries that were kept. */
    accepted: z.int(),
    /** The brand asks the run to stop. */
    cancelRequested: z.boolean(),
  })
  .meta({ id: "Heartbeat" });
export type Heartbeat = z.infer<typeof Heartbeat>;

const Entry = z.strictObject({
  level: z.enum(LOG_LEVELS).default("info"),
  message: prose(4000).min(1),
  data: jsonValue(8 * KIB).optional(),
  at: Instant.optional().meta({ description: "When it happened; shown, not trusted" }),
});

const summary = prose(2000).optional().meta({ description: "What came of it, for people" });
const metrics = z
  .record(z.string().regex(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/), z.number())
  .refine((m) => Object.keys(m).length <= 50, { message: "At most 50 metrics.", params: { code: "too_big" } })
  .optional()
  .meta({ description: "Numbers by name" });
const output = jsonValue(32 * KIB)
  .optional()
  .meta({ description: "What it made, up to 32 KiB of JSON" });

const params = { activationId: "act_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const runId = "run_01jc3v2m9k8q4w6x0y5z7a1b2c";
const write = { scope: "agent:write_runs" } as const;
const read = { scope: "agent:read_runs" } as const;

/** Runs, as their agent works on them. */
export const agentRuns = {
  start: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/runs/start`,
    access: write,
    summary: "Start a run",
    description: `The start is its first heartbeat: without a log for ${RUN_LIMITS.windowMinutes} minutes it has FAILED. A runId of your own makes the start repeatable: the same again answers the run that is there, with 200. At most ${RUN_LIMITS.active} runs are RUNNING or WAITING at a time.`,
    body: z.strictObject({
      runId: RunId.optional().meta({ description: "Your name for it; made up for you when absent" }),
      title: line(200).optional(),
      trigger: RunTrigger.optional().meta({ description: "What set it off" }),
      parentRunId: RunId.optional().meta({ description: "The run it belongs to" }),
      metadata: jsonObject(4 * KIB)
        .optional()
        .meta({ description: "Data of yours, up to 4 KiB of JSON" }),
    }),
    status: [201, 200],
    output: Run,
    errors: ["not_found", "conflict"],
    examples: [{ summary: "Because a message came", params, body: { title: "Draft the launch page", trigger: { type: "message" } } }],
  }),
  log: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/runs/log`,
    access: write,
    summary: "Log what a run does; its heartbeat",
    agentBucket: "log",
    description:
      "Also without entries. At most 60 times a minute for each run. A run that waits is RUNNING again. With `seq`, a count of your own that rises with each call, a repeat is recognised: its entries are not kept twice.",
    body: z.strictObject({
      runId: RunId,
      entries: z
        .array(Entry)
        .max(RUN_LIMITS.entries)
        .default([])
        .meta({ description: `Up to ${RUN_LIMITS.entries} of {message, level, data, at}` }),
      progress: RunProgress.optional().meta({ description: "How far it is: {percent, label}" }),
      checkpoint: jsonValue(16 * KIB)
        .optional()
        .meta({ description: "What you need to go on after a crash, up to 16 KiB of JSON" }),
      seq: z.int().min(1).max(2_000_000_000).optional().meta({ description: "Your count of the calls of this run" }),
    }),
    output: Heartbeat,
    errors: ["not_found", "invalid_state"],
    examples: [
      { summary: "A heartbeat", params, body: { runId } },
      { summary: "Half way", params, body: { runId, seq: 7, entries: [{ message: "Wrote the headline" }], progress: { percent: 50 } } },
    ],
  }),
  complete: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/runs/complete`,
    access: write,
    summary: "End a run",
    description: "Ending it the same way twice is harmless.",
    body: z.strictObject({
      runId: RunId,
      status: z.enum(["COMPLETED", "FAILED"]).default("COMPLETED"),
      summary,
      output,
      error: RunError.optional(),
      metrics,
    }),
    output: Run,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Done", params, body: { runId, summary: "The page is drafted.", metrics: { words: 412 } } }],
  }),
  fail: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/runs/fail`,
    access: write,
    summary: "End a run that has failed",
    body: z.strictObject({ runId: RunId, error: RunError, summary, output, metrics }),
    output: Run,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "No luck", params, body: { runId, error: { code: "model_unavailable", message: "The model did not answer." } } }],
  }),
  cancel: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/runs/cancel`,
    access: write,
    summary: "Cancel a run",
    body: z.strictObject({ runId: RunId, summary }),
    output: Run,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "As the brand asked", params, body: { runId } }],
  }),
  list: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/runs`,
    access: read,
    summary: "List its runs, newest first",
    query: z.object({ ...pageQuery, ...runFilter }),
    output: pageSchema(Run),
    errors: ["not_found"],
    examples: [{ summary: "What failed", params, query: { status: "FAILED" } }],
  }),
  get: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/runs/:runId`,
    access: read,
    summary: "Show one run, with its checkpoint",
    output: RunDetail,
    errors: ["not_found"],
    examples: [{ summary: "By id", params: { ...params, runId } }],
  }),
  logs: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/runs/:runId/logs`,
    access: read,
    summary: "List what a run has logged, newest first",
    query: z.object({ ...pageQuery, ...logFilter }),
    output: pageSchema(RunLogEntry),
    errors: ["not_found"],
    examples: [{ summary: "All of it", params: { ...params, runId } }],
  }),
};
