import { Instant } from "../page.ts";
import * as z from "../zod.ts";

/** Outcomes of an attempt to deliver an event. Only `ok` is a success. */
export const ATTEMPT_CLASSES = [
  "ok",
  "signature_rejected",
  "http_status",
  "redirect",
  "timeout",
  "dns",
  "tls",
  "connection",
  "blocked_address",
  "bad_response",
] as const;
export type AttemptClass = (typeof ATTEMPT_CLASSES)[number];

/** Failure after which delivery to an activation's webhook was given up (docs/agents-webhooks.md#retries); shown to brand and builder. */
export const WebhookError = z
  .object({
    eventId: z.string(),
    type: z.string(),
    at: Instant,
    attempts: z.int(),
    class: z.enum(ATTEMPT_CLASSES),
    httpStatus: z.int().nullable(),
    /** A description without secrets. */
    message: z.string(),
    answer: z.string().nullable().meta({ description: "Its answer; null for brands" }),
    /** Time the resulting pause was lifted. */
    clearedAt: Instant.nullable(),
  })
  .meta({ id: "WebhookError" });
export type WebhookError = z.infer<typeof WebhookError>;
