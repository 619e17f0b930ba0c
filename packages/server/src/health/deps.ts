import type { RelayState } from "@mailsvc/sdk/contract";
import type { Db } from "../db/db.ts";
import type { EventReaderDeps } from "../events/deps.ts";
import type { StorageHealth } from "../http/storage-health.ts";
import type { InboundDeps } from "../inbound/deps.ts";
import type { Clock } from "../lib/clock.ts";
import type { Queue } from "../queue/queue.ts";
import type { SubmissionDeps } from "../submission/deps.ts";
import type { WebhookDeps } from "../webhooks/deps.ts";

/** What readiness needs. */
export interface HealthDeps {
  readonly clock: Clock;
  readonly db: Db;
  readonly queue: Queue;
  /** Whether the database can take writes. */
  readonly storage: StorageHealth;
  readonly version: string;
  /** The mail servers, by name, and whether each is in service. */
  readonly relays: { states(): Record<string, RelayState> };
  /** Where mail came from over SMTP. */
  readonly inboundPeers: InboundDeps["inboundPeers"];
  /** The readers of events. */
  readonly eventReaders: EventReaderDeps["eventReaders"];
  /** Where mail is taken over SMTP. */
  readonly submissionPorts: SubmissionDeps["submissionPorts"];
}

/** What metrics need. */
export interface MetricsDeps extends HealthDeps {
  readonly webhooks: WebhookDeps["webhooks"];
}
