import { z } from "zod";
import { type Contract, endpoint } from "../endpoint.ts";

/** Endpoints that others call on their own terms, such as a payment provider: they are served and described, but nobody's client or command needs them. */
export const callbacks = {
  stripe: {
    webhook: endpoint({
      method: "POST",
      path: "/api/v1/marketplace/payments/stripe/webhook",
      access: "public",
      summary: "Take an event of Stripe",
      description:
        "Stripe calls this. The Stripe-Signature header is checked over the raw body; an event that was taken before changes nothing.",
      raw: true,
      output: z.object({ received: z.literal(true) }),
      errors: ["invalid_signature", "not_found"],
    }),
  },
} as const satisfies Contract;
