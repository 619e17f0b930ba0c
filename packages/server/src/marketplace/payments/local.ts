import type { Clock } from "../../lib/clock.ts";
import type { PaymentProvider } from "./provider.ts";

const DAY = 24 * 3_600_000;

/** Takes no money: a person confirms the payment, from the command line or the dashboard. */
export function localPayments({ clock, baseUrl }: { clock: Clock; baseUrl: () => string }): PaymentProvider {
  return {
    name: "local",
    renewsItself: false,
    open: async ({ paymentId }) => ({
      session: `local_${paymentId}`,
      url: `${baseUrl()}/api/v1/marketplace/payments/${paymentId}/confirm`,
      expiresAt: clock.now() + DAY,
    }),
    close: async () => {},
    stop: async () => {},
    read: () => null,
  };
}
