import { LISTING_PRICE } from "@mailsvc/sdk/contract";
import Stripe from "stripe";
import { z } from "zod";
import { BadNews, BadSignature, type News, type PaymentProvider, ProviderFailed } from "./provider.ts";

export interface StripeOptions {
  /** sk_… */
  readonly key: string;
  /** whsec_…, of the webhook endpoint that points here. */
  readonly webhookSecret: string;
  /** Where Stripe's API is; null for Stripe's own. */
  readonly url: string | null;
  readonly baseUrl: () => string;
}

const TIMEOUT_MS = 15_000;

const seconds = z.int().transform((s) => s * 1000);

// The webhook sends the API version of the account, not the one of the library: what is needed is read from either shape.
const Event = z.object({ id: z.string(), type: z.string(), created: seconds, data: z.object({ object: z.unknown() }) });

const Named = z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)]);

const Session = z.object({
  id: z.string(),
  payment_status: z.string(),
  amount_total: z.int().nullable(),
  currency: z.string().nullable(),
  subscription: Named.nullish(),
});

const Invoice = z.object({
  subscription: Named.nullish(),
  parent: z.object({ subscription_details: z.object({ subscription: Named }).nullish() }).nullish(),
  lines: z.object({ data: z.array(z.object({ period: z.object({ end: seconds }) })) }),
});

const Subscription = z.object({ id: z.string(), status: z.string() });

// A subscription in one of these is not coming back.
const OVER = new Set(["canceled", "unpaid", "incomplete_expired"]);

type Told = News extends infer N ? (N extends News ? Omit<N, "id" | "type" | "at"> : never) : never;

const OTHER: Told = { kind: "other" };

const sessionNews = (type: string, object: unknown): Told => {
  const session = Session.parse(object);
  if (type === "checkout.session.expired") return { kind: "expired", session: session.id };
  if (type === "checkout.session.async_payment_failed") return { kind: "failed", session: session.id };
  // Completed is not paid: with some ways of paying the money comes days later, or never.
  if (session.payment_status !== "paid") return OTHER;
  return {
    kind: "paid",
    session: session.id,
    subscription: session.subscription ?? null,
    amount: session.amount_total ?? 0,
    currency: session.currency ?? "",
  };
};

const invoiceNews = (object: unknown): Told => {
  const { subscription, parent, lines } = Invoice.parse(object);
  const name = subscription ?? parent?.subscription_details?.subscription;
  const until = Math.max(...lines.data.map((line) => line.period.end));
  return name && Number.isFinite(until) ? { kind: "renewed", subscription: name, until } : OTHER;
};

const subscriptionNews = (type: string, object: unknown): Told => {
  const { id, status } = Subscription.parse(object);
  return type === "customer.subscription.deleted" || OVER.has(status) ? { kind: "ended", subscription: id } : OTHER;
};

const SESSION = /^checkout\.session\.(?:completed|async_payment_succeeded|async_payment_failed|expired)$/;

const newsOf = (type: string, object: unknown): Told => {
  if (SESSION.test(type)) return sessionNews(type, object);
  if (type === "invoice.paid") return invoiceNews(object);
  if (type === "customer.subscription.deleted" || type === "customer.subscription.updated") return subscriptionNews(type, object);
  return OTHER;
};

/** What may be told of a failed call: Stripe's kind and code of error, not its text, which may hold parts of the key. */
const failed = (error: unknown): ProviderFailed => {
  const { type, code } = error instanceof Stripe.errors.StripeError ? error : { type: "unknown", code: undefined };
  return new ProviderFailed(`Stripe could not do this (${[type, code].filter(Boolean).join(", ")}).`, { cause: error });
};

const gone = (error: unknown): boolean =>
  error instanceof Stripe.errors.StripeInvalidRequestError && (error.code === "resource_missing" || error.statusCode === 400);

/** Payments through Stripe: a Checkout session that starts a subscription, and its webhook. */
export const stripePayments = ({ key, webhookSecret, url, baseUrl }: StripeOptions): PaymentProvider => {
  const place = url === null ? null : new URL(url);
  const stripe = new Stripe(key, {
    maxNetworkRetries: 2,
    timeout: TIMEOUT_MS,
    telemetry: false,
    ...(place && {
      host: place.hostname,
      port: place.port || (place.protocol === "http:" ? 80 : 443),
      protocol: place.protocol === "http:" ? "http" : "https",
    }),
  });
  const unlessGone = async (call: Promise<unknown>): Promise<void> => {
    try {
      await call;
    } catch (error) {
      if (!gone(error)) throw failed(error);
    }
  };
  return {
    name: "stripe",
    renewsItself: true,
    open: async ({ paymentId, listingId, slug, name, amount, currency }) => {
      const metadata = { paymentId, listingId };
      try {
        const session = await stripe.checkout.sessions.create(
          {
            mode: "subscription",
            client_reference_id: paymentId,
            metadata,
            subscription_data: { metadata },
            line_items: [
              {
                quantity: 1,
                price_data: {
                  currency,
                  unit_amount: amount,
                  recurring: { interval: LISTING_PRICE.interval },
                  product_data: { name: `Agent listing: ${name}` },
                },
              },
            ],
            success_url: `${baseUrl()}/?paid=${slug}`,
            cancel_url: `${baseUrl()}/?unpaid=${slug}`,
          },
          { idempotencyKey: paymentId },
        );
        if (!session.url) throw new ProviderFailed("Stripe gave no address for the checkout.");
        return { session: session.id, url: session.url, expiresAt: session.expires_at * 1000 };
      } catch (error) {
        throw error instanceof ProviderFailed ? error : failed(error);
      }
    },
    close: (session) => unlessGone(stripe.checkout.sessions.expire(session)),
    stop: (subscription) => unlessGone(stripe.subscriptions.cancel(subscription)),
    read: (bytes, signature) => {
      if (signature === null) throw new BadSignature("The Stripe-Signature header is missing.");
      let event: unknown;
      try {
        event = stripe.webhooks.constructEvent(Buffer.from(bytes), signature, webhookSecret);
      } catch (error) {
        if (error instanceof Stripe.errors.StripeSignatureVerificationError)
          throw new BadSignature("The signature does not fit the body, or is older than five minutes.");
        throw new BadNews("The body is no event of Stripe.");
      }
      const parsed = Event.safeParse(event);
      if (!parsed.success) throw new BadNews("The body is no event of Stripe.");
      const { id, type, created: at, data } = parsed.data;
      try {
        return { id, type, at, ...newsOf(type, data.object) };
      } catch {
        throw new BadNews(`This ${type} does not hold what such an event holds.`);
      }
    },
  };
};
