import { type Contract, endpoint } from "../endpoint.ts";
import { Instant, pageQuery, pageSchema } from "../page.ts";
import * as z from "../zod.ts";
import { PAYMENT_STATES } from "./states.ts";

/** The price of a listing, in cents. */
export const LISTING_PRICE = { amount: 2900, currency: "usd", interval: "month" } as const;

/** Price a brand pays to have an agent on: nothing beyond the credits the agent spends. */
export const ACTIVATION_PRICE = { amount: 0, currency: "usd", interval: "month" } as const;

/** A recurring price; `amount` is in cents. */
export const Price = z.object({ amount: z.int(), currency: z.string(), interval: z.literal("month") });

export const Payment = z
  .object({
    id: z.string(),
    listingSlug: z.string(),
    provider: z.enum(["local", "stripe"]),
    /** The provider's id of the checkout. */
    sessionId: z.string(),
    state: z.enum(PAYMENT_STATES),
    /** In cents. */
    amount: z.int(),
    currency: z.string(),
    /** URL for paying; for a local payment, for confirming it. */
    checkoutUrl: z.string(),
    createdAt: Instant,
    expiresAt: Instant,
    paidAt: Instant.nullable(),
  })
  .meta({ id: "Payment" });
export type Payment = z.infer<typeof Payment>;

const params = { id: "pay_01jc3v2m9k8q4w6x0y5z7a1b2c" };

export const payments = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/payments",
    access: { permission: "billing:read" },
    summary: "List payments of listings, newest first",
    query: z.object({ ...pageQuery, state: z.enum(PAYMENT_STATES).optional().meta({ description: "Only payments in this state" }) }),
    output: pageSchema(Payment),
    examples: [{ summary: "Pending payments", query: { state: "PENDING" } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/payments/:id",
    access: { permission: "billing:read" },
    summary: "Show one payment",
    output: Payment,
    errors: ["not_found"],
    examples: [{ summary: "By id", params }],
  }),
  confirm: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/payments/:id/confirm",
    access: { permission: "billing:write" },
    operatorRight: "call",
    mailsTo: "nobody",
    summary: "Confirm a local payment",
    description: "Only without a payment provider: replaces the provider's confirmation. Confirming a paid payment changes nothing.",
    output: Payment,
    errors: ["not_found", "invalid_state", "forbidden"],
    examples: [{ summary: "Confirm", params }],
  }),
};

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
