import { type Activation, type Activations, createActivations } from "./activations.ts";
import { type Answers, answerIdOf, createAnswers } from "./answers.ts";
import type { AgentClient } from "./client.ts";
import { Clients } from "./clients.ts";
import { printError } from "./console-reports.ts";
import { type Context, Dispatcher } from "./dispatcher.ts";
import { AgentStoppedError, UsageError } from "./errors.ts";
import { type HandledEvents, toKnown, type UnknownEvent } from "./event.ts";
import { type DeadEvent, EventLog } from "./event-log.ts";
import { assertHandler, type Handler, Handlers } from "./handlers.ts";
import { type ErrorHandler, type HandleOptions, Intake } from "./intake.ts";
import { type AgentOptions, readOptions, type Settings } from "./options.ts";
import { type Reply, type RequestHeaders, reply } from "./receive.ts";
import { RunRegistry } from "./run-registry.ts";
import { systemClock } from "./runtime.ts";
import { Slots } from "./slots.ts";
import { createVault, type Vault } from "./vault.ts";
import { Worker } from "./worker.ts";

/** An agent of the marketplace: it receives events, keeps the keys of its activations and works on runs. */
export interface Agent {
  /** Adds a handler for events of one type. Throws UsageError for a type that there is not. */
  on<T extends keyof HandledEvents>(type: T, handler: Handler<Context<HandledEvents[T]>>): Agent;
  /** Adds a handler for all events of known types; it runs after those of their types. */
  onAny(handler: Handler<Context>): Agent;
  /** Adds a handler for types that are newer than this package. They are acknowledged with or without one. */
  onUnknown(handler: Handler<Context<UnknownEvent>>): Agent;
  /** Adds a function that learns of errors of handlers. Without one they are printed with console.error. */
  onError(handler: ErrorHandler): Agent;
  /** Handles a request to the webhook: its raw body, never a parsed one, and its headers. Never rejects. */
  handle(body: Uint8Array | string, headers: RequestHeaders, options?: HandleOptions): Promise<Reply>;
  /** Tells `onError` of an error outside of handlers and returns a reply of status 500; for adapters. */
  refuse(error: unknown): Promise<Reply>;
  /** Continues what an earlier process left unfinished. Call it once when the process starts. */
  start(): Agent;
  /** Stops for good: runs are left as they are for the next process. Waits for the present work, at most ten seconds. */
  stop(): Promise<void>;
  /** The client of an activation, outside of handlers. */
  client(activationId: string): AgentClient;
  activations(): Promise<Activation[]>;
  /** The events that were given up after `maxAttempts`, oldest first. They are kept for `keepMs`. */
  deadEvents(): Promise<DeadEvent[]>;
  /** Makes a dead event due again with all its attempts. A process that has been started works on it. False if it is not dead. */
  replay(key: string): Promise<boolean>;
  readonly vault: Vault;
}

const STOP_MS = 10_000;

/** Creates an agent. Throws UsageError, with the option's name, when an option is missing, unknown or wrong. */
export function createAgent(options: AgentOptions = {}): Agent {
  return new KitAgent(readOptions(options));
}

class KitAgent implements Agent {
  readonly vault: Vault;
  readonly #handlers = new Handlers<Context<never>>();
  readonly #errorHandlers: ErrorHandler[] = [];
  readonly #runs = new RunRegistry();
  readonly #log: EventLog;
  readonly #activations: Activations;
  readonly #clients: Clients;
  readonly #worker: Worker;
  readonly #intake: Intake;

  constructor(settings: Settings) {
    const { store, masterKey, keepMs } = settings;
    this.vault = createVault({ store, masterKey });
    this.#activations = createActivations(store, this.vault);
    this.#clients = new Clients(settings, this.#activations, this.#runs);
    this.#log = new EventLog(settings);
    const shared = { settings, activations: this.#activations, answers: createAnswers(store, keepMs), runs: this.#runs };
    const dispatcher = new Dispatcher({ ...shared, handlers: this.#handlers, clients: this.#clients });
    this.#worker = this.#createWorker(settings, dispatcher, shared.answers);
    const onError: ErrorHandler = (error, about) => this.#tell(error, about);
    this.#intake = new Intake({ ...shared, log: this.#log, worker: this.#worker, onError });
  }

  on<T extends keyof HandledEvents>(type: T, handler: Handler<Context<HandledEvents[T]>>): Agent {
    this.#handlers.on(type, handler as Handler<Context<never>>);
    return this;
  }

  onAny(handler: Handler<Context>): Agent {
    this.#handlers.onAny(handler as Handler<Context<never>>);
    return this;
  }

  onUnknown(handler: Handler<Context<UnknownEvent>>): Agent {
    this.#handlers.onUnknown(handler as Handler<Context<never>>);
    return this;
  }

  onError(handler: ErrorHandler): Agent {
    assertHandler("onError", handler);
    this.#errorHandlers.push(handler);
    return this;
  }

  async handle(body: Uint8Array | string, headers: RequestHeaders, options: HandleOptions = {}): Promise<Reply> {
    try {
      return await this.#intake.handle(body, headers, options);
    } catch (error) {
      return this.refuse(error);
    }
  }

  async refuse(error: unknown): Promise<Reply> {
    await this.#tell(error, { key: "", attempt: 1, willRetry: true, event: null }).catch(() => {});
    const hint = error instanceof UsageError || (error as { code?: unknown }).code === "parsed_body" ? (error as Error).message : undefined;
    return reply(500, { error: "receiver_failed", hint });
  }

  start(): Agent {
    this.#worker.start();
    return this;
  }

  async stop(): Promise<void> {
    const stopped = this.#worker.stop(STOP_MS);
    const reason = new AgentStoppedError();
    this.#runs.abort({}, () => reason);
    this.#clients.stop(reason);
    await stopped;
  }

  client(activationId: string): AgentClient {
    return this.#clients.of(activationId);
  }

  activations(): Promise<Activation[]> {
    return this.#activations.list();
  }

  deadEvents(): Promise<DeadEvent[]> {
    return this.#log.listDead();
  }

  async replay(key: string): Promise<boolean> {
    const revived = await this.#log.revive(key);
    if (revived) await this.#worker.look();
    return revived;
  }

  #createWorker(settings: Settings, dispatcher: Dispatcher, answers: Answers): Worker {
    return new Worker({
      ...settings,
      log: this.#log,
      clock: settings.clock ?? systemClock,
      slots: new Slots(settings.concurrency),
      handle: (lease) => dispatcher.perform(lease),
      answerIdOf: ({ event }) => (event === null ? null : answerIdOf(event)),
      hasAnswer: (id) => answers.has(id),
      isPaused: async (activationId) => (await this.#activations.read(activationId))?.status === "paused",
      hasKey: async (activationId) => (await this.vault.load(activationId)) !== null,
      onLost: (key) => this.#runs.abort({ key }, () => new AgentStoppedError()),
      onError: (error, lease, failure) => void this.#tell(error, { ...failure, event: toKnown(lease.event) }).catch(() => {}),
    });
  }

  async #tell(error: unknown, about: Parameters<ErrorHandler>[1]): Promise<void> {
    if (this.#errorHandlers.length === 0) printError(error, about);
    for (const handler of this.#errorHandlers) await handler(error, about);
  }
}
