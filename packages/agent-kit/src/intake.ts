import type { Activations } from "./activations.ts";
import { type Answers, answerIdOf } from "./answers.ts";
import { AgentDeactivatedError, AgentPausedError, EventBusyError, isFinal, MissingKeyError, RunEndedError } from "./errors.ts";
import { eventKey, type HandledEvent, isKnown, toKnown, type UnknownEvent } from "./event.ts";
import type { EventLog, Lease } from "./event-log.ts";
import type { Settings } from "./options.ts";
import { assertSecrets, type Reply, type RequestHeaders, receive, reply } from "./receive.ts";
import type { RunRegistry } from "./run-registry.ts";
import { systemClock } from "./runtime.ts";
import type { Failure, Worker } from "./worker.ts";

type AnyEvent = HandledEvent | UnknownEvent;

/** Work that goes on after the response, for platforms that must know of it, such as `waitUntil` of Workers. */
export interface HandleOptions {
  waitUntil?: (work: Promise<unknown>) => void;
}

/** Errors of handlers, with the event they are about: null outside of handlers, and of a type newer than this package, which `key` names. */
export type ErrorHandler = (error: unknown, about: Failure & { event: HandledEvent | null }) => unknown;

interface IntakeDeps {
  readonly settings: Settings;
  readonly log: EventLog;
  readonly worker: Worker;
  readonly activations: Activations;
  readonly answers: Answers;
  readonly runs: RunRegistry;
  readonly onError: ErrorHandler;
}

// The service waits eight seconds.
const INLINE_MS = 7000;

/** Answers the requests to a webhook. */
export class Intake {
  readonly #deps: IntakeDeps;

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
  }

  async handle(body: Uint8Array | string, headers: RequestHeaders, options: HandleOptions): Promise<Reply> {
    const { settings, log, activations } = this.#deps;
    const { secret, mode } = settings;
    const secrets = typeof secret === "function" ? await secret() : secret;
    if (typeof secret === "function") assertSecrets(secrets);
    const received = receive(body, headers, secrets);
    if ("refusal" in received) return received.refusal as Reply;
    const key = eventKey(received);
    if (mode === "inbox" && (await log.has(key))) return reply(200, { received: true, duplicate: true });
    const event = withoutKey(received);
    if ((await activations.apply(received)) === "stale") return reply(200, { received: true, stale: true });
    return mode === "inbox" ? this.#acceptInbox(key, event, options) : this.#acceptInline(key, event);
  }

  async #acceptInbox(key: string, event: AnyEvent, options: HandleOptions): Promise<Reply> {
    const { log, worker } = this.#deps;
    await this.#apply(event);
    if (wakes(event)) for (const woken of await worker.wake(event.activationId)) options.waitUntil?.(woken);
    if (!(await log.put(key, event))) return reply(200, { received: true, duplicate: true });
    worker.warnUnlessStarted();
    const work = worker.process(key, event.activationId);
    options.waitUntil?.(work);
    return reply(200, { received: true });
  }

  async #acceptInline(key: string, event: AnyEvent): Promise<Reply> {
    const lease = await this.#deps.log.claim(key, event);
    if (lease === "done") return reply(200, { received: true, duplicate: true });
    if (lease === "busy") return busy();
    const work = this.#performInline(lease, event);
    // The handlers go on beyond the limit; the next delivery finds out how they ended.
    const late = new Promise<Reply>((done) => {
      const cancel = systemClock.after(INLINE_MS, () =>
        done(reply(503, { error: "handler_slow", hint: "The handlers are still at work." }, 5)),
      );
      void work.finally(cancel).catch(() => {});
    });
    return Promise.race([work, late]);
  }

  async #performInline(lease: Lease, event: AnyEvent): Promise<Reply> {
    const { log, worker } = this.#deps;
    try {
      await this.#apply(event);
      // Runs that waited for this event go on within its delivery: nothing runs between requests.
      const answerId = answerIdOf(event);
      const waiting = answerId === null ? null : await log.findWaiting(answerId);
      for (const key of [...(waiting === null ? [] : [waiting]), ...(wakes(event) ? await log.listWaking(event.activationId) : [])])
        await this.#continue(key);
      await worker.perform(lease);
      return reply(200, { received: true });
    } catch (error) {
      return this.#failInline(lease, error);
    }
  }

  /** Goes on with an event that was laid aside. It stays so when its handlers fail: the event that woke it is delivered again. */
  async #continue(key: string): Promise<void> {
    const lease = await this.#deps.log.resume(key);
    if (lease === "gone") return;
    if (lease === "busy") throw new EventBusyError();
    try {
      await this.#deps.worker.perform(lease);
    } catch (error) {
      if (isLater(error)) return this.#deps.worker.settle(lease, error);
      if (!isFinal(error)) {
        await lease.park();
        throw error;
      }
      await this.#tell(lease, error, false);
      await lease.complete();
    }
  }

  async #failInline(lease: Lease, error: unknown): Promise<Reply> {
    // The event waits in the store for the end of the pause, or for its key.
    if (isLater(error)) {
      await this.#deps.worker.settle(lease, error);
      return reply(200, { received: true });
    }
    if (error instanceof EventBusyError) {
      await lease.release();
      return busy();
    }
    const willRetry = !isFinal(error);
    await this.#tell(lease, error, willRetry);
    await (willRetry ? lease.release() : lease.complete());
    return willRetry ? reply(500, { error: "handler_failed" }) : reply(200, { received: true });
  }

  async #tell({ key, attempts, event }: Lease, error: unknown, willRetry: boolean): Promise<void> {
    await this.#deps.onError(error, { key, attempt: attempts + 1, willRetry, event: toKnown(event) });
  }

  /** Applies an event to the kit's own state, before its handlers run and before it is acknowledged. */
  async #apply(event: AnyEvent): Promise<void> {
    if (!isKnown(event)) return;
    const { answers, runs } = this.#deps;
    const { activationId } = event;
    await answers.record(event);
    if (event.type === "agent.paused") runs.abort({ activationId }, () => new AgentPausedError(activationId, event.reason));
    if (event.type === "agent.deactivated") runs.abort({ activationId }, () => new AgentDeactivatedError(activationId, event.reason));
    if (event.type === "run_force_failed")
      runs.abort({ activationId, runId: event.runId }, (runId) => new RunEndedError(runId, "FAILED", "it sent no heartbeat."));
  }
}

/** True if events of the activation go on with this one: they wait for the end of a pause, or came too early for their key. */
function wakes({ type }: AnyEvent): boolean {
  return ["agent.activated", "agent.resumed", "agent.deactivated"].includes(type);
}

/** True if the event waits in the store, although its delivery is acknowledged. */
function isLater(error: unknown): boolean {
  return error instanceof AgentPausedError || error instanceof MissingKeyError;
}

function busy(): Reply {
  return reply(503, { error: "in_progress", hint: "An earlier delivery of this event is being handled." }, 2);
}

/** Removes the key, which is in the vault by then. */
function withoutKey(event: Parameters<typeof eventKey>[0]): AnyEvent {
  if (event.type !== "agent.activated") return event as AnyEvent;
  const { apiKey: _apiKey, ...rest } = event as { apiKey: string } & UnknownEvent;
  return rest;
}
