import { LISTING_PRICE } from "@mailsvc/sdk/contract";
import Stripe from "stripe";
import * as z from "zod";
import { InvalidEvent, InvalidEventSignature, type PaymentProvider, type ProviderEvent, ProviderFailed } from "./provider.ts";
import { RETURN_PATHS } from "./return-page.ts";

interface StripeOptions {
  /** sk_… */
  readonly key: string;
  /** whsec_…, the secret of the webhook endpoint at Stripe that points to this server. */
  readonly webhookSecret: string;
  /** The address of the API; null for Stripe's own. Tests use a stand-in. */
  readonly url: string | null;
  readonly baseUrl: () => string;
  /** Timeout of one call, ms; 8 s by default. */
  readonly timeoutMs?: number;
}

// One call, from the connection to the last byte. Three attempts fit into the 30 seconds after which clients give up.
const TIMEOUT_MS = 8_000;

const seconds = z
  .int()
  .min(0)
  .max(253_402_300_799)
  .transform((s) => s * 1000);

// Stripe's own limit. An index of Postgres could not hold much longer values.
const StripeId = z.string().regex(/^[\x21-\x7e]{1,255}$/);

// Webhook events have the API version of the account, not of the library, so the schemas accept both shapes.
const Event = z.object({ id: StripeId, type: StripeId, created: seconds, data: z.object({ object: z.unknown() }) });

const Reference = z.union([StripeId, z.object({ id: StripeId }).transform(({ id }) => id)]);

const Opened = z.object({ id: StripeId, url: z.url({ protocol: /^https?$/ }), expires_at: seconds });

const Session = z.object({
  id: StripeId,
  payment_status: z.string(),
  amount_total: z.int().nullable(),
  currency: z.string().nullable(),
  subscription: Reference.nullish(),
});

const Invoice = z.object({
  subscription: Reference.nullish(),
  parent: z.object({ subscription_details: z.object({ subscription: Reference }).nullish() }).nullish(),
  lines: z.object({ data: z.array(z.object({ period: z.object({ end: seconds }) })) }),
});

const Subscription = z.object({ id: StripeId, status: z.string() });

// Final states of a subscription.
const ENDED = new Set(["canceled", "incomplete_expired"]);

/** An event without its envelope; distributes over the union. */
type EventBody = ProviderEvent extends infer E ? (E extends ProviderEvent ? Omit<E, "id" | "type" | "at"> : never) : never;

const OTHER: EventBody = { kind: "other" };

const SESSION = /^checkout\.session\.(?:completed|async_payment_succeeded|async_payment_failed|expired)$/;

