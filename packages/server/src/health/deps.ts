import type { RelayState } from "@mailsvc/sdk/contract";
import type { Db } from "../db/db.ts";
import type { EventReaderDeps } from "../events/deps.ts";
import type { StorageHealth } from "../http/storage-health.ts";
import type { InboundDeps } from "../inbound/deps.ts";
import type { Clock } from "../lib/clock.ts";
import type { MailMetricsDeps } from "../metrics/deps.ts";
import type { Queue } from "../queue/queue.ts";
import type { SubmissionDeps } from "../submission/deps.ts";
import type { WebhookDeps } from "../webhooks/deps.ts";

export interface HealthDeps {
  readonly clock: Clock;
  readonly db: Db;
  readonly queue: Queue;
  /** Tells if the database can take writes. */
  readonly storage: StorageHealth;
  readonly version: string;
  /** The mail servers, by name, and whether each is in service. */
  readonly relays: { states(): Record<string, RelayState> };
  /** Origins of recent mail over SMTP. */
  readonly inboundPeers: InboundDeps["inboundPeers"];
  /** The readers of events. */
  readonly eventReaders: EventReaderDeps["eventReaders"];
  /** Ports that take mail over SMTP. */
  readonly submissionPorts: SubmissionDeps["submissionPorts"];
}

export interface MetricsDeps extends HealthDeps {
  readonly mailCounters: MailMetricsDeps["mailCounters"];
  readonly webhooks: WebhookDeps["webhooks"];
}
