import { endpoint } from "../endpoint.ts";
import { Instant, pageQuery, pageSchema } from "../page.ts";
import * as z from "../zod.ts";
import { AGENT_EVENT_TYPES } from "./agent-events.ts";
import { ATTEMPT_CLASSES } from "./failures.ts";
import { AGENT_EVENT_STATES } from "./states.ts";

/** One attempt to deliver an event, and its outcome. */
export const DeliveryAttempt = z
  .object({
    /** Counts from 1; sent as X-Service-Attempt. */
    attempt: z.int(),
    at: Instant,
    /** Duration in milliseconds. */
    ms: z.int(),
    class: z.enum(ATTEMPT_CLASSES),
    httpStatus: z.int().nullable(),
    /** Description of the failure. */
    message: z.string().nullable(),
    /** Fix. */
    hint: z.string(),
    /** The beginning of the response body, with secrets redacted. */
    answer: z.string().nullable(),
  })
  .meta({ id: "DeliveryAttempt" });
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>;

/** An event for a builder's webhook. */
export const Delivery = z
  .object({
    /** Id of the event. */
    id: z.string(),
    type: z.enum(AGENT_EVENT_TYPES),
    activationId: z.string(),
    runId: z.string().nullable(),
    sequence: z.int(),
    timestamp: Instant,
    state: z.enum(AGENT_EVENT_STATES),
    attempts: z.int(),
    /** Earliest time of the next attempt; null when none is planned, also while nothing is sent there. */
    nextAttemptAt: Instant.nullable(),
    /** The delivery before it that has to arrive or be given up first. `nextAttemptAt` is then not before that one's. */
    waitsFor: z.string().nullable(),
    /** Time it reached a final state. */
    settledAt: Instant.nullable(),
    lastAttempt: DeliveryAttempt.nullable(),
  })
  .meta({ id: "Delivery" });
export type Delivery = z.infer<typeof Delivery>;

export const DeliveryDetail = Delivery.extend({
  /** The request body. The key of agent.activated is masked. */
  body: z.string(),
  /** The latest 100 attempts, oldest first. */
  log: z.array(DeliveryAttempt),
}).meta({ id: "DeliveryDetail" });
export type DeliveryDetail = z.infer<typeof DeliveryDetail>;

/** Deliveries that were made due together. */
export const Recovery = z
  .object({
    /** Deliveries that go out now. */
    count: z.int(),
    /** Activations whose pause for a failing webhook ended. */
    resumed: z.int(),
  })
  .meta({ id: "Recovery" });
export type Recovery = z.infer<typeof Recovery>;

/** The outcome of a test.ping. */
export const WebhookTest = z
  .object({
    /** True when the webhook answered 2xx in time. */
    ok: z.boolean(),
    eventId: z.string(),
    ms: z.int(),
    class: z.enum(ATTEMPT_CLASSES),
    httpStatus: z.int().nullable(),
    message: z.string().nullable(),
    hint: z.string(),
    answer: z.string().nullable(),
  })
  .meta({ id: "WebhookTest" });
export type WebhookTest = z.infer<typeof WebhookTest>;

const slug = "launch-writer";
const params = { slug, id: "evt_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const read = { permission: "listings:read" } as const;
const write = { permission: "listings:write" } as const;

export const deliveries = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/listings/:slug/deliveries",
    access: read,
    summary: "List the events for a listing's webhook, newest first",
    query: z.object({
      ...pageQuery,
      state: z.enum(AGENT_EVENT_STATES).optional().meta({ description: "Only events in this state" }),
      type: z.enum(AGENT_EVENT_TYPES).optional().meta({ description: "Only events of this type" }),
      activationId: z.string().max(100).optional().meta({ description: "Only events of this activation" }),
    }),
    output: pageSchema(Delivery),
    errors: ["not_found"],
    examples: [{ summary: "Dead events", params: { slug }, query: { state: "dead" } }],
  }),
  tail: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/listings/:slug/deliveries/stream",
    access: read,
    summary: "Follow the events for a listing's webhook as they are written",
    description: `Server-sent events: \`id\` is the id of the event, \`data\` the delivery as JSON, with the body that the webhook gets. A client that lost the connection continues after the id in Last-Event-ID; events of the last minute may come again, under their ids. Events of one activation come in their order. Connections count with those of \`events.tail\`.`,
    query: z.object({
      after: z
        .string()
        .max(100)
        .optional()
        .meta({ description: "Begin after the event with this id, as far as events are kept; without it, with what happens next" }),
      type: z.enum(AGENT_EVENT_TYPES).optional().meta({ description: "Only events of this type" }),
      keys: z.stringbool().optional().meta({
        description: "Give the key in agent.activated, where the agent is on in your own workspace and its webhook has not got it yet",
      }),
    }),
    stream: true,
    output: DeliveryDetail,
    errors: ["not_found", "forbidden"],
    examples: [{ summary: "What happens from now on", params: { slug } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/listings/:slug/deliveries/:id",
    access: read,
    summary: "Show an event with its body and attempts",
    uncompressed: true,
    output: DeliveryDetail,
    errors: ["not_found"],
    examples: [{ summary: "By id", params }],
  }),
  redeliver: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/listings/:slug/deliveries/:id/redeliver",
    access: write,
    mailsTo: "nobody",
    callsOut: true,
    summary: "Send an event again now",
    description:
      "The same bytes under the same id, as one attempt of its own: it changes nothing in the plan of retries and never pauses anything. An event that had not arrived counts as delivered when it does now. agent.activated is not sent again once it has been acknowledged, and an event waits for older ones of its activation that are on their way.",
    output: DeliveryDetail,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Redeliver", params }],
  }),
  recover: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/listings/:slug/deliveries/recover",
    access: write,
    mailsTo: "nobody",
    callsOut: true,
    summary: "Send everything now that a listing's webhook has missed",
    description:
      "Events that are dead or wait for a retry get a fresh set of attempts, of which the first is due at once, and those behind them follow in their order. Activations that were paused because the webhook failed are resumed as `listings.resume` does it: agent.resumed comes first. With `since`, only activations with such an event since then. Ten a minute.",
    body: z.strictObject({
      since: Instant.optional().meta({ description: "Only what happened since this instant; all that is kept without it" }),
    }),
    output: Recovery,
    errors: ["not_found", "rate_limited"],
    examples: [
      { summary: "After an outage", params: { slug }, body: {} },
      { summary: "What was missed since this morning", params: { slug }, body: { since: "2026-01-31T06:00:00Z" } },
    ],
  }),
  test: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/listings/:slug/test-webhook",
    access: write,
    mailsTo: "nobody",
    callsOut: true,
    summary: "Send test.ping to a listing's webhook",
    description:
      "Signed like every event, in one attempt; answers what came of it. Works for drafts too. It changes no activation. Ten a minute.",
    output: WebhookTest,
    errors: ["not_found", "rate_limited"],
    examples: [{ summary: "Test the webhook", params: { slug } }],
  }),
};
