import type { AgentContract, callbacks, marketplace } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { activationHandlers, listingActivationHandlers, selfHandlers } from "./activations/handlers.ts";
import type { AgentHandlers } from "./agent-access.ts";
import { deliveryHandlers } from "./agent-webhooks/handlers.ts";
import { agentBrandHandlers, brandHandlers } from "./brand/brand.ts";
import { catalogHandlers } from "./catalog/catalog.ts";
import { agentCreditHandlers, creditHandlers } from "./credits/handlers.ts";
import type { MarketplaceDeps } from "./deps.ts";
import { agentExplanationHandlers } from "./explanations.ts";
import { agentAssetHandlers, agentLeadMagnetHandlers, assetHandlers, leadMagnetHandlers } from "./files/handlers.ts";
import { agentLandingPageHandlers, landingPageHandlers } from "./landing-pages/handlers.ts";
import { listingHandlers } from "./listings/handlers.ts";
import { agentListHandlers } from "./lists/lists.ts";
import { agentMessageHandlers, approvalHandlers, messageHandlers } from "./messages/handlers.ts";
import { listingPaymentHandlers, paymentHandlers, stripeHandlers } from "./payments/handlers.ts";
import { planHandlers } from "./plans/plans.ts";
import { agentRunHandlers, runHandlers } from "./runs/handlers.ts";
import { agentWakeupHandlers } from "./wakeups/handlers.ts";

type MarketplaceContract = typeof marketplace;

/** The one list of what brands and builders may call. A missing handler does not compile. */
export const marketplaceHandlers: { readonly [G in keyof MarketplaceContract]: Handlers<MarketplaceContract[G], MarketplaceDeps> } = {
  listings: { ...listingHandlers, ...listingPaymentHandlers, ...listingActivationHandlers },
  deliveries: deliveryHandlers,
  payments: paymentHandlers,
  catalog: catalogHandlers,
  activations: activationHandlers,
  approvals: approvalHandlers,
  messages: messageHandlers,
  runs: runHandlers,
  credits: creditHandlers,
  plans: planHandlers,
  brand: brandHandlers,
  landingPages: landingPageHandlers,
  leadMagnets: leadMagnetHandlers,
  assets: assetHandlers,
};

/** Callbacks of payment providers. */
export const callbackHandlers: { readonly [G in keyof typeof callbacks]: Handlers<(typeof callbacks)[G], MarketplaceDeps> } = {
  stripe: stripeHandlers,
};

/** The one list of what agents may call. A missing handler does not compile. */
export const agentHandlers: { readonly [G in keyof AgentContract]: AgentHandlers<G> } = {
  self: selfHandlers,
  messages: agentMessageHandlers,
  runs: agentRunHandlers,
  credits: agentCreditHandlers,
  wakeups: agentWakeupHandlers,
  landingPages: agentLandingPageHandlers,
  leadMagnets: agentLeadMagnetHandlers,
  assets: agentAssetHandlers,
  brand: agentBrandHandlers,
  lists: agentListHandlers,
  explanations: agentExplanationHandlers,
};
