import { createHash } from "node:crypto";
import type { Activation, Activations } from "./activations.ts";
import type { Answers } from "./answers.ts";
import type { AgentClient } from "./client.ts";
import type { Clients } from "./clients.ts";
import { RunWaitingError } from "./errors.ts";
import type { HandledEvent, UnknownEvent } from "./event.ts";
import type { Lease } from "./event-log.ts";
import type { Handlers } from "./handlers.ts";
import type { Settings } from "./options.ts";
import { goesOnLater, performRun } from "./perform-run.ts";
import type { ExactOutcome, Run, RunOptions, RunResult } from "./run.ts";
import type { RunRegistry } from "./run-registry.ts";
import { systemClock } from "./runtime.ts";

/** Argument of a handler. */
export interface Context<E = HandledEvent> {
  /** The event; the key of agent.activated is in the vault instead. */
  readonly event: E;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  readonly activationId: string;
  /** The API of the activation. */
  readonly client: AgentClient;
  /** Id, key and address, for your own client such as `new AgentClient(await credentials())` of @mailsvc/sdk. */
  credentials(): Promise<{ activationId: string; apiKey: string; baseUrl: string }>;
  /** Returns the record of the activation; null without one. */
  activation(): Promise<Activation | null>;
  /**
   * Starts a run and works on it: the run completes when `work` returns and fails when it throws. Heartbeats are sent meanwhile. When
   * a crash or a pause repeats the event, the same run goes on. Rejects with RunEndedError if the run failed or was cancelled.
   *
   * An event is done when its handlers and all runs they started are, also those they did not wait for. `async (run: Run<{ next: number }>) =>`
   * gives its checkpoints a type.
   */
  run<R, C = unknown>(options: RunOptions, work: (run: Run<C>) => Promise<R & ExactOutcome<R>>): Promise<RunResult>;
}

interface DispatcherDeps {
  readonly settings: Settings;
  readonly handlers: Handlers<Context<never>>;
  readonly activations: Activations;
  readonly answers: Answers;
  readonly clients: Clients;
  readonly runs: RunRegistry;
}

/** Runs the handlers of events, and the runs they start. */
export class Dispatcher {
  readonly #deps: DispatcherDeps;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
  }

  /** Rejects with the error of the handler or run that failed. */
  async perform({ event, key, attempts }: Lease): Promise<void> {
    if (event === null) return;
    const { settings, handlers, activations, clients } = this.#deps;
    const { activationId } = event;
    const started = new StartedRuns();
    const context: Context<HandledEvent | UnknownEvent> = {
      event,
      attempt: attempts + 1,
      activationId,
      client: clients.of(activationId),
      credentials: async () => ({ activationId, apiKey: await activations.authorize(activationId), baseUrl: settings.baseUrl }),
      activation: () => activations.read(activationId),
      run: (options, work) => started.add((number) => this.#run(event, key, number, options, work as (run: Run) => Promise<unknown>)),
    };
    const attributes = { activationId, key, type: event.type, attempt: attempts + 1 };
    await settings.telemetry({ name: "event", attributes }, async () => {
      const failures: unknown[] = [];
      await handlers.run(event, context as Context<never>).catch((error) => failures.push(error));
      await started.end(failures);
    });
  }

  #run(
    event: HandledEvent | UnknownEvent,
    key: string,
    number: number,
    options: RunOptions,
    work: (run: Run) => Promise<unknown>,
  ): Promise<RunResult> {
    const { settings, answers, clients, runs } = this.#deps;
    const { activationId } = event;
    const runId = options?.id ?? runIdOf(activationId, key, number);
    const deps = {
      client: clients.of(activationId),
      observedClient: (around: <T>(call: () => Promise<T>) => Promise<T>) => clients.of(activationId, around),
      store: settings.store,
      clock: settings.clock ?? systemClock,
      answers,
      telemetry: settings.telemetry,
      keepMs: settings.keepMs,
      register: (abort: (reason: Error) => void) => runs.add({ activationId, runId, key }, abort),
    };
    return performRun(deps, runId, { trigger: triggerOf(event), ...options }, work);
  }
}

/** The runs that the handlers of an event started. */
class StartedRuns {
  readonly #all: Promise<RunResult>[] = [];
  readonly #open = new Set<Promise<RunResult>>();
  readonly #goesOn: unknown[] = [];

  add(start: (number: number) => Promise<RunResult>): Promise<RunResult> {
    const run = start(this.#all.length);
    this.#all.push(run);
    this.#open.add(run);
    run
      .catch((error) => {
        if (goesOnLater(error)) this.#goesOn.push(error);
      })
      .finally(() => this.#open.delete(run));
    return run;
  }

  /**
   * Waits for the runs that no handler waited for. Throws the error of one that must go on later, so that the event is repeated; else the
   * first of these failures of handlers, or the error of a run that failed. Runs that wait go on with the first of their answers.
   */
  async end(failures: readonly unknown[]): Promise<void> {
    const results = await Promise.allSettled(this.#open);
    for (const error of this.#goesOn) if (!(error instanceof RunWaitingError)) throw error;
    const waits = this.#goesOn.filter((error) => error instanceof RunWaitingError);
    if (waits.length > 0) throw new RunWaitingError(waits.flatMap(({ waitsFor }) => waitsFor));
    for (const failure of failures) throw failure;
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }
}

function runIdOf(activationId: string, key: string, number: number): string {
  return `run_${createHash("sha256").update(`${activationId}\0${key}\0${number}`).digest("hex").slice(0, 26)}`;
}

const TRIGGERS = {
  "agent.activated": "activation",
  approval_response: "approval",
  "message.posted": "message",
  "agent.wakeup": "wakeup",
} as const;

/** Returns the trigger of a run, by the event its handler works on. */
function triggerOf({ type, id }: HandledEvent | UnknownEvent): NonNullable<RunOptions["trigger"]> {
  const kind = Object.hasOwn(TRIGGERS, type) ? TRIGGERS[type as keyof typeof TRIGGERS] : "manual";
  return { type: kind, ref: id };
}
