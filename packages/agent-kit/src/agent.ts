import { createHash } from "node:crypto";
import { type Activation, createActivations } from "./activations.ts";
import { createAnswers } from "./answers.ts";
import { type AgentClient, createClient } from "./client.ts";
import { AgentApiError, AgentDeactivatedError, AgentPausedError, AgentStoppedError, isFinal, RunEndedError, UsageError } from "./errors.ts";
import { eventKey, type HandledEvent, type HandledEvents, isKnown, type UnknownEvent } from "./event.ts";
import { createEventLog, type Lease } from "./event-log.ts";
import { type Handler, Handlers } from "./handlers.ts";
import { assertSecrets, type Reply, type RequestHeaders, receive, reply, type Secrets } from "./receive.ts";
import { performRun, type Run, type RunDeps, type RunOptions, type RunResult } from "./run.ts";
import { type AgentClock, environment, randomToken, systemClock } from "./runtime.ts";
import { memoryStore } from "./stores/memory.ts";
import { type Store, withStoreErrors } from "./stores/store.ts";
import { createVault, type Vault } from "./vault.ts";
import { createWorker, type Failure } from "./worker.ts";

/** What a handler gets. */
export interface Context<E = HandledEvent | UnknownEvent> {
  /** The event; the key of agent.activated is in the vault instead. */
  readonly event: E;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  readonly activationId: string;
  /** The API of the activation. */
  readonly client: AgentClient;
  /** Id, key and address, for your own client such as `new AgentClient(await credentials())` of @mailsvc/sdk. */
  credentials(): Promise<{ activationId: string; apiKey: string; baseUrl: string }>;
  /** What is known of the activation. */
  activation(): Promise<Activation | null>;
  /**
   * Starts a run and works on it: the run completes when `work` returns and fails when it throws. Heartbeats are sent meanwhile. When
   * a crash or a pause repeats the event, the same run goes on. Rejects with RunEndedError if the run failed or was cancelled.
   */
  run(options: RunOptions, work: (run: Run) => unknown): Promise<RunResult>;
}

/** Errors of handlers, with the event they are about. */
export type ErrorHandler = (error: unknown, about: Failure & { event: HandledEvent | UnknownEvent | null }) => unknown;

/** What `createAgent` takes. Only the secret has no default outside of the environment. */
export interface AgentOptions {
  /** The secret of the listing's webhook; two during a rotation. Default: AGENT_WEBHOOK_SECRET. */
  secret?: Secrets;
  /** Where keys, events and results of steps are kept. Default: the memory of this process, for trying things out. */
  store?: Store;
  /**
   * Encrypts the keys of activations: 32 bytes as base64 or hex; several to rotate it, the first one encrypts. Default:
   * AGENT_MASTER_KEY; with the store in memory, a random one.
   */
  masterKey?: string | readonly string[];
  /** The address of the service. Default: MAILSVC_URL, or http://127.0.0.1:2526, where `mailsvc dev` listens. */
  baseUrl?: string;
  /**
   * `inbox` stores an event, answers 200 and works on it afterwards, again after a crash or an error. `inline` answers when the handlers
   * are done, for platforms that stop a process after its response; handlers then have seven seconds. Default: `inbox`.
   */
  mode?: "inbox" | "inline";
  /** How often an event is worked on before it is given up (inbox). Default: 10, over about six hours. */
  maxAttempts?: number;
  /** How long a process that crashed keeps others from its events, in ms. Default: 30 000. */
  leaseMs?: number;
  /** How long handled events and results of steps are remembered, in ms. Default: 30 days. */
  keepMs?: number;
  fetch?: typeof fetch;
  clock?: AgentClock;
}

/** Work that goes on after the response, for platforms that must know of it, such as `waitUntil` of Workers. */
export interface HandleOptions {
  waitUntil?: (work: Promise<unknown>) => void;
}

/** An agent of the marketplace: it receives events, keeps the keys of its activations and works on runs. */
export interface Agent {
  /** Adds a handler for events of one type. */
  on<T extends keyof HandledEvents>(type: T, handler: Handler<Context<HandledEvents[T]>>): Agent;
  /** Adds a handler for all events; it runs after those of their types. */
  onAny(handler: Handler<Context>): Agent;
  /** Adds a handler for types that are newer than this package. They are acknowledged with or without one. */
  onUnknown(handler: Handler<Context<UnknownEvent>>): Agent;
  /** Adds a function that learns of errors of handlers. */
  onError(handler: ErrorHandler): Agent;
  /** Handles a request to the webhook: its raw body, never a parsed one, and its headers. Never rejects. */
  handle(body: Uint8Array | string, headers: RequestHeaders, options?: HandleOptions): Promise<Reply>;
  /** Tells `onError` of an error outside of handlers and returns a reply of status 500; for adapters. */
  refuse(error: unknown): Promise<Reply>;
  /** Continues what an earlier process left unfinished. Call it once when the process starts. */
  start(): Agent;
  /** Stops: runs are left as they are for the next process. Waits for the present work, at most ten seconds. */
  stop(): Promise<void>;
  /** The client of an activation, outside of handlers. */
  client(activationId: string): AgentClient;
  activations(): Promise<Activation[]>;
  readonly vault: Vault;
}

