import type { Clock } from "../../lib/clock.ts";
import { DAY } from "../../lib/units.ts";
import type { PaymentProvider } from "./provider.ts";

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
