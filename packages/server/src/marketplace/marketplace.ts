import type { JobHandler } from "../queue/queue.ts";
import { activationJobs } from "./activations/listing-end.ts";
import type { MarketplaceDeps } from "./deps.ts";
import { fileJobs } from "./files/staging.ts";
import { pageJobs } from "./landing-pages/stats.ts";
import { listingJobs } from "./listings/lifecycle.ts";
import { messageJobs } from "./messages/approvals.ts";
import { paymentJobs } from "./payments/payments.ts";
import { runJobs } from "./runs/sweep.ts";
import { wakeupJobs } from "./wakeups/fire.ts";

/*
 * The marketplace: builders list agents, brands turn them on, and agents call back (docs/marketplace.md).
 *
 * Modules, each with its tables. A module imports only modules above it; calls the other way go through hooks that
 * `features.ts` composes (`ListingHooks`, `ActivationHooks`).
 *
 *   listings        a builder's agent; its states are in lifecycle.ts
 *   payments        checkouts of listings; the port for providers, with `local` and `stripe`
 *   activations     one brand's use of one agent: its states (lifecycle.ts), its key (agent-keys.ts), its cover by the plan
 *   plans           the plan of a brand, and what changing it does to its activations
 *   catalog         the listed agents, as brands see them
 *   agent-webhooks  events of activations: their outbox, and how builders read and redeliver them
 *   runs            the work of an agent, with heartbeats and waits
 *   messages        the conversation of a brand and an agent, with approval requests
 *   credits         a brand's balance and ledger, and what agents spend
 *   wakeups         events an agent schedules for later
 *   files           assets and lead magnets, their contents and quotas
 *   brand           colors, logo, voice, and rules for agents
 *   landing-pages   pages agents publish, sign-up forms of brands, their statistics
 *   lists           names and sizes of a brand's lists, for agents
 *
 * Three rules between modules:
 *   - An event is emitted in the transaction of the change it reports.
 *   - `activations/lifecycle.ts` is the only code that changes the status of an activation.
 *   - Code that asks whether a run is active compares its deadline with `deps.runClock.overdue()`, never with the clock.
 *
 * There are two kinds of callers. Brands and builders use developer keys; their handlers get the dependencies of their
 * module and `Tx`. Agents use the key of one activation; their handlers get `AgentDeps`, `AgentTx` and `Reader<AgentTables>`, which reach
 * no contact, email or campaign (agent-access.ts). Code for both takes the narrow types.
 */

export { getSentEvent, listSentEvents } from "./agent-webhooks/deliveries.ts";

/** The jobs of all modules. */
export function marketplaceJobs(deps: MarketplaceDeps): Readonly<Record<string, JobHandler>> {
  return {
    ...listingJobs(deps),
    ...paymentJobs(deps),
    ...activationJobs(deps),
    ...pageJobs(deps),
    ...messageJobs(deps),
    ...runJobs(deps),
    ...wakeupJobs(deps),
    ...fileJobs(deps),
  };
}
