import type { Db } from "../db/db.ts";
import type { Clock } from "../lib/clock.ts";
import type { Guard } from "../lib/guard-url.ts";
import type { Log } from "../lib/log.ts";
import type { Random } from "../lib/random.ts";
import type { Seal } from "../lib/seal.ts";
import type { Tracing } from "../lib/tracing.ts";
import type { Queue } from "../queue/queue.ts";
import type { Webhooks } from "./endpoint.ts";

/** Public interface of the delivery engine. */

export type { RetrySchedule } from "./attempt.ts";
export { type Attempt, explainAttempt } from "./attempt.ts";
export type { ComposedEvent, Endpoint, Failure, LoadEndpoint, WebhookPolicy } from "./endpoint.ts";
export { type FetchFile, FileFault } from "./fetch-file.ts";
export {
  isHeld,
  type NewWebhookEvent,
  openBody,
  recoverEvents,
  releaseStreams,
  reviveDeadEvents,
  reviveEvents,
  withdrawEvents,
  writeDeliveries,
  writeEvents,
} from "./outbox.ts";
export { recordManualAttempt } from "./outcomes.ts";
export { getCurrentSecret, getSigningSecrets, makeSecret, sealSecret } from "./secrets.ts";
export { describeAttempts, explainDelivery, listAttempts, listTurns, showLastAttempt, type Turn } from "./show.ts";
export { deleteAsideStreams, deleteAttempts, type EventRow, hurryStreams, recoverStreams } from "./streams.ts";

/** Dependencies for writing events for webhooks. */
export interface OutboxDeps {
  readonly clock: Clock;
  readonly seal: Seal;
  /** Traces; null when they are off. */
  readonly tracing: Tracing | null;
  readonly webhooks: Pick<Webhooks, "wake">;
}

/** Dependencies of the delivery engine. */
export interface WebhookDeps extends OutboxDeps {
  readonly db: Db;
  readonly log: Log;
  readonly queue: Queue;
  readonly random: Random;
  readonly version: string;
  readonly webhooks: Webhooks;
  /** The addresses that webhooks may have. */
  readonly webhookGuard: Guard;
  readonly config: { readonly dev: boolean };
}
