import { EmailAddress } from "./address.ts";
import { refuseCharacters } from "./characters.ts";
import { endpoint } from "./endpoint.ts";
import { EVENT_TYPES, EventTypePattern } from "./event-types.ts";
import { limits } from "./limits.ts";
import { DeliveryAttempt, WebhookTest } from "./marketplace/deliveries.ts";
import { ATTEMPT_CLASSES } from "./marketplace/failures.ts";
import { WebhookUrl } from "./marketplace/listings.ts";
import { AGENT_EVENT_STATES } from "./marketplace/states.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import * as z from "./zod.ts";

export const WEBHOOK_LIMITS = limits("webhooks", "Webhooks of a workspace", {
  perWorkspace: [20, "webhooks"],
  description: [500, "description", "characters"],
  events: [50, "event types, or patterns, of a webhook"],
  overlapHours: [24, "how long the old secret signs after a rotation, unless you say otherwise", "hours"],
  disabledAfterDays: [5, "failure after which a webhook is disabled", "days"],
});

/** `disabled`: every attempt has failed for five days, or the receiver answered 410. */
export const WEBHOOK_STATUSES = ["enabled", "paused", "disabled"] as const;
export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

/** The bodies and headers that a receiver expects: ours, or those of Resend, whose receivers read the headers of Svix. */
export const WEBHOOK_FORMATS = ["mailsvc", "resend"] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

