import { LISTING_PRICE } from "@mailsvc/sdk/contract";
import Stripe from "stripe";
import { z } from "zod";
import { AFTER } from "./after.ts";
import { BadNews, BadSignature, type News, type PaymentProvider, ProviderFailed } from "./provider.ts";

export interface StripeOptions {
  /** sk_… */
  readonly key: string;
  /** whsec_…, of the webhook endpoint that points here. */
  readonly webhookSecret: string;
  /** Where Stripe's API is; null for Stripe's own. */
  readonly url: string | null;
  readonly baseUrl: () => string;
  /** How long one call may take, ms; 8 s unless said. */
  readonly timeoutMs?: number;
}

// One call, from the connection to the last byte. Three of them end before clients lose their patience after 30 seconds.
const TIMEOUT_MS = 8_000;

const seconds = z
  .int()
  .min(0)
  .max(253_402_300_799)
  .transform((s) => s * 1000);

// Stripe's own bound; what is longer cannot be looked up by an index of Postgres.
const Name = z.string().regex(/^[\x21-\x7e]{1,255}$/);

// The webhook sends the API version of the account, not the one of the library: what is needed is read from either shape.
const Event = z.object({ id: Name, type: Name, created: seconds, data: z.object({ object: z.unknown() }) });

const Named = z.union([Name, z.object({ id: Name }).transform(({ id }) => id)]);

const Opened = z.object({ id: Name, url: z.url({ protocol: /^https?$/ }), expires_at: seconds });

const Session = z.object({
  id: Name,
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

const Subscription = z.object({ id: Name, status: z.string() });

// A subscription in one of these is not coming back.
const OVER = new Set(["canceled", "incomplete_expired"]);

type Told = News extends infer N ? (N extends News ? Omit<N, "id" | "type" | "at"> : never) : never;

const OTHER: Told = { kind: "other" };

const SESSION = /^checkout\.session\.(?:completed|async_payment_succeeded|async_payment_failed|expired)$/;

/** Payments through Stripe: a Checkout session that starts a subscription, and its webhook. */
export function stripePayments({ key, webhookSecret, url, baseUrl, timeoutMs = TIMEOUT_MS }: StripeOptions): PaymentProvider {
  const place = url === null ? null : new URL(url);
  const stripe = new Stripe(key, {
    maxNetworkRetries: 2,
    timeout: timeoutMs,
    // This one counts the time until the last byte; that of Node only how long nothing comes.
    httpClient: Stripe.createFetchHttpClient((input: string | URL | Request, init?: RequestInit) =>
      fetch(input, { ...init, redirect: "manual" }),
    ),
    telemetry: false,
    ...(place && {
      host: place.hostname,
      port: place.port || (place.protocol === "http:" ? 80 : 443),
      protocol: place.protocol === "http:" ? "http" : "https",
    }),
  });
  const unless = async (isFine: (error: unknown) => boolean, call: Promise<unknown>): Promise<void> => {
    try {
      await call;
    } catch (error) {
      if (!isFine(error)) throw failed(error, key);
    }
  };
  return {
    name: "stripe",
    renewsItself: true,
    open: async ({ paymentId, listingId, name, amount, currency }) => {
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
            success_url: `${baseUrl()}${AFTER.paid}`,
            cancel_url: `${baseUrl()}${AFTER.unpaid}`,
          },
          { idempotencyKey: paymentId },
        );
        const opened = Opened.safeParse(session);
        if (!opened.success) throw new ProviderFailed("Stripe's answer is not a checkout: its id, its address or its end is missing.");
        return { session: opened.data.id, url: opened.data.url, expiresAt: opened.data.expires_at };
      } catch (error) {
        throw error instanceof ProviderFailed ? error : failed(error, key);
      }
    },
    close: (session) => unless(isClosed, stripe.checkout.sessions.expire(session)),
    stop: (subscription) => unless(isMissing, stripe.subscriptions.cancel(subscription)),
    read: (bytes, signature) => {
      if (signature === null) throw new BadSignature("The Stripe-Signature header is missing.");
      let event: unknown;
      try {
        event = stripe.webhooks.constructEvent(Buffer.from(bytes), signature, webhookSecret);
      } catch (error) {
        if (error instanceof Stripe.errors.StripeSignatureVerificationError)
          throw new BadSignature("The signature does not fit the body, or is older than five minutes.");
        throw new BadNews("The body is no event of Stripe.", "");
      }
      const parsed = Event.safeParse(event);
      if (!parsed.success) throw new BadNews("The body is no event of Stripe.", faultOf(parsed.error));
      const { id, type, created: at, data } = parsed.data;
      try {
        return { id, type, at, ...newsOf(type, data.object) };
      } catch (error) {
        throw new BadNews(
          `This ${type} does not hold what such an event holds.`,
          ["data.object", faultOf(error)].filter(Boolean).join("."),
        );
      }
    },
  };
}

function sessionNews(type: string, object: unknown): Told {
  const session = Session.parse(object);
  if (type === "checkout.session.expired") return { kind: "expired", session: session.id };
  if (type === "checkout.session.async_payment_failed") return { kind: "failed", session: session.id };
  // Completed is not paid: with some ways of paying the money comes days later, or never.
  if (session.payment_status === "unpaid") return { kind: "completed", session: session.id };
  if (session.payment_status !== "paid") return OTHER;
  return {
    kind: "paid",
    session: session.id,
    subscription: session.subscription ?? null,
    amount: session.amount_total ?? 0,
    currency: session.currency ?? "",
  };
}

function invoiceNews(object: unknown): Told {
  const { subscription, parent, lines } = Invoice.parse(object);
  const name = subscription ?? parent?.subscription_details?.subscription;
  const until = Math.max(...lines.data.map((line) => line.period.end));
  return name && Number.isFinite(until) ? { kind: "renewed", subscription: name, until } : OTHER;
}

function subscriptionNews(type: string, object: unknown): Told {
  const { id, status } = Subscription.parse(object);
  if (type === "customer.subscription.deleted" || OVER.has(status)) return { kind: "ended", subscription: id, stopped: true };
  // Given up, but not by Stripe: it goes on to charge for every month.
  return status === "unpaid" ? { kind: "ended", subscription: id, stopped: false } : OTHER;
}

function newsOf(type: string, object: unknown): Told {
  if (SESSION.test(type)) return sessionNews(type, object);
  if (type === "invoice.paid") return invoiceNews(object);
  if (type === "customer.subscription.deleted" || type === "customer.subscription.updated") return subscriptionNews(type, object);
  return OTHER;
}

/**
 * What may be told of a failed call: Stripe's kind and code of error. Its text is for the log, and may repeat what was sent:
 * the key is taken out.
 */
function failed(error: unknown, key: string): ProviderFailed {
  const { type, code } = error instanceof Stripe.errors.StripeError ? error : { type: "unknown", code: undefined };
  return new ProviderFailed(`Stripe could not do this (${[type, code].filter(Boolean).join(", ")}).`, {
    cause: String(error).replaceAll(key, "***").slice(0, 1000),
  });
}

function isMissing(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError && error.code === "resource_missing";
}

/** A checkout that was completed or has expired cannot be closed: that is a 400 without a code. */
function isClosed(error: unknown): boolean {
  return isMissing(error) || (error instanceof Stripe.errors.StripeInvalidRequestError && error.statusCode === 400);
}

/** Where a signed event is not what it should be. */
function faultOf(error: unknown): string {
  return error instanceof z.ZodError ? (error.issues[0]?.path ?? []).map(String).join(".") : "";
}
