import { endpoint } from "./endpoint.ts";
import { Instant } from "./page.ts";
import { RELAY_STATES } from "./relay-states.ts";
import * as z from "./zod.ts";

/** Encryption of a submission port. */
const SMTP_TLS = ["none", "starttls", "implicit"] as const;

/** A port that takes mail to be sent. */
export const SmtpPort = z.object({
  port: z.int(),
  tls: z.enum(SMTP_TLS).meta({ description: "starttls offers TLS, implicit begins with it" }),
  full: z.boolean().meta({ description: "True while further connections are refused with 421" }),
});
export type SmtpPort = z.infer<typeof SmtpPort>;

/** Peers that delivered mail to the inbound port of this process, by the address of the connection or of its PROXY protocol. */
const InboundPeers = z
  .object({
    public: z.int().meta({ description: "Messages from addresses of the Internet" }),
    private: z.int().meta({ description: "Messages from addresses of private networks, which a gateway may have put in place of others" }),
  })
  .meta({
    description: "The last hundred messages that this process has received over SMTP, without those of servers that --inbound-trust names",
  });

const FailingReader = z.object({
  reader: z.string().meta({ description: "Its name: engagement, campaigns, automations or soft_bounces" }),
  workspaceId: z.string(),
  since: Instant.meta({ description: "The time of its first failure" }),
  error: z.string(),
});

export const health = {
  live: endpoint({
    method: "GET",
    path: "/healthz",
    access: "public",
    summary: "Check that the process is running (liveness)",
    output: z.object({ status: z.literal("ok") }),
    examples: [{ summary: "Live" }],
  }),
  ready: endpoint({
    method: "GET",
    path: "/readyz",
    access: "public",
    operatorRight: "details",
    summary: "Check that the server is ready: the database works and no shutdown is in progress",
    description:
      "Without a key, and from a key of one of several workspaces, it says ready or not, and nothing else. The operator key, or any key of a server with one workspace, is told the rest.",
    output: z.object({
      status: z.literal("ready"),
      version: z.string().optional(),
      sendingPaused: z
        .boolean()
        .optional()
        .meta({ description: "True while an operator has paused all sending: emails are accepted and wait" }),
      relays: z
        .record(z.string(), z.enum(RELAY_STATES))
        .optional()
        .meta({ description: "The state of each relay in this process. Emails are accepted while one is out of service, and wait" }),
      smtp: z
        .array(SmtpPort)
        .optional()
        .meta({ description: "The ports at which this process takes mail to be sent over SMTP; none without --smtp-port" }),
      inboundPeers: InboundPeers.optional(),
      unhandledJobs: z
        .int()
        .optional()
        .meta({ description: "Jobs that wait because this version does not know their kind, counted up to 10,000" }),
      failingReaders: z
        .array(FailingReader)
        .optional()
        .meta({ description: "Readers of events that cannot go on in this process; they are tried again, and the others go on" }),
    }),
    errors: ["unauthorized", "key_revoked", "key_expired", "forbidden"],
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
