export type { Activation } from "./activations.ts";
export { type Agent, type AgentOptions, type Context, createAgent, type ErrorHandler, type HandleOptions } from "./agent.ts";
export type { AgentClient, CallOptions } from "./client.ts";
export {
  type AgentApi,
  type AgentEvent,
  type AgentEvents,
  EVENT_KEYS,
} from "./contract.generated.ts";
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
  StoreError,
  UsageError,
} from "./errors.ts";
export { eventKey, type HandledEvent, type HandledEvents, type UnknownEvent } from "./event.ts";
export type { Handler } from "./handlers.ts";
export type { Reply, RequestHeaders, Secrets } from "./receive.ts";
export type { ApprovalAnswer, ApprovalRequest, Run, RunOptions, RunOutcome, RunResult } from "./run.ts";
export type { AgentClock } from "./runtime.ts";
export type { Step } from "./steps.ts";
export { memoryStore } from "./stores/memory.ts";
export type { Store } from "./stores/store.ts";
export { createVault, type Vault, type VaultOptions } from "./vault.ts";
export { SIGNATURE_HEADER, type SignedDelivery, verifySignature } from "./verify.ts";
export type { Failure } from "./worker.ts";
