import { type Contract, endpoint } from "../endpoint.ts";
import * as z from "../zod.ts";

/** Endpoints for third parties such as payment providers. They are served and documented, but have no client method or command. */
export const callbacks = {
  stripe: {
    webhook: endpoint({
      method: "POST",
      path: "/api/v1/marketplace/payments/stripe/webhook",
      access: "public",
      summary: "Receive an event from Stripe",
      description: "Called by Stripe. Verifies the Stripe-Signature header against the raw body. A repeated event changes nothing.",
      raw: true,
      output: z.object({ received: z.literal(true) }),
      errors: ["invalid_signature", "not_found"],
    }),
  },
} as const satisfies Contract;
