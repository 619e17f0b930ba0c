/** An error of the agent kit. `code` tells the kinds apart. */
export abstract class AgentKitError extends Error {
  abstract readonly code: string;
}

/** The options of `createAgent`, or the way a method is called, are wrong. */
export class UsageError extends AgentKitError {
  override name = "UsageError";
  readonly code = "usage";
}

/** The body was parsed before the agent saw it, so its signature cannot be verified. The message names the framework's remedy. */
export class ParsedBodyError extends AgentKitError {
  override name = "ParsedBodyError";
  readonly code = "parsed_body";

  constructor(remedy: string) {
    super(`The body was read before the agent saw it. Its signature covers the raw bytes, which are gone. ${remedy}`);
  }
}

/** The activation is paused. Calls work again, with the same key, after agent.resumed. */
export class AgentPausedError extends AgentKitError {
  override name = "AgentPausedError";
  readonly code = "activation_paused";
  readonly activationId: string;

  constructor(activationId: string, reason: string | null) {
    super(`The activation ${activationId} is paused${reason === null ? "" : ` (${reason})`}. Calls work again after agent.resumed.`);
    this.activationId = activationId;
  }
}

/** The activation ended. Its key never works again. */
export class AgentDeactivatedError extends AgentKitError {
  override name = "AgentDeactivatedError";
  readonly code = "activation_deactivated";
  readonly activationId: string;

  constructor(activationId: string, reason: string | null) {
    super(`The activation ${activationId} was deactivated${reason === null ? "" : ` (${reason})`}. Its key never works again.`);
    this.activationId = activationId;
  }
}

/** The vault has no key of this activation: its agent.activated has not arrived here, or the store is another one. */
export class MissingKeyError extends AgentKitError {
  override name = "MissingKeyError";
  readonly code = "missing_key";
  readonly activationId: string;

  constructor(activationId: string) {
    super(`There is no key for the activation ${activationId}. It arrives once, with agent.activated: check that the store is the same.`);
    this.activationId = activationId;
  }
}

/** The run is over: it failed, was cancelled, or the service refuses it. `status` is its state, if known. */
export class RunEndedError extends AgentKitError {
  override name = "RunEndedError";
  readonly code = "run_ended";
  readonly runId: string;
  readonly status: string | null;

  constructor(runId: string, status: string | null, reason: string, options?: ErrorOptions) {
    super(`The run ${runId} is over: ${reason}`, options);
    this.runId = runId;
    this.status = status;
  }
}

/** The agent was stopped in this process. Its unfinished events are continued by the next one. */
export class AgentStoppedError extends AgentKitError {
  override name = "AgentStoppedError";
  readonly code = "stopped";

  constructor() {
    super("The agent was stopped. The next process that starts it continues.");
  }
}

/**
 * The run waits for an answer or a wakeup and holds nothing meanwhile: its event is laid aside, and its work begins again, from the results of its
 * steps, when what it waits for is there.
 */
export class RunWaitingError extends AgentKitError {
  override name = "RunWaitingError";
  readonly code = "run_waiting";
  /** The ids of the messages and wakeups whose answers it waits for; one of them suffices. */
  readonly waitsFor: readonly string[];

  constructor(waitsFor: readonly string[]) {
    super(`The run waits for ${waitsFor.join(", ")}. Its work begins again with the answer.`);
    this.waitsFor = waitsFor;
  }
}

/** @internal Another process works on the event that this one is to continue. */
export class EventBusyError extends AgentKitError {
  override name = "EventBusyError";
  readonly code = "event_busy";

  constructor() {
    super("Another process works on the event that goes on with this one.");
  }
}

/** The service answered with an error (docs/reference/errors.md). */
export class AgentApiError extends AgentKitError {
  override name = "AgentApiError";
  /** The code of the service, such as `limit_reached`. */
  readonly code: string;
  /** The HTTP status. */
  readonly status: number;
  /** The invalid fields, or what else the service names. */
  readonly details: readonly { readonly path: string; readonly code: string; readonly message: string }[];
  /** Include it when you report a problem. */
  readonly requestId: string | null;

  constructor(init: Pick<AgentApiError, "code" | "status" | "details" | "requestId" | "message">) {
    super(init.message);
    this.code = init.code;
    this.status = init.status;
    this.details = init.details;
    this.requestId = init.requestId;
  }
}

/** No complete answer of the service arrived, after all attempts. */
export class AgentConnectionError extends AgentKitError {
  override name = "AgentConnectionError";
  readonly code = "connection";
}

/** The store could not be read or written; `cause` is its error. Events and runs go on when it works again. */
export class StoreError extends AgentKitError {
  override name = "StoreError";
  readonly code = "store";

  constructor(cause: unknown) {
    super(`The store failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** True if handling an event again is pointless: its activation or run is over, or the service refuses its key. */
export function isFinal(error: unknown): boolean {
  if (error instanceof AgentApiError) return error.status === 401;
  return [AgentDeactivatedError, RunEndedError].some((kind) => error instanceof kind);
}

/** True if the same work can succeed later without a change: the service was overloaded, or it or the store could not be reached. */
export function isTransient(error: unknown): boolean {
  if (error instanceof AgentConnectionError || error instanceof StoreError) return true;
  return error instanceof AgentApiError && (error.status >= 500 || error.status === 429 || error.status === 408);
}