/** A run that this process works on, and the key of its event. */
interface ActiveRun {
  readonly activationId: string;
  readonly runId: string;
  readonly key: string;
  readonly abort: (reason: Error) => void;
}

const DAY_MS = 86_400_000;
// The service waits eight seconds.
const INLINE_MS = 7000;
const STOP_MS = 10_000;

/** Creates an agent. Throws UsageError when an option is missing or wrong. */
export function createAgent(options: AgentOptions = {}): Agent {
  const { mode = "inbox", clock = systemClock, leaseMs = 30_000, keepMs = 30 * DAY_MS, maxAttempts = 10 } = options;
  const store = withStoreErrors(options.store ?? memoryStore());
  const secrets = options.secret ?? environment("AGENT_WEBHOOK_SECRET") ?? "";
  if (typeof secrets !== "function") assertSecrets(secrets);
  const baseUrl = (options.baseUrl ?? environment("MAILSVC_URL") ?? "http://127.0.0.1:2526").replace(/\/+$/, "");
  const vault = createVault({ store, masterKey: chooseMasterKey(options) });
  const activations = createActivations(store, vault);
  const answers = createAnswers(store, keepMs, leaseMs / 6);
  const log = createEventLog({ store, clock, leaseMs, keepMs });
  const handlers = new Handlers<Context<never>>();
  const errorHandlers: ErrorHandler[] = [];
  const runs = new Set<ActiveRun>();

  const clientOf = (activationId: string): AgentClient =>
    createClient({
      activationId,
      baseUrl,
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
      authorize: () => activations.authorize(activationId),
      // A call may notice a pause before its event arrives.
      onRefused: (error) => {
        if (error instanceof AgentPausedError || error instanceof AgentDeactivatedError)
          abortRuns((run) => run.activationId === activationId, error);
        // The key is dead, whatever the events say.
        if (error instanceof AgentApiError && error.status === 401)
          for (const run of runs)
            if (run.activationId === activationId) run.abort(new RunEndedError(run.runId, null, error.message, { cause: error }));
      },
    });

  const abortRuns = (which: (run: ActiveRun) => boolean, reason: Error): void => {
    for (const run of runs) if (which(run)) run.abort(reason);
  };

  const fail = async (error: unknown, about: Parameters<ErrorHandler>[1]): Promise<void> => {
    for (const handler of errorHandlers) await handler(error, about);
  };

  const perform = async ({ event, key, attempts }: Lease): Promise<void> => {
    if (event === null) return;
    const { activationId } = event;
    const client = clientOf(activationId);
    let count = 0;
    await handlers.run(event, {
      event: event as never,
      attempt: attempts + 1,
      activationId,
      client,
      credentials: async () => ({ activationId, apiKey: await activations.authorize(activationId), baseUrl }),
      activation: () => activations.read(activationId),
      run: (runOptions, work) => {
        const runId = runOptions.id ?? runIdOf(activationId, key, count++);
        const register: RunDeps["register"] = (abort) => {
          const run = { activationId, runId, key, abort };
          runs.add(run);
          return () => void runs.delete(run);
        };
        return performRun({ client, store, clock, answers, keepMs, register }, runId, { trigger: triggerOf(event), ...runOptions }, work);
      },
    });
  };

  const worker = createWorker({
    log,
    clock,
    leaseMs,
    maxAttempts,
    handle: perform,
    isPaused: async (activationId) => (await activations.read(activationId))?.status === "paused",
    onLost: (key) => abortRuns((run) => run.key === key, new AgentStoppedError()),
    onError: (error, lease, failure) => void fail(error, { ...failure, event: lease.event }).catch(() => {}),
  });

  /** What the kit itself does for an event, before its handlers run and before it is acknowledged. */
  const apply = async (event: HandledEvent | UnknownEvent): Promise<void> => {
    if (!isKnown(event)) return;
    const { activationId } = event;
    await answers.record(event);
    if (event.type === "agent.paused")
      abortRuns((run) => run.activationId === activationId, new AgentPausedError(activationId, event.reason));
    if (event.type === "agent.deactivated")
      abortRuns((run) => run.activationId === activationId, new AgentDeactivatedError(activationId, event.reason));
    if (event.type === "run_force_failed") {
      const { runId } = event;
      abortRuns(
        (run) => run.activationId === activationId && run.runId === runId,
        new RunEndedError(runId, "FAILED", "it sent no heartbeat."),
      );
    }
    if (event.type === "agent.resumed" || event.type === "agent.deactivated") await worker.wake(activationId);
  };

  const acceptInbox = async (key: string, event: HandledEvent | UnknownEvent, { waitUntil }: HandleOptions): Promise<Reply> => {
    await apply(event);
    if (!(await log.put(key, event))) return reply(200, { received: true, duplicate: true });
    const work = worker.process(key);
    waitUntil?.(work);
    return reply(200, { received: true });
  };

  const acceptInline = async (key: string, event: HandledEvent | UnknownEvent): Promise<Reply> => {
    const lease = await log.claim(key, event);
    if (lease === "done") return reply(200, { received: true, duplicate: true });
    if (lease === "busy") return reply(503, { error: "in_progress", hint: "An earlier delivery of this event is being handled." }, 2);
    const release = worker.keep(lease);
    const work = (async (): Promise<Reply> => {
      try {
        await apply(event);
        await perform(lease);
        release();
        await lease.complete();
        return reply(200, { received: true });
      } catch (error) {
        release();
        return await failInline(lease, error);
      }
    })();
    // The handlers go on beyond the limit; the next delivery finds out how they ended.
    const late = new Promise<Reply>((done) => {
      const cancel = systemClock.after(INLINE_MS, () =>
        done(reply(503, { error: "handler_slow", hint: "The handlers are still at work." }, 5)),
      );
      void work.finally(cancel);
    });
    return Promise.race([work, late]);
  };

  const failInline = async (lease: Lease, error: unknown): Promise<Reply> => {
    if (error instanceof AgentPausedError) {
      await worker.park(lease, error.activationId);
      return reply(200, { received: true });
    }
    const willRetry = !isFinal(error);
    await fail(error, { key: lease.key, attempt: lease.attempts + 1, willRetry, event: lease.event });
    await (willRetry ? lease.release() : lease.complete());
    return willRetry ? reply(500, { error: "handler_failed" }) : reply(200, { received: true });
  };

  const handle = async (body: Uint8Array | string, headers: RequestHeaders, how: HandleOptions): Promise<Reply> => {
    const known = typeof secrets === "function" ? await secrets() : secrets;
    const received = receive(body, headers, known, clock.now());
    if ("refusal" in received) return received.refusal as Reply;
    const key = eventKey(received);
    if (mode === "inbox" && (await log.has(key))) return reply(200, { received: true, duplicate: true });
    const event = withoutKey(received);
    if ((await activations.apply(received)) === "stale") return reply(200, { received: true, stale: true });
    return mode === "inbox" ? acceptInbox(key, event, how) : acceptInline(key, event);
  };

  const agent: Agent = {
    on: (type, handler) => {
      handlers.on(type, handler as Handler<Context<never>>);
      return agent;
    },
    onAny: (handler) => {
      handlers.onAny(handler as Handler<Context<never>>);
      return agent;
    },
    onUnknown: (handler) => {
      handlers.onUnknown(handler as Handler<Context<never>>);
      return agent;
    },
    onError: (handler) => {
      errorHandlers.push(handler);
      return agent;
    },
    handle: async (body, headers, how = {}) => {
      try {
        return await handle(body, headers, how);
      } catch (error) {
        return agent.refuse(error);
      }
    },
    refuse: async (error) => {
      await fail(error, { key: "", attempt: 1, willRetry: true, event: null }).catch(() => {});
      const hint =
        error instanceof UsageError || (error as { code?: unknown }).code === "parsed_body" ? (error as Error).message : undefined;
      return reply(500, { error: "receiver_failed", hint });
    },
    start: () => {
      worker.start();
      return agent;
    },
    stop: async () => {
      const stopped = worker.stop(STOP_MS);
      abortRuns(() => true, new AgentStoppedError());
      await stopped;
    },
    client: clientOf,
    activations: activations.list,
    vault,
  };
  return agent;
}

function chooseMasterKey({ masterKey, store }: AgentOptions): string | readonly string[] {
  const given = masterKey ?? environment("AGENT_MASTER_KEY");
  if (given !== undefined && given !== "") return given;
  if (store === undefined) return randomToken() + randomToken();
  throw new UsageError("masterKey is missing: it encrypts the keys in the store. Make one: openssl rand -base64 32");
}

/** Removes the key, which is in the vault by then. */
function withoutKey(event: Parameters<typeof eventKey>[0]): HandledEvent | UnknownEvent {
  if (event.type !== "agent.activated") return event as HandledEvent | UnknownEvent;
  const { apiKey: _apiKey, ...rest } = event as { apiKey: string } & UnknownEvent;
  return rest;
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

/** What started a run, by the event its handler works on. */
function triggerOf({ type, id }: HandledEvent | UnknownEvent): NonNullable<RunOptions["trigger"]> {
  const kind = Object.hasOwn(TRIGGERS, type) ? TRIGGERS[type as keyof typeof TRIGGERS] : "manual";
  return { type: kind, ref: id };
}
