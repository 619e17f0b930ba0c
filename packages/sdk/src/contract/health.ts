import { endpoint } from "./endpoint.ts";
import { Instant } from "./page.ts";
import { RELAY_STATES } from "./relays.ts";
import * as z from "./zod.ts";

/** How a port for mail to be sent is encrypted. */
const SMTP_TLS = ["none", "starttls", "implicit"] as const;

/** A port that takes mail to be sent. */
export const SmtpPort = z.object({
  port: z.int(),
  tls: z.enum(SMTP_TLS).meta({ description: "starttls offers TLS, implicit begins with it" }),
  full: z.boolean().meta({ description: "True while further connections are refused with 421" }),
});
export type SmtpPort = z.infer<typeof SmtpPort>;

export const health = {
  live: endpoint({
    method: "GET",
    path: "/healthz",
    access: "public",
    summary: "Check that the process is running (liveness)",
    output: z.object({ status: z.literal("ok"), version: z.string() }),
    examples: [{ summary: "Live" }],
  }),
  ready: endpoint({
    method: "GET",
    path: "/readyz",
    access: "public",
    summary: "Check that the server is ready: the database works and no shutdown is in progress",
    output: z.object({
      status: z.literal("ready"),
      version: z.string(),
      sendingPaused: z.boolean().meta({ description: "True while an operator has paused all sending: emails are accepted and wait" }),
      relays: z
        .record(z.string(), z.enum(RELAY_STATES))
        .meta({ description: "The state of each relay in this process. Emails are accepted while one is out of service, and wait" }),
      smtp: z
        .array(SmtpPort)
        .meta({ description: "The ports at which this process takes mail to be sent over SMTP; none without --smtp-port" }),
      unhandledJobs: z.int().meta({ description: "Jobs that wait because this version does not know their kind, counted up to 10,000" }),
      retentionDelayedSince: Instant.nullable().meta({
        description:
          "Since when old mail or events cannot be dropped, because a transaction on Postgres uses their tables; null if they can",
      }),
    }),
    examples: [{ summary: "Ready" }],
  }),
  openapi: endpoint({
    method: "GET",
    path: "/openapi.json",
    access: "public",
    summary: "Get this API as an OpenAPI 3.1 document",
    etag: true,
    output: z.record(z.string(), z.unknown()),
    examples: [{ summary: "Get" }],
  }),
};
