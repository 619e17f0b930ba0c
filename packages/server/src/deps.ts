import type { Config } from "./config.ts";
import type { Audience } from "./contacts/contacts.ts";
import type { Db, Reader, Tx } from "./db/db.ts";
import type { MailTransform } from "./delivery/delivery.ts";
import type { StatusListener } from "./emails/emails.ts";
import type { EventListener } from "./events/events.ts";
import type { EventStream } from "./events/stream.ts";
import type { StorageHealth } from "./http/storage-health.ts";
import type { ReturnPath, SnsClient } from "./inbound/inbound.ts";
import type { KeyCache } from "./keys/key-cache.ts";
import type { Clock } from "./lib/clock.ts";
import type { Ids } from "./lib/ids.ts";
import type { Log } from "./lib/log.ts";
import type { Macs } from "./lib/macs.ts";
import type { Random } from "./lib/random.ts";
import type { Limiter } from "./lib/rate.ts";
import type { Seal } from "./lib/seal.ts";
import type { Tracing } from "./lib/tracing.ts";
import type { Mailer } from "./mail/mailer.ts";
import type { ActivationHooks } from "./marketplace/activations/lifecycle.ts";
import type { Staging } from "./marketplace/files/staging.ts";
import type { ListingHooks } from "./marketplace/listings/lifecycle.ts";
import type { PaymentProvider } from "./marketplace/payments/provider.ts";
import type { RunClock } from "./marketplace/runs/clock.ts";
import type { NewJob, Queue } from "./queue/queue.ts";
import type { AgentTables } from "./schema.ts";
import type { DomainRecords } from "./senders/dns.ts";
import type { VerifiedSenders } from "./senders/verified-senders.ts";
import type { CompiledTemplates } from "./templates/templates.ts";
import type { Tracker } from "./tracking/tracking.ts";
import type { Webhooks } from "./webhooks/endpoint.ts";

/** Everything the product depends on. Created in one place (`app.ts`) and passed down; no module holds global state. */
export interface Deps {
  readonly config: Config;
  readonly version: string;
  readonly db: Db;
  readonly queue: Queue;
  readonly mailer: Mailer;
  readonly dns: DomainRecords;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly log: Log;
  /** Traces; null when they are off. */
  readonly tracing: Tracing | null;
  readonly keyCache: KeyCache;
  readonly verified: VerifiedSenders;
  readonly seal: Seal;
  readonly macs: Macs;
  readonly tracker: Tracker;
  readonly compiledTemplates: CompiledTemplates;
  /** The addresses of emails at the inbound domain. */
  readonly returnPath: ReturnPath;
  readonly sns: SnsClient;
  readonly payments: PaymentProvider;
  readonly runClock: RunClock;
  readonly webhooks: Webhooks;
  readonly staging: Staging;
  /** Rate limits, shared by all servers on one database. */
  readonly limiter: Limiter;
  /** True while requests wait for the process: what can be done after accepting them is then left for later. */
  readonly overloaded: () => boolean;
  /** Contacts that become recipients of a campaign in one transaction. */
  readonly recipientsAtOnce: number;
  /** Whether the database can take writes. */
  readonly storage: StorageHealth;
  readonly audience: Audience;
  readonly mailTransforms: readonly MailTransform[];
  readonly statusListeners: readonly StatusListener[];
  readonly eventListeners: readonly EventListener[];
  readonly eventStream: EventStream;
  readonly listingHooks: ListingHooks;
  readonly activationHooks: ActivationHooks;
  /** The public address of this server, without a trailing slash. Known once it listens. */
  baseUrl(): string;
  /** The port this server listens on; null while it does not listen. */
  ownPort(): number | null;
}

/**
 * The dependencies of code that acts for an agent: nothing with which it could store or send for the brand, and only the jobs of the
 * agent API. `Deps` and `Tx` can be passed where these are required, but not the other way round.
 */
export interface AgentDeps
  extends Pick<Deps, "clock" | "random" | "ids" | "log" | "tracing" | "seal" | "runClock" | "staging" | "baseUrl"> {
  readonly config: Pick<Config, "dev" | "maxBodyBytes">;
  readonly webhooks: Pick<Webhooks, "wake">;
  readonly queue: { enqueue(tx: AgentTx, job: NewJob & { kind: `agent.${string}` }): Promise<void> };
}

/** Reads committed rows, or rows of a transaction, for an agent. */
export type AgentQuery = Reader<AgentTables> | Tx<AgentTables>;

/** A transaction that acts for an agent. */
export type AgentTx = Tx<AgentTables>;
