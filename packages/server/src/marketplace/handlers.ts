import type { AgentContract, callbacks, marketplace } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { ApiError } from "../lib/api-error.ts";
import { activationHandlers, listingActivationHandlers, selfHandlers } from "./activations/activations.ts";
import type { AgentHandlers } from "./agent-access.ts";
import { explainToAgent } from "./agent-webhooks/explain.ts";
import { deliveryHandlers } from "./agent-webhooks/handlers.ts";
import { agentBrandHandlers, brandHandlers } from "./brand/brand.ts";
import { catalogHandlers } from "./catalog/catalog.ts";
import { agentCreditHandlers, creditHandlers } from "./credits/credits.ts";
import type { MarketplaceDeps } from "./deps.ts";
import { agentAssetHandlers, agentLeadMagnetHandlers, assetHandlers, leadMagnetHandlers } from "./files/handlers.ts";
import { agentLandingPageHandlers, landingPageHandlers } from "./landing-pages/handlers.ts";
import { listingHandlers } from "./listings/listings.ts";
import { agentListHandlers } from "./lists/lists.ts";
import { agentMessageHandlers, approvalHandlers, messageHandlers } from "./messages/handlers.ts";
import { listingPaymentHandlers, paymentHandlers, stripeHandlers } from "./payments/handlers.ts";
import { planHandlers } from "./plans/plans.ts";
import { explainRunOf } from "./runs/explain.ts";
import { agentRunHandlers, runHandlers } from "./runs/handlers.ts";
import { agentWakeupHandlers } from "./wakeups/wakeups.ts";

/** Explanations for an agent: of its own activation and, if it may read them, of its runs. */
const agentExplanationHandlers: AgentHandlers<"explanations"> = {
  get: async ({ id }, { read, deps, workspaceId, agent }) => {
    const { activationId } = agent;
    // The clock of dev mode is not the agent's to move.
    const present = { now: deps.clock.now(), dev: false };
    if (id === activationId) return explainToAgent(read, present, workspaceId, id);
    if (!agent.scopes.has("agent:read_runs"))
      throw new ApiError("forbidden", "This activation does not have the scope agent:read_runs.", {
        details: [{ path: "", code: "missing_scope", message: "agent:read_runs" }],
      });
    return explainRunOf(read, { ...present, overdue: deps.runClock.overdue() }, { activationId, runId: id }, "agent").catch((error) => {
      if (!(error instanceof ApiError) || error.code !== "not_found") throw error;
      throw new ApiError("not_found", `Neither this activation nor a run of it has the id ${JSON.stringify(id)}.`);
    });
  },
};

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
