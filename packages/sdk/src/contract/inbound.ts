import { type Contract, endpoint } from "./endpoint.ts";
import * as z from "./zod.ts";

const output = z.object({
  received: z.literal(true),
  applied: z.int().meta({ description: "Reports that changed something; repeated ones and those about other mail change nothing" }),
});

const common = {
  method: "POST",
  access: "public",
  raw: true,
  output,
  errors: ["invalid_signature", "not_found", "rate_limited", "not_ready"],
} as const;

/** Endpoints that sending providers call with bounces, complaints and deliveries. They have no client method or command. */
export const inboundNouns = {
  inbound: {
    ses: endpoint({
      ...common,
      path: "/api/v1/inbound/ses",
      summary: "Receive notifications of Amazon SES",
      description:
        "Called by Amazon SNS. Verifies the signature of the message by Amazon's certificate, and its topic. Confirms the subscription of a configured topic.",
    }),
    connection: endpoint({
      ...common,
      path: "/api/v1/inbound/connections/:token",
      summary: "Receive webhooks of a workspace's account at a mail provider",
      description:
        "Called by the provider of a connection that `providers.add` has made. Verifies the webhook by the key of this connection, and applies reports about mail of its workspace only.",
    }),
    postmark: endpoint({
      ...common,
      path: "/api/v1/inbound/postmark",
      summary: "Receive webhooks of Postmark",
      description: "Called by Postmark. Verifies the user and password of HTTP basic authentication.",
    }),
    sendgrid: endpoint({
      ...common,
      path: "/api/v1/inbound/sendgrid",
      summary: "Receive event webhooks of SendGrid",
      description: "Called by SendGrid. Verifies the ECDSA signature of the signed event webhook.",
    }),
    mailgun: endpoint({
      ...common,
      path: "/api/v1/inbound/mailgun",
      summary: "Receive webhooks of Mailgun",
      description: "Called by Mailgun. Verifies the HMAC of the webhook; it may be a day old.",
    }),
  },
} as const satisfies Contract;
