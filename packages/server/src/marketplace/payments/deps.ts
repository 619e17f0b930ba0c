import type { Log } from "../../lib/log.ts";
import type { ListingDeps } from "../listings/deps.ts";
import type { PaymentProvider } from "./provider.ts";

export interface PaymentDeps extends ListingDeps {
  readonly log: Log;
  readonly payments: PaymentProvider;
}
