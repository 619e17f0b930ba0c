import type { AgentClient } from "./client.ts";
import type { Heartbeat as Response } from "./contract.generated.ts";
import { isTransient } from "./errors.ts";
import { type AgentClock, randomFraction } from "./runtime.ts";

/** An entry of a run's log. */
export interface LogEntry {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly data?: unknown;
  readonly at: string;
}

/** What the next call reports besides its entries. */
interface Report {
  progress?: { percent: number; label?: string | undefined };
  checkpoint?: unknown;
}

interface HeartbeatOptions {
  readonly client: AgentClient;
  readonly clock: AgentClock;
  readonly runId: string;
  /** Ends the call that is under way, and all that would follow. */
  readonly signal: AbortSignal;
  /** Called once, when the service refuses a heartbeat for good or says that the run is to stop. */
  readonly onEnd: (cause: unknown | "cancel_requested") => void;
}

/** The heartbeats of a run, merged with its log. */
export interface Heartbeat {
  log(entry: LogEntry): void;
  report(report: Report): void;
  /** The service knows that the run waits for an answer, and expects no heartbeat, until the next log. */
  wait(): void;
  /** The answer came, and a new window began. */
  resume(): void;
  /** Sends what is buffered. Never rejects: what could not be sent stays buffered. */
  flush(): Promise<void>;
  stop(): void;
}

// The service allows 60 calls a minute for a run, and takes 50 entries with each.
const MERGE_MS = 2000;
const MAX_ENTRIES = 50;
// What is kept while the service cannot be reached.
const MAX_BUFFERED = 1000;
// Five attempts of a call with such waits take less time than the service allows between two heartbeats.
const RETRY_MS = 10_000;

/** Starts the heartbeats of a run: one a minute, or as often as the service asks for, up to a tenth earlier or later. */
export function startHeartbeat({ client, clock, runId, signal, onEnd }: HeartbeatOptions, waiting: boolean): Heartbeat {
  const entries: LogEntry[] = [];
  let report: Report = {};
  let intervalMs = 60_000;
  // As the service has it: a log to a WAITING run makes it RUNNING.
  let isWaiting = waiting;
  let stopped = false;
  let hasFailed = false;
  let sending: Promise<void> | null = null;
  let cancel = (): void => {};
  let dueAt = Number.POSITIVE_INFINITY;

  const hasNews = (): boolean => entries.length > 0 || Object.keys(report).length > 0;
  /** Sends at the earlier of the planned time and `ms` from now. */
  const plan = (ms: number): void => {
    if (stopped || clock.now() + ms >= dueAt) return;
    cancel();
    dueAt = clock.now() + ms;
    cancel = clock.after(ms, () => void send());
  };
  const planNext = (): void => {
    if (hasNews()) plan(entries.length >= MAX_ENTRIES ? 0 : MERGE_MS);
    else if (!isWaiting) plan(intervalMs * (0.9 + 0.2 * randomFraction()));
  };

  const sendOnce = async (): Promise<void> => {
    const batch = entries.slice(0, MAX_ENTRIES);
    const reported = report;
    report = {};
    try {
      read(await client.runs.log({ runId, entries: batch, ...reported }, { signal, maxWaitMs: RETRY_MS }));
      entries.splice(0, batch.length);
      hasFailed = false;
      planNext();
    } catch (error) {
      if (signal.aborted) return;
      report = { ...reported, ...report };
      hasFailed = true;
      if (isTransient(error)) return plan(RETRY_MS);
      stopped = true;
      onEnd(error);
    }
  };
  const read = ({ status, heartbeatIntervalSeconds, cancelRequested }: Response): void => {
    isWaiting = status === "WAITING";
    intervalMs = heartbeatIntervalSeconds * 1000;
    if (cancelRequested) onEnd("cancel_requested");
  };
  /** One call at a time: a caller that comes during one waits for it. */
  const send = (): Promise<void> => {
    cancel();
    dueAt = Number.POSITIVE_INFINITY;
    sending ??= sendOnce().finally(() => {
      sending = null;
    });
    return sending;
  };

  planNext();
  return {
    log: (entry) => {
      if (entries.length < MAX_BUFFERED) entries.push(entry);
      planNext();
    },
    report: (more) => {
      report = { ...report, ...more };
      planNext();
    },
    wait: () => {
      isWaiting = true;
      cancel();
      dueAt = Number.POSITIVE_INFINITY;
      planNext();
    },
    resume: () => {
      isWaiting = false;
      planNext();
    },
    flush: async () => {
      await sending;
      while (!stopped && !signal.aborted && hasNews()) {
        await send();
        if (hasFailed) return;
      }
    },
    stop: () => {
      stopped = true;
      cancel();
    },
  };
}