/** Payments through Stripe: a Checkout session starts a subscription, and Stripe's webhook reports what happens to it. */
export function stripePayments({ key, webhookSecret, url, baseUrl, timeoutMs = TIMEOUT_MS }: StripeOptions): PaymentProvider {
  const endpoint = url === null ? null : new URL(url);
  const stripe = new Stripe(key, {
    maxNetworkRetries: 2,
    timeout: timeoutMs,
    // The fetch client's timeout covers the whole call; that of the Node client restarts with each byte.
    httpClient: Stripe.createFetchHttpClient((input: string | URL | Request, init?: RequestInit) =>
      fetch(input, { ...init, redirect: "manual" }),
    ),
    telemetry: false,
    ...(endpoint && {
      host: endpoint.hostname,
      port: endpoint.port || (endpoint.protocol === "http:" ? 80 : 443),
      protocol: endpoint.protocol === "http:" ? "http" : "https",
    }),
  });
  const ignoring = async (isExpected: (error: unknown) => boolean, call: Promise<unknown>): Promise<void> => {
    try {
      await call;
    } catch (error) {
      if (!isExpected(error)) throw toProviderFailed(error, key);
    }
  };
  return {
    name: "stripe",
    renewsItself: true,
    openCheckout: async ({ paymentId, listingId, name, amount, currency }) => {
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
            success_url: `${baseUrl()}${RETURN_PATHS.paid}`,
            cancel_url: `${baseUrl()}${RETURN_PATHS.unpaid}`,
          },
          { idempotencyKey: paymentId },
        );
        const opened = Opened.safeParse(session);
        if (!opened.success) throw new ProviderFailed("Stripe's response is not a checkout: its id, URL or expiry is missing.");
        return { session: opened.data.id, url: opened.data.url, expiresAt: opened.data.expires_at };
      } catch (error) {
        throw error instanceof ProviderFailed ? error : toProviderFailed(error, key);
      }
    },
    expireCheckout: (session) => ignoring(isClosed, stripe.checkout.sessions.expire(session)),
    cancelSubscription: (subscription) => ignoring(isMissing, stripe.subscriptions.cancel(subscription)),
    parseEvent: (bytes, signature) => {
      if (signature === null) throw new InvalidEventSignature("The Stripe-Signature header is missing.");
      let event: unknown;
      try {
        event = stripe.webhooks.constructEvent(Buffer.from(bytes), signature, webhookSecret);
      } catch (error) {
        if (error instanceof Stripe.errors.StripeSignatureVerificationError)
          throw new InvalidEventSignature("The signature does not match the body, or is older than five minutes.");
        throw new InvalidEvent("The body is not a Stripe event.", "");
      }
      const parsed = Event.safeParse(event);
      if (!parsed.success) throw new InvalidEvent("The body is not a Stripe event.", invalidPath(parsed.error));
      const { id, type, created: at, data } = parsed.data;
      try {
        return { id, type, at, ...parseBody(type, data.object) };
      } catch (error) {
        throw new InvalidEvent(
          `This ${type} event lacks a field or has an invalid one.`,
          ["data.object", invalidPath(error)].filter(Boolean).join("."),
        );
      }
    },
  };
}

function parseSession(type: string, object: unknown): EventBody {
  const session = Session.parse(object);
  if (type === "checkout.session.expired") return { kind: "expired", session: session.id };
  if (type === "checkout.session.async_payment_failed") return { kind: "failed", session: session.id };
  // A completed checkout may be unpaid: some payment methods take days, or fail.
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

function parseInvoice(object: unknown): EventBody {
  const { subscription, parent, lines } = Invoice.parse(object);
  const id = subscription ?? parent?.subscription_details?.subscription;
  const until = Math.max(...lines.data.map((line) => line.period.end));
  return id && Number.isFinite(until) ? { kind: "renewed", subscription: id, until } : OTHER;
}

function parseSubscription(type: string, object: unknown): EventBody {
  const { id, status } = Subscription.parse(object);
  if (type === "customer.subscription.deleted" || ENDED.has(status)) return { kind: "ended", subscription: id, stopped: true };
  // Stripe stops collecting, but goes on to invoice every month.
  return status === "unpaid" ? { kind: "ended", subscription: id, stopped: false } : OTHER;
}

function parseBody(type: string, object: unknown): EventBody {
  if (SESSION.test(type)) return parseSession(type, object);
  if (type === "invoice.paid") return parseInvoice(object);
  if (type === "customer.subscription.deleted" || type === "customer.subscription.updated") return parseSubscription(type, object);
  return OTHER;
}

/**
 * The error of a failed call, with Stripe's type and code of error. Stripe's own text goes to the log only; it may repeat
 * the request, so the key is redacted.
 */
function toProviderFailed(error: unknown, key: string): ProviderFailed {
  const { type, code } = error instanceof Stripe.errors.StripeError ? error : { type: "unknown", code: undefined };
  return new ProviderFailed(`Stripe rejected the request (${[type, code].filter(Boolean).join(", ")}).`, {
    cause: String(error).replaceAll(key, "***").slice(0, 1000),
  });
}

function isMissing(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError && error.code === "resource_missing";
}

/** Stripe answers 400 without a code to closing a checkout that is complete or has expired. */
function isClosed(error: unknown): boolean {
  return isMissing(error) || (error instanceof Stripe.errors.StripeInvalidRequestError && error.statusCode === 400);
}

/** The path of the first invalid field. */
function invalidPath(error: unknown): string {
  return error instanceof z.ZodError ? (error.issues[0]?.path ?? []).map(String).join(".") : "";
}
