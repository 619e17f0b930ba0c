/** What other rooms use of the delivery engine. */
export { type Attempt, HINTS } from "./attempt.ts";
export type { ComposedEvent, Endpoint, Failure, LoadEndpoint, Message, WebhookPolicy, Webhooks, WebhookWorker } from "./endpoint.ts";
export {
  findLatestEventAt,
  type NewWebhookEvent,
  openBody,
  releaseStreams,
  reviveDeadEvents,
  reviveEvents,
  withdrawEvents,
  writeDeliveries,
  writeEvents,
} from "./outbox.ts";
export { recordManualAttempt } from "./outcomes.ts";
export { ATTEMPT_TIMEOUT_MS, type RetrySchedule } from "./retry-policy.ts";
export { getCurrentSecret, getSigningSecrets, makeSecret, sealSecret } from "./secrets.ts";
export { listAttempts, listTurns, showLastAttempt, type Turn } from "./show.ts";
export { deleteAsideStreams, type EventRow, hurryStreams, type OpenEvent } from "./streams.ts";
