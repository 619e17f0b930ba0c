import { endpoint } from "../endpoint.ts";
import { limits } from "../limits.ts";
import { Instant, pageQuery, pageSchema } from "../page.ts";
import * as z from "../zod.ts";
import { AGENT_BASE } from "./agent-base.ts";
import { jsonValue } from "./json.ts";
import { RunId } from "./runs.ts";
import { WAKEUP_STATUSES } from "./states.ts";
import { line } from "./text.ts";

export const WAKEUP_LIMITS = limits("agent.wakeups", "Wakeups of an agent", {
  minSeconds: [10, "how far ahead, at least", "seconds"],
  maxSeconds: [2_592_000, "how far ahead", "seconds"],
  scheduled: [100, "scheduled wakeups of an activation"],
});

export const Wakeup = z
  .object({
    wakeupId: z.string(),
    status: z.enum(WAKEUP_STATUSES),
    fireAt: Instant,
    reason: z.string(),
    payload: z.unknown(),
    runId: z.string().nullable(),
    dedupeKey: z.string().nullable(),
    suspendRun: z.boolean(),
    createdAt: Instant,
    firedAt: Instant.nullable(),
  })
  .meta({ id: "Wakeup" });
export type Wakeup = z.infer<typeof Wakeup>;

const params = { activationId: "act_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const ofWakeup = { ...params, wakeupId: "wku_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const scope = { scope: "agent:wakeups" } as const;

/** Wakeups: events an agent schedules for later. */
export const agentWakeups = {
  create: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/wakeups`,
    access: scope,
    summary: "Schedule a wakeup",
    description: `Sends agent.wakeup to your webhook at that time; while the agent is paused, after it is resumed. At most ${WAKEUP_LIMITS.scheduled} can be scheduled. Repeating a request while its dedupeKey is scheduled returns that wakeup, with 200; another request with it answers id_reused.`,
    body: z
      .strictObject({
        delaySeconds: z
          .int()
          .min(WAKEUP_LIMITS.minSeconds)
          .max(WAKEUP_LIMITS.maxSeconds)
          .optional()
          .meta({ description: "Seconds from now: 10 to 2592000, which is 30 days" }),
        runAt: Instant.optional().meta({ description: "Instead of delaySeconds: a time 10 seconds to 30 days from now" }),
        reason: line(200).meta({ description: "Why; included in the event" }),
        payload: jsonValue(4096).optional().meta({ description: "Your own data, included in the event; up to 4 KiB of JSON" }),
        runId: RunId.optional().meta({ description: "The run it belongs to" }),
        dedupeKey: line(128).optional().meta({ description: "Your own id: one wakeup with it can be scheduled at a time" }),
        suspendRun: z.boolean().default(false).meta({ description: "The run is WAITING until then and needs no heartbeat" }),
      })
      .superRefine(({ delaySeconds, runAt, suspendRun, runId }, ctx) => {
        const refuse = (field: string, code: string, message: string) =>
          ctx.addIssue({ code: "custom", path: [field], message, params: { code } });
        if (delaySeconds === undefined && runAt === undefined) refuse("delaySeconds", "required", "Set delaySeconds or runAt.");
        if (delaySeconds !== undefined && runAt !== undefined)
          refuse("runAt", "not_allowed", "Set either delaySeconds or runAt, not both.");
        if (suspendRun && runId === undefined) refuse("runId", "required", "suspendRun requires runId, the run that waits.");
      }),
    status: [201, 200],
    output: Wakeup,
    errors: ["not_found", "id_reused", "limit_reached", "invalid_state"],
    examples: [{ summary: "In an hour", params, body: { delaySeconds: 3600, reason: "Look at the numbers again" } }],
  }),
  list: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/wakeups`,
    access: scope,
    summary: "List wakeups, newest first",
    query: z.object({ ...pageQuery, status: z.enum(WAKEUP_STATUSES).optional().meta({ description: "Only wakeups in this state" }) }),
    output: pageSchema(Wakeup),
    errors: ["not_found"],
    examples: [{ summary: "What is to come", params, query: { status: "SCHEDULED" } }],
  }),
  get: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/wakeups/:wakeupId`,
    access: scope,
    summary: "Show one wakeup",
    output: Wakeup,
    errors: ["not_found"],
    examples: [{ summary: "By id", params: ofWakeup }],
  }),
  cancel: endpoint({
    method: "DELETE",
    path: `${AGENT_BASE}/wakeups/:wakeupId`,
    access: scope,
    summary: "Cancel a wakeup",
    description: "Cancelling twice is harmless.",
    output: Wakeup,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Not needed any more", params: ofWakeup }],
  }),
};
