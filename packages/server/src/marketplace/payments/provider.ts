import type { Clock } from "../../lib/clock.ts";
import { DAY } from "../../lib/units.ts";

/** Order that a builder pays for. */
interface Order {
  /** Our id of the payment; the provider returns it in its events. */
  readonly paymentId: string;
  readonly listingId: string;
  readonly name: string;
  /** Cents. */
  readonly amount: number;
  readonly currency: string;
}

/** A checkout at the provider, open for a person to pay. */
export interface Checkout {
  readonly session: string;
  readonly url: string;
  /** ms. */
  readonly expiresAt: number;
}

interface EventBase {
  /** The provider's id of the event; the same id twice is a repeat. */
  readonly id: string;
  readonly type: string;
  /** Time of the event, ms. */
  readonly at: number;
}

/** An event of a provider's webhook, in our words. */
export type ProviderEvent = EventBase &
  (
    | {
        readonly kind: "paid";
        readonly session: string;
        readonly subscription: string | null;
        readonly amount: number;
        readonly currency: string;
      }
    /** The checkout is complete; the money has not arrived yet. */
    | { readonly kind: "completed"; readonly session: string }
    | { readonly kind: "failed"; readonly session: string }
    | { readonly kind: "expired"; readonly session: string }
    | { readonly kind: "renewed"; readonly subscription: string; readonly until: number }
    /** `stopped`: the provider no longer charges for it. */
    | { readonly kind: "ended"; readonly subscription: string; readonly stopped: boolean }
    /** An event that does not concern us. */
    | { readonly kind: "other" }
  );

/** The signature of an event is missing, wrong or too old. */
export class InvalidEventSignature extends Error {
  override name = "InvalidEventSignature";
}

/** The signature of an event is valid, but its content is not. */
export class InvalidEvent extends Error {
  override name = "InvalidEvent";
  /** The invalid field; empty for the whole event. */
  readonly path: string;

  constructor(message: string, path: string) {
    super(message);
    this.path = path;
  }
}

/** The provider refused a call or did not answer. The message is safe to show to users. */
export class ProviderFailed extends Error {
  override name = "ProviderFailed";
}

/**
 * A payment provider: `stripe` charges cards, `local` replaces it by a person's confirmation. All methods except `parseEvent`
 * use the network, so call them outside transactions. They throw ProviderFailed.
 */
export interface PaymentProvider {
  readonly name: "local" | "stripe";
  /** True when the provider charges each month by itself and sends an event when that ends. */
  readonly renewsItself: boolean;
  openCheckout(order: Order): Promise<Checkout>;
  /** Closes a checkout so that it can no longer be paid. Does nothing when it is closed already. */
  expireCheckout(session: string): Promise<void>;
  /** Stops the monthly charge. Does nothing when the subscription has ended already. */
  cancelSubscription(subscription: string): Promise<void>;
  /**
   * Verifies and parses a request to the webhook; null for a provider without a webhook. Throws InvalidEventSignature or
   * InvalidEvent.
   */
  parseEvent(bytes: Uint8Array, signature: string | null): ProviderEvent | null;
}

const CHECKOUT_MS = DAY;

/** A provider that charges nothing: a person confirms the payment on the command line or in the dashboard. */
export function localPayments({ clock, baseUrl }: { clock: Clock; baseUrl: () => string }): PaymentProvider {
  return {
    name: "local",
    renewsItself: false,
    openCheckout: async ({ paymentId }) => ({
      session: `local_${paymentId}`,
      url: `${baseUrl()}/api/v1/marketplace/payments/${paymentId}/confirm`,
      expiresAt: clock.now() + CHECKOUT_MS,
    }),
    expireCheckout: async () => {},
    cancelSubscription: async () => {},
    parseEvent: () => null,
  };
}
