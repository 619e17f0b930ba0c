export type { Activation } from "./activations.ts";
export { type Agent, createAgent } from "./agent.ts";
export type { AgentClient, CallOptions } from "./client.ts";
export {
  type AgentApi,
  type AgentEvent,
  type AgentEvents,
  EVENT_KEYS,
} from "./contract.generated.ts";
export type { Context } from "./dispatcher.ts";
export {
  AgentApiError,
  AgentConnectionError,
  AgentDeactivatedError,
  AgentKitError,
  AgentPausedError,
  AgentStoppedError,
  MissingKeyError,
  ParsedBodyError,
  RunEndedError,
  RunWaitingError,
  StoreError,
  UsageError,
} from "./errors.ts";
export { eventKey, type HandledEvent, type HandledEvents, type UnknownEvent } from "./event.ts";
export type { DeadEvent } from "./event-log.ts";
export type { Handler } from "./handlers.ts";
export type { ErrorHandler, HandleOptions } from "./intake.ts";
export type { Json } from "./json.ts";
export type { AgentOptions } from "./options.ts";
export type { Reply, RequestHeaders, Secrets } from "./receive.ts";
export type {
  ApprovalAnswer,
  ApprovalRequest,
  CampaignProposal,
  CreditsRequest,
  ExactOutcome,
  Run,
  RunOptions,
  RunOutcome,
  RunResult,
  TemplateProposal,
  WakeupRequest,
} from "./run.ts";
export type { AgentClock } from "./runtime.ts";
export type { Concurrency } from "./slots.ts";
export type { Step } from "./steps.ts";
export { memoryStore } from "./stores/memory.ts";
export type { Store } from "./stores/store.ts";
export type { Telemetry, TelemetrySpan } from "./telemetry.ts";
export { createVault, type Vault, type VaultOptions } from "./vault.ts";
export { SIGNATURE_HEADER, type SignedDelivery, verifySignature } from "./verify.ts";
export { WorkLimitError } from "./work-limits.ts";
export type { Failure } from "./worker.ts";
