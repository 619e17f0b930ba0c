/** What is to be paid. */
export interface Order {
  /** Our id of the payment; the provider hands it back. */
  readonly paymentId: string;
  readonly listingId: string;
  readonly name: string;
  /** Cents. */
  readonly amount: number;
  readonly currency: string;
}

/** A checkout that a person may now complete. */
export interface Checkout {
  readonly session: string;
  readonly url: string;
  /** ms. */
  readonly expiresAt: number;
}

interface Notice {
  /** The provider's id of this piece of news: the same one twice is a repeat. */
  readonly id: string;
  readonly type: string;
  /** When it happened, ms. */
  readonly at: number;
}

/** What a provider tells, in our words. */
export type News = Notice &
  (
    | {
        readonly kind: "paid";
        readonly session: string;
        readonly subscription: string | null;
        readonly amount: number;
        readonly currency: string;
      }
    /** The person has done all there is to do; the money is on its way. */
    | { readonly kind: "completed"; readonly session: string }
    | { readonly kind: "failed"; readonly session: string }
    | { readonly kind: "expired"; readonly session: string }
    | { readonly kind: "renewed"; readonly subscription: string; readonly until: number }
    /** `stopped`: the provider charges no more for it. */
    | { readonly kind: "ended"; readonly subscription: string; readonly stopped: boolean }
    | { readonly kind: "other" }
  );

/** News that cannot be believed: its signature is missing, wrong or too old. */
export class BadSignature extends Error {
  override name = "BadSignature";
}

/** Signed news that cannot be read. */
export class BadNews extends Error {
  override name = "BadNews";
  /** The field that is not what it should be; empty for the whole of it. */
  readonly path: string;

  constructor(message: string, path: string) {
    super(message);
    this.path = path;
  }
}

/** The provider did not do what it was asked, or did not answer. Its message is safe to show. */
export class ProviderFailed extends Error {
  override name = "ProviderFailed";
}

/**
 * Who takes the money: `local` takes a confirmation in its place, `stripe` is real. All but `read` uses the network, so it
 * is called outside transactions. Throws ProviderFailed.
 */
export interface PaymentProvider {
  readonly name: "local" | "stripe";
  /** Whether it charges month by month by itself, and tells when that ends. */
  readonly renewsItself: boolean;
  open(order: Order): Promise<Checkout>;
  /** Closes a checkout nobody may complete any more. One that is closed already is fine. */
  close(session: string): Promise<void>;
  /** Stops charging for a subscription. One that has ended already is fine. */
  stop(subscription: string): Promise<void>;
  /** Checks and translates what came to the webhook. Throws BadSignature or BadNews; null for a provider without a webhook. */
  read(bytes: Uint8Array, signature: string | null): News | null;
}