export const Webhook = z
  .object({
    id: z.string(),
    url: z.string(),
    description: z.string().nullable(),
    /** The types of events it gets: single ones, `email.*` for all of a kind, `*` for all. */
    events: z.array(z.string()),
    /** Format of events: as in docs/webhooks.md, or as Resend writes them, with the headers of Svix. */
    format: z.enum(WEBHOOK_FORMATS),
    status: z.enum(WEBHOOK_STATUSES),
    /** Address that gets a mail when it is disabled. */
    alertEmail: z.string().nullable(),
    /** Since when all attempts have failed; null while it works. */
    failingSince: Instant.nullable(),
    /** The last failure since then. */
    lastError: z
      .object({ at: Instant, class: z.enum(ATTEMPT_CLASSES), httpStatus: z.int().nullable(), message: z.string().nullable() })
      .nullable(),
    /** During a rotation: when the new secret alone signs. */
    secretRotatesAt: Instant.nullable(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .meta({ id: "Webhook" });
export type Webhook = z.infer<typeof Webhook>;

const Secret = z.string().meta({ description: "Signs every delivery; shown only once" });

/** A webhook when it is created and when its secret is rotated: the only responses that contain the secret. */
const WebhookWithSecret = Webhook.extend({ secret: Secret }).meta({ id: "WebhookWithSecret" });

/** A webhook that is sent events again. */
export const WebhookRedelivery = Webhook.extend({
  /** Number of events that are sent: those of the span that are not waiting already. */
  count: z.int(),
  /** Present when there are more events in the span than were looked at: at least `count` are sent. */
  countIsMinimum: z.literal(true).optional(),
}).meta({ id: "WebhookRedelivery" });
export type WebhookRedelivery = z.infer<typeof WebhookRedelivery>;

/** An event on its way to a webhook. */
export const WebhookDelivery = z
  .object({
    id: z.string(),
    /** The event, as in `webhook-id`. */
    eventId: z.string(),
    type: z.enum(EVENT_TYPES),
    /** Time of the event. */
    at: Instant,
    state: z.enum(AGENT_EVENT_STATES),
    attempts: z.int(),
    /** Earliest time of the next attempt; null when none is planned, also while nothing is sent there. */
    nextAttemptAt: Instant.nullable(),
    /** The delivery before it that has to arrive or be given up first. `nextAttemptAt` is then not before that one's. */
    waitsFor: z.string().nullable(),
    /** Time it was delivered or given up. */
    settledAt: Instant.nullable(),
    lastAttempt: DeliveryAttempt.nullable(),
  })
  .meta({ id: "WebhookDelivery" });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const WebhookDeliveryDetail = WebhookDelivery.extend({
  /** The request body; null when the event has been deleted. */
  body: z.string().nullable(),
  /** The latest 100 attempts, oldest first. */
  log: z.array(DeliveryAttempt),
}).meta({ id: "WebhookDeliveryDetail" });
export type WebhookDeliveryDetail = z.infer<typeof WebhookDeliveryDetail>;

const url = WebhookUrl.meta({ description: "The URL that receives events", examples: ["https://shop.example.com/webhook"] });
const events = z
  .array(EventTypePattern)
  .min(1)
  .max(WEBHOOK_LIMITS.events)
  .meta({ description: "Types of events, such as email.bounced; email.* for all of a kind, * for all" });
const description = z
  .string()
  .max(WEBHOOK_LIMITS.description)
  .refine(
    (s) => !/\p{Cc}/u.test(s) && s.isWellFormed(),
    refuseCharacters("A description cannot contain line breaks or control characters."),
  )
  .meta({ description: "For your own use" });
const alertEmail = EmailAddress.meta({ description: "Who gets a mail when the webhook is disabled" });

const format = z
  .enum(WEBHOOK_FORMATS)
  .meta({ description: "How events are written: mailsvc, or resend for a receiver that was written for Resend" });

const read = { permission: "webhooks:read" } as const;
const write = { permission: "webhooks:write" } as const;
const params = { id: "whk_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const delivery = { ...params, delivery: "whd_0000000001ay5z7a1b2c0q4w6x" };
const base = "/api/v1/v1/webhooks" as const;
const short = "/api/v1/webhooks" as const;

export const webhooks = {
  list: endpoint({
    method: "GET",
    path: base,
    aliases: [short],
    access: read,
    summary: "List your webhooks, newest first",
    query: z.object({ ...pageQuery, status: z.enum(WEBHOOK_STATUSES).optional().meta({ description: "Only webhooks in this state" }) }),
    output: pageSchema(Webhook),
    examples: [{ summary: "All" }],
  }),
  create: endpoint({
    method: "POST",
    path: base,
    aliases: [short],
    access: write,
    mailsTo: "nobody",
    summary: "Register a webhook",
    description:
      "It gets what happens from now on. Every request is signed: see docs/webhooks.md. The secret is in this answer only. A workspace may have 20 webhooks.",
    body: z.strictObject({
      url,
      events: events.default(["*"]),
      format: format.default("mailsvc"),
      description: description.optional(),
      alertEmail: alertEmail.optional(),
    }),
    status: 201,
    output: WebhookWithSecret,
    errors: ["limit_reached"],
    confidential: true,
    examples: [
      { summary: "Everything", body: { url: "https://shop.example.com/webhook" } },
      {
        summary: "Bounces and complaints",
        body: { url: "https://shop.example.com/webhook", events: ["email.bounced", "email.complained"] },
      },
    ],
  }),
  get: endpoint({
    method: "GET",
    path: `${base}/:id`,
    aliases: [`${short}/:id`],
    access: read,
    summary: "Get one webhook",
    output: Webhook,
    errors: ["not_found"],
    examples: [{ summary: "Get", params }],
  }),
  update: endpoint({
    method: "PATCH",
    path: `${base}/:id`,
    aliases: [`${short}/:id`],
    access: write,
    mailsTo: "nobody",
    summary: "Change a webhook",
    description: "What waits goes to the new URL. Other events count for what happens from now on; another format, for what waits too.",
    body: z.strictObject({
      url: url.optional(),
      events: events.optional(),
      format: format.optional(),
      description: description.nullable().optional(),
      alertEmail: alertEmail.nullable().optional(),
    }),
    output: Webhook,
    errors: ["not_found"],
    examples: [{ summary: "Other events", params, body: { events: ["email.*"] } }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: `${base}/:id`,
    aliases: [`${short}/:id`],
    access: write,
    mailsTo: "nobody",
    summary: "Delete a webhook, with everything that waits for it",
    output: Webhook,
    errors: ["not_found"],
    examples: [{ summary: "Delete", params }],
  }),
  pause: endpoint({
    method: "POST",
    path: `${base}/:id/pause`,
    aliases: [`${short}/:id/pause`],
    access: write,
    mailsTo: "nobody",
    summary: "Pause a webhook",
    description: "Events wait until it is resumed. Pausing twice changes nothing.",
    output: Webhook,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Pause", params }],
  }),
  resume: endpoint({
    method: "POST",
    path: `${base}/:id/resume`,
    aliases: [`${short}/:id/resume`],
    access: write,
    mailsTo: "nobody",
    summary: "Resume a paused or disabled webhook",
    description: "What waits goes out at once. A disabled webhook got no events meanwhile: `webhooks.redeliverSince` sends them.",
    output: Webhook,
    errors: ["not_found"],
    examples: [{ summary: "Resume", params }],
  }),
  rotateSecret: endpoint({
    method: "POST",
    path: `${base}/:id/rotate-secret`,
    aliases: [`${short}/:id/rotate-secret`],
    access: write,
    mailsTo: "nobody",
    summary: "Rotate the secret of a webhook",
    description:
      "Add the new secret to your receiver next to the old one. Until the overlap ends, X-Service-Signature is made with the old secret, X-Service-Signature-Next with the new one, and webhook-signature holds a signature with each; afterwards only the new secret signs. Rotating again during the overlap replaces the new secret.",
    body: z.strictObject({
      overlapHours: z
        .int()
        .min(0)
        .max(168)
        .default(WEBHOOK_LIMITS.overlapHours)
        .meta({ description: "How long the old secret still signs; 0 to switch at once" }),
    }),
    output: WebhookWithSecret,
    errors: ["not_found"],
    confidential: true,
    examples: [{ summary: "With a day to roll it out", params, body: {} }],
  }),
  test: endpoint({
    method: "POST",
    path: `${base}/:id/test`,
    aliases: [`${short}/:id/test`],
    access: write,
    mailsTo: "nobody",
    callsOut: true,
    summary: "Send webhook.test to a webhook",
    description: "Signed like every event, in one attempt; answers what came of it, and changes nothing. Ten a minute.",
    output: WebhookTest,
    errors: ["not_found"],
    examples: [{ summary: "Test", params }],
  }),
  deliveries: endpoint({
    method: "GET",
    path: `${base}/:id/deliveries`,
    aliases: [`${short}/:id/deliveries`],
    access: read,
    tool: "deliveries_list",
    summary: "List the events sent to a webhook, newest first",
    query: z.object({
      ...pageQuery,
      state: z.enum(AGENT_EVENT_STATES).optional().meta({ description: "Only deliveries in this state" }),
      type: z.enum(EVENT_TYPES).optional().meta({ description: "Only events of this type" }),
      email: z.string().max(64).optional().meta({ description: "Only events of this email, by its id" }),
    }),
    output: pageSchema(WebhookDelivery),
    errors: ["not_found"],
    examples: [{ summary: "Given up", params, query: { state: "dead" } }],
  }),
  delivery: endpoint({
    method: "GET",
    path: `${base}/:id/deliveries/:delivery`,
    aliases: [`${short}/:id/deliveries/:delivery`],
    access: read,
    tool: "delivery_get",
    summary: "Show a delivery with its body and attempts",
    uncompressed: true,
    output: WebhookDeliveryDetail,
    errors: ["not_found"],
    examples: [{ summary: "By id", params: delivery }],
  }),
  redeliver: endpoint({
    method: "POST",
    path: `${base}/:id/deliveries/:delivery/redeliver`,
    aliases: [`${short}/:id/deliveries/:delivery/redeliver`],
    access: write,
    mailsTo: "nobody",
    callsOut: true,
    tool: "redeliver",
    summary: "Send an event again now",
    description:
      "Under the same webhook-id, as one attempt of its own: it changes nothing in the plan of retries. An event that had not arrived counts as delivered when it does now.",
    output: WebhookDeliveryDetail,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Redeliver", params: delivery }],
  }),
  redeliverSince: endpoint({
    method: "POST",
    path: `${base}/:id/redeliver`,
    aliases: [`${short}/:id/redeliver`],
    access: write,
    mailsTo: "nobody",
    callsOut: true,
    summary: "Send all events since an instant that have not arrived",
    description:
      "Also those that the webhook never got, because it was disabled or is new. With `all`, those that have arrived are sent again too. Runs in the background, as far back as events are kept. `count` says how many events that are, among the first 10,000 of the span.",
    body: z.strictObject({
      since: Instant.meta({ description: "The first instant" }),
      until: Instant.optional().meta({ description: "Only events before this instant" }),
      all: z.boolean().default(false).meta({ description: "Also events that have arrived" }),
    }),
    output: WebhookRedelivery,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "After an outage", params, body: { since: "2026-01-31T09:30:00Z" } }],
  }),
};
