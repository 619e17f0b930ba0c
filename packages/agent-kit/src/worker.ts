import { AgentPausedError, AgentStoppedError, isFinal } from "./errors.ts";
import type { EventLog, Lease } from "./event-log.ts";
import { type AgentClock, randomFraction, systemClock, within } from "./runtime.ts";

/** Where an error came from: the event and the attempt, and whether another attempt follows. */
export interface Failure {
  readonly key: string;
  readonly attempt: number;
  readonly willRetry: boolean;
}

export interface WorkerOptions {
  readonly log: EventLog;
  readonly clock: AgentClock;
  readonly leaseMs: number;
  readonly maxAttempts: number;
  /** Runs the handlers of an event. */
  readonly handle: (lease: Lease) => Promise<void>;
  /** Whether the activation of an event is paused now. */
  readonly isPaused: (activationId: string) => Promise<boolean>;
  /** Called when another process has taken an event over, because this one did not renew its lease in time. */
  readonly onLost: (key: string) => void;
  readonly onError: (error: unknown, lease: Lease, failure: Failure) => void;
}

/** Works on stored events, in this process. */
export interface Worker {
  /** Looks for events that are due, now and from then on: events of a process that crashed, and those that are to be repeated. */
  start(): void;
  /** Works on one event if it is due. */
  process(key: string): Promise<void>;
  /** Keeps a lease while work goes on; returns how to end that. */
  keep(lease: Lease): () => void;
  /** Stores an event until its activation is resumed. */
  park(lease: Lease, activationId: string): Promise<void>;
  /** Makes the parked events of an activation due and works on them. */
  wake(activationId: string): Promise<void>;
  /** Takes no more events and waits until the present work is done, at most so long. */
  stop(withinMs: number): Promise<void>;
}

const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 3_600_000;
const PAUSED_RETRY_MS = 10_000;

/** The worker of an agent. Any number of processes may work on one store; each event has one of them at a time. */
export function createWorker({ log, clock, leaseMs, maxAttempts, handle, isPaused, onLost, onError }: WorkerOptions): Worker {
  const working = new Map<string, Promise<void>>();
  let state: "new" | "running" | "stopped" = "new";
  let cancelScan = (): void => {};

  const keep = (lease: Lease): (() => void) => {
    let ended = false;
    let cancel = (): void => {};
    const plan = (): void => {
      cancel = systemClock.after(leaseMs / 3, async () => {
        // Without the store nobody can have taken over.
        const isOurs = await lease.renew().catch(() => true);
        if (ended) return;
        if (isOurs) plan();
        else onLost(lease.key);
      });
    };
    plan();
    return () => {
      ended = true;
      cancel();
    };
  };

  /** Ends an event whose handlers failed. */
  const settle = async (lease: Lease, error: unknown): Promise<void> => {
    if (error instanceof AgentStoppedError) return void (await lease.retry(0, false));
    if (error instanceof AgentPausedError) return park(lease, error.activationId);
    const attempt = lease.attempts + 1;
    const willRetry = !isFinal(error) && attempt < maxAttempts;
    onError(error, lease, { key: lease.key, attempt, willRetry });
    if (isFinal(error)) await lease.complete();
    else if (!willRetry) await lease.bury(error instanceof Error ? error.message : String(error));
    else {
      const ms = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 5 ** (attempt - 1)) * (0.8 + 0.4 * randomFraction());
      await retry(lease, ms, true);
    }
  };

  const park = async (lease: Lease, activationId: string): Promise<void> => {
    // The service has refused a call before the event of the pause arrived, or after that of the resumption.
    if (!(await isPaused(activationId))) return retry(lease, PAUSED_RETRY_MS, false);
    await lease.park();
    if (!(await isPaused(activationId))) await wake(activationId);
  };

  const retry = async (lease: Lease, ms: number, failed: boolean): Promise<void> => {
    await lease.retry(ms, failed);
    clock.after(ms, () => void process(lease.key));
  };

  const wake = async (activationId: string): Promise<void> => {
    if ((await log.wake(activationId)) > 0) await scan();
  };

  const work = async (key: string): Promise<void> => {
    const lease = await log.take(key);
    if (lease === null) return;
    const release = keep(lease);
    try {
      await handle(lease);
      release();
      await lease.complete();
    } catch (error) {
      release();
      await settle(lease, error);
    }
  };

  const process = (key: string): Promise<void> => {
    if (state === "stopped") return Promise.resolve();
    // An error here is one of the store: the lease ends, and a later scan finds the event again.
    const running =
      working.get(key) ??
      work(key)
        .catch(() => {})
        .finally(() => working.delete(key));
    working.set(key, running);
    return running;
  };

  const scan = async (): Promise<void> => {
    for (const { key, due } of await log.listStored()) if (due <= clock.now() && !working.has(key)) void process(key);
  };

  const scanRegularly = async (): Promise<void> => {
    await scan().catch(() => {});
    if (state === "running") cancelScan = systemClock.after(leaseMs / 2, () => void scanRegularly());
  };

  return {
    process,
    keep,
    park,
    wake,
    start: () => {
      if (state === "running") return;
      state = "running";
      void scanRegularly();
    },
    stop: async (withinMs) => {
      state = "stopped";
      cancelScan();
      await within(withinMs, Promise.all(working.values()));
    },
  };
}
