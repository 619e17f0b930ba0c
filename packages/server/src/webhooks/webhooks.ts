/** Public interface of the delivery engine. */
export { type Attempt, explainAttempt } from "./attempt.ts";
export type { ComposedEvent, Endpoint, Failure, LoadEndpoint, WebhookPolicy } from "./endpoint.ts";
export { describeAttempts, explainDelivery } from "./explain.ts";
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
export type { RetrySchedule } from "./retry-policy.ts";
export { getCurrentSecret, getSigningSecrets, makeSecret, sealSecret } from "./secrets.ts";
export { listAttempts, listTurns, showLastAttempt, type Turn } from "./show.ts";
export { deleteAsideStreams, type EventRow, hurryStreams, recoverStreams } from "./streams.ts";
