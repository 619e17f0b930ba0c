import type { AgentContract } from "@mailsvc/sdk/contract";
import type { CounterTables } from "../counters/tables.ts";
import type { Reader, Tx } from "../db/db.ts";
import type { Handlers } from "../http/handler.ts";
import type { Clock } from "../lib/clock.ts";
import type { Ids } from "../lib/ids.ts";
import type { KeyedSignal } from "../lib/keyed-signal.ts";
import type { Log } from "../lib/log.ts";
import type { Random } from "../lib/random.ts";
import type { Seal } from "../lib/seal.ts";
import type { Tracing } from "../lib/tracing.ts";
import type { ListTables } from "../lists/tables.ts";
import type { NewJob } from "../queue/queue.ts";
import type { WebhookTables } from "../webhooks/tables.ts";
import type { OutboxDeps } from "../webhooks/webhooks.ts";
import type { WorkspaceTables } from "../workspaces/tables.ts";
import type { ActivationTables } from "./activations/tables.ts";
import type { AgentWebhookTables } from "./agent-webhooks/tables.ts";
import type { CreditTables } from "./credits/tables.ts";
import type { Staging } from "./files/staging.ts";
import type { FileTables } from "./files/tables.ts";
import type { PageTables } from "./landing-pages/tables.ts";
import type { ListingTables } from "./listings/tables.ts";
import type { MessageTables } from "./messages/tables.ts";
import type { RunClock } from "./runs/clock.ts";
import type { RunTables } from "./runs/tables.ts";
import type { WakeupTables } from "./wakeups/tables.ts";

/**
 * The tables that code acting for an agent may query (docs/security.md#who-is-trusted-with-what). Contacts, emails, campaigns and what is
 * derived from them are missing: a handler of the agent API that reaches for one does not compile.
 */
export interface AgentTables
  extends WorkspaceTables,
    ListingTables,
    ActivationTables,
    Pick<WebhookTables, "webhookEvents" | "webhookStreams">,
    AgentWebhookTables,
    RunTables,
    MessageTables,
    CreditTables,
    WakeupTables,
    Pick<PageTables, "landingPages" | "landingPageDays" | "landingPageReferrers">,
    FileTables,
    // The names of lists and their member counts; the members are in other tables.
    Pick<ListTables, "lists">,
    CounterTables {}

/** Reads committed rows, or rows of a transaction, for an agent. */
export type AgentQuery = Reader<AgentTables> | Tx<AgentTables>;

/** A transaction that acts for an agent. */
export type AgentTx = Tx<AgentTables>;

/**
 * The dependencies of code that acts for an agent: nothing with which it could store or send for the brand, and only the jobs of
 * the agent API. The dependencies of a brand's handler can be passed where these are required, but not the other way round.
 */
export interface AgentDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly log: Log;
  readonly tracing: Tracing | null;
  readonly seal: Seal;
  readonly runClock: RunClock;
  readonly staging: Staging;
  readonly config: { readonly dev: boolean; readonly maxBodyBytes: number };
  readonly webhooks: OutboxDeps["webhooks"];
  /** Wakes those who follow the deliveries of a listing, by its id. */
  readonly deliverySignal: KeyedSignal;
  readonly queue: { enqueue(tx: AgentTx, ...jobs: readonly (NewJob & { kind: `agent.${string}` })[]): Promise<void> };
  /** The public address of this server, without a trailing slash. */
  baseUrl(): string;
}

/** The handlers of a noun of the agent API. */
export type AgentHandlers<Noun extends keyof AgentContract> = Handlers<AgentContract[Noun], AgentDeps, AgentTables>;
