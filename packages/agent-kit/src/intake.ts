import type { Activations } from "./activations.ts";
import type { Answers } from "./answers.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { AgentDeactivatedError, AgentPausedError, isFinal, MissingKeyError, RunEndedError } from "./errors.ts";
import { eventKey, type HandledEvent, isKnown, type UnknownEvent } from "./event.ts";
import type { EventLog, Lease } from "./event-log.ts";
import type { Settings } from "./options.ts";
import { assertSecrets, type Reply, type RequestHeaders, receive, reply } from "./receive.ts";
import type { RunRegistry } from "./run-registry.ts";
import { systemClock } from "./runtime.ts";
import type { Slot } from "./slots.ts";
import type { Failure, Worker } from "./worker.ts";

type AnyEvent = HandledEvent | UnknownEvent;

/** Work that goes on after the response, for platforms that must know of it, such as `waitUntil` of Workers. */
export interface HandleOptions {
  waitUntil?: (work: Promise<unknown>) => void;
}

/** Errors of handlers, with the event they are about. */
export type ErrorHandler = (error: unknown, about: Failure & { event: AnyEvent | null }) => unknown;

interface IntakeDeps {
  readonly settings: Settings;
  readonly log: EventLog;
  readonly worker: Worker;
  readonly dispatcher: Dispatcher;
  readonly activations: Activations;
  readonly answers: Answers;
  readonly runs: RunRegistry;
  readonly onError: ErrorHandler;
}

// The service waits eight seconds.
const INLINE_MS = 7000;
/** Inline, the service decides how much comes at the same time. */
const OWN_SLOT: Slot = { lend: (wait) => wait() };

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
    return mode === "inbox" ? this.#acceptInbox(key, event, options) : this.#acceptInline(key, event, options);
  }

  async #acceptInbox(key: string, event: AnyEvent, options: HandleOptions): Promise<Reply> {
    const { log, worker } = this.#deps;
    await this.#apply(event, options);
    if (!(await log.put(key, event))) return reply(200, { received: true, duplicate: true });
    const work = worker.process(key, event.activationId);
    options.waitUntil?.(work);
    return reply(200, { received: true });
  }

  async #acceptInline(key: string, event: AnyEvent, options: HandleOptions): Promise<Reply> {
    const lease = await this.#deps.log.claim(key, event);
    if (lease === "done") return reply(200, { received: true, duplicate: true });
    if (lease === "busy") return reply(503, { error: "in_progress", hint: "An earlier delivery of this event is being handled." }, 2);
    const work = this.#performInline(lease, event, options);
    // The handlers go on beyond the limit; the next delivery finds out how they ended.
    const late = new Promise<Reply>((done) => {
      const cancel = systemClock.after(INLINE_MS, () =>
        done(reply(503, { error: "handler_slow", hint: "The handlers are still at work." }, 5)),
      );
      void work.finally(cancel).catch(() => {});
    });
    return Promise.race([work, late]);
  }

  async #performInline(lease: Lease, event: AnyEvent, options: HandleOptions): Promise<Reply> {
    const release = this.#deps.worker.keep(lease);
    try {
      await this.#apply(event, options);
      await this.#deps.dispatcher.perform(lease, OWN_SLOT);
      release();
      await lease.complete();
      return reply(200, { received: true });
    } catch (error) {
      release();
      return this.#failInline(lease, error);
    }
  }

  async #failInline(lease: Lease, error: unknown): Promise<Reply> {
    // The event waits in the store for the end of the pause, or for its key.
    if (error instanceof AgentPausedError || error instanceof MissingKeyError) {
      await this.#deps.worker.settle(lease, error);
      return reply(200, { received: true });
    }
    const willRetry = !isFinal(error);
    await this.#deps.onError(error, { key: lease.key, attempt: lease.attempts + 1, willRetry, event: lease.event });
    await (willRetry ? lease.release() : lease.complete());
    return willRetry ? reply(500, { error: "handler_failed" }) : reply(200, { received: true });
  }

  /** What the kit itself does for an event, before its handlers run and before it is acknowledged. */
  async #apply(event: AnyEvent, { waitUntil }: HandleOptions): Promise<void> {
    if (!isKnown(event)) return;
    const { answers, runs, worker } = this.#deps;
    const { activationId } = event;
    await answers.record(event);
    if (event.type === "agent.paused") runs.abort({ activationId }, () => new AgentPausedError(activationId, event.reason));
    if (event.type === "agent.deactivated") runs.abort({ activationId }, () => new AgentDeactivatedError(activationId, event.reason));
    if (event.type === "run_force_failed")
      runs.abort({ activationId, runId: event.runId }, (runId) => new RunEndedError(runId, "FAILED", "it sent no heartbeat."));
    // Events wait for the end of a pause, and those that came too early for their key.
    if (["agent.activated", "agent.resumed", "agent.deactivated"].includes(event.type))
      for (const work of await worker.wake(activationId)) waitUntil?.(work);
  }
}

/** Removes the key, which is in the vault by then. */
function withoutKey(event: Parameters<typeof eventKey>[0]): AnyEvent {
  if (event.type !== "agent.activated") return event as AnyEvent;
  const { apiKey: _apiKey, ...rest } = event as { apiKey: string } & UnknownEvent;
  return rest;
}
