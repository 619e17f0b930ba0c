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
