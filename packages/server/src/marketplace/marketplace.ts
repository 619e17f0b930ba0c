import type { Deps } from "../deps.ts";
import type { JobHandler } from "../queue/queue.ts";
import { activationJobs } from "./activations/jobs.ts";
import { fileJobs } from "./files/staging.ts";
import { pageJobs } from "./landing-pages/visitors.ts";
import { listingJobs } from "./listings/lifecycle.ts";
import { messageJobs } from "./messages/approvals.ts";
import { paymentJobs } from "./payments/payments.ts";
import { retentionJobs } from "./retention/retention.ts";
import { runJobs } from "./runs/sweep.ts";
import { wakeupJobs } from "./wakeups/fire.ts";

/*
 * The marketplace: builders list agents, brands turn them on, agents call back (SPEC 1.4, 3 to 6; DESIGN 6).
 *
 * Rooms, each with its tables:
 *   catalog      what brands see of listed agents
 *   listings     a builder's agent: draft, paid for, in the catalog, ended; its webhook and secret
 *   payments     checkouts; the port for providers, with `local` and `stripe`
 *   plans        what a brand's plan covers, and what a change of it does to its agents
 *   activations  one brand's use of one agent: its states (transitions.ts), its key (agent-keys.ts), the end of a listing
 *   brand        colors, logo, voice, rules
 *   deliveries   the outbox of events (emit.ts), and their way to the webhook; sent.ts shows it to the dashboard
 *   retention    how long records of all rooms are kept
 *   runs, messages, credits, wakeups, pages, files     what an agent does, each behind a scope
 *
 * Between rooms:
 *   emit(tx, deps, activationId, event)       an event for the builder, in the transaction of what it tells
 *   addPauseReason, clearPauseReasons,        the only code that changes the status of an activation; each emits what the
 *   endActivations                            builder must hear and ends what was under way
 *   admitAgent(q, keyHash, now)               whether a key opens anything at this moment
 *   deps.runClock.overdue()                   which windows of runs have ended: asked instead of the clock, wherever a run counts
 *   suspend, waitOver (runs/waits.ts)         a run waits for something, and it is over
 *
 * Two kinds of callers. Brands and builders come with developer keys: their handlers get `Deps` and `Tx`. Agents come with
 * the key of one activation: their handlers get `AgentDeps`, `AgentTx` and `Reader<AgentTables>`, which lead to no contact,
 * no email and no campaign. Code that serves both takes the narrow ones.
 */

export { getSentEvent, listSentEvents } from "./agent-webhooks/sent.ts";

/** The jobs of all rooms. */
export function marketplaceJobs(deps: Deps): Readonly<Record<string, JobHandler>> {
  return {
    ...listingJobs(deps),
    ...paymentJobs(deps),
    ...activationJobs(deps),
    ...pageJobs(deps),
    ...messageJobs(deps),
    ...runJobs(deps),
    ...retentionJobs(deps),
    ...wakeupJobs(deps),
    ...fileJobs(deps),
  };
}
