import type { AgentContract, callbacks, marketplace } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { selfHandlers } from "./activations/agent-handlers.ts";
import { activationHandlers } from "./activations/handlers.ts";
import { brandHandlers } from "./brand/handlers.ts";
import { catalogHandlers } from "./catalog/handlers.ts";
import { listingHandlers } from "./listings/handlers.ts";
import { paymentHandlers, stripeHandlers } from "./payments/handlers.ts";
import { planHandlers } from "./plans/handlers.ts";

type MarketplaceContract = typeof marketplace;

/** The one list of what brands and builders may call. A missing handler does not compile. */
export const marketplaceHandlers: { readonly [G in keyof MarketplaceContract]: Handlers<MarketplaceContract[G]> } = {
  listings: listingHandlers,
  payments: paymentHandlers,
  catalog: catalogHandlers,
  activations: activationHandlers,
  plans: planHandlers,
  brand: brandHandlers,
};

/** What others call on their own terms. */
export const callbackHandlers: { readonly [G in keyof typeof callbacks]: Handlers<(typeof callbacks)[G]> } = {
  stripe: stripeHandlers,
};

/** The one list of what agents may call. A missing handler does not compile. */
export const agentHandlers: { readonly [G in keyof AgentContract]: Handlers<AgentContract[G]> } = {
  self: selfHandlers,
};
