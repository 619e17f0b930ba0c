import { type Contract, endpoint } from "./endpoint.ts";
import * as z from "./zod.ts";

const output = z.object({
  received: z.literal(true),
  applied: z.int().meta({ description: "Reports that changed something; repeated ones and those about other mail change nothing" }),
});

/** The endpoint that sending providers call with bounces, complaints and deliveries. It has no client method or command. */
export const inboundNouns = {
  inbound: {
    connection: endpoint({
      method: "POST",
      path: "/api/v1/inbound/connections/:token",
      access: "public",
      raw: true,
      summary: "Receive webhooks of a workspace's account at a mail provider",
      description:
        "Called by the provider of a connection that `providers.add` has made. Verifies the webhook by the key of this connection, and applies reports about mail of its workspace only. Confirms the subscription of an Amazon SNS topic.",
      output,
      errors: ["invalid_signature", "not_found", "rate_limited", "not_ready"],
      examples: [{ summary: "Report", params: { token: "5c8f20b7d1e94a63" } }],
    }),
  },
} as const satisfies Contract;
