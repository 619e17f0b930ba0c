import type { AgentClient } from "./client.ts";
import type { Heartbeat as Response } from "./contract.generated.ts";
import { isTransient } from "./errors.ts";
import type { Report, Reports } from "./reports.ts";
import { type AgentClock, randomFraction } from "./runtime.ts";

interface HeartbeatOptions {
  readonly client: AgentClient;
  readonly clock: AgentClock;
  readonly runId: string;
  readonly reports: Reports;
  /** Ends the call that is under way, and all that would follow. */
  readonly signal: AbortSignal;
  /** Called once, when the service refuses a heartbeat for good or says that the run is to stop. */
  readonly onEnd: (cause: unknown | "cancel_requested") => void;
}

/** The heartbeats of a run, merged with its log. */
export interface Heartbeat {
  report(report: Report): void;
  /** The service knows that the run waits for an answer, and expects no heartbeat, until the next log. */
  wait(): void;
  /** The answer came, and a new window began. */
  resume(): void;
  /** Sends what is buffered. Never rejects: what could not be sent stays buffered. */
  flush(): Promise<void>;
  /** Sends what is buffered, and says that the run waits. Rejects when the service cannot be reached: it would expect heartbeats. */
  suspend(): Promise<void>;
  stop(): void;
}

// The service allows 60 calls a minute for a run.
const MERGE_MS = 2000;
// Five attempts of a call with such waits take less time than the service allows between two heartbeats.
const RETRY_MS = 10_000;

/** Starts the heartbeats of a run: one a minute, or as often as the service asks for, up to a tenth earlier or later. */
export function startHeartbeat(options: HeartbeatOptions, waiting: boolean): Heartbeat {
  const { client, clock, runId, signal, reports, onEnd } = options;
  let intervalMs = 60_000;
  // As the service has it: a log to a WAITING run makes it RUNNING.
  let isWaiting = waiting;
  let stopped = false;
  let failure: unknown = null;
  let sending: Promise<void> | null = null;
  let cancel = (): void => {};
  let dueAt = Number.POSITIVE_INFINITY;

  /** Sends at the earlier of the planned time and `ms` from now. */
  const plan = (ms: number): void => {
    if (stopped || signal.aborted || clock.now() + ms >= dueAt) return;
    cancel();
    dueAt = clock.now() + ms;
    cancel = clock.after(ms, () => void send());
  };
  const planNext = (): void => {
    if (reports.hasNews) plan(reports.isFull ? 0 : MERGE_MS);
    else if (!isWaiting) plan(intervalMs * (0.9 + 0.2 * randomFraction()));
  };
  const sendOnce = async (ended: boolean): Promise<void> => {
    // The call that ends the pass is made although the signal has aborted.
    const limits = { ...(!ended && { signal }), maxWaitMs: RETRY_MS };
    try {
      const news = await reports.take();
      read(await client.runs.log({ runId, ...news, ...(ended && { waiting: true }) }, limits));
      reports.confirm();
      failure = null;
      planNext();
    } catch (error) {
      if (signal.aborted && !ended) return;
      failure = error;
      if (ended) return;
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
  const send = (ended = false): Promise<void> => {
    cancel();
    dueAt = Number.POSITIVE_INFINITY;
    sending ??= sendOnce(ended).finally(() => {
      sending = null;
    });
    return sending;
  };

  planNext();
  return {
    report: (report) => {
      reports.add(report);
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
      while (!stopped && !signal.aborted && reports.hasNews) {
        await send();
        if (failure !== null) return;
      }
    },
    suspend: async () => {
      await sending;
      while (!stopped && (reports.hasNews || !isWaiting)) {
        await send(true);
        if (failure !== null) throw failure;
        // The answer came meanwhile: the run is RUNNING, with a whole window.
        if (!reports.hasNews) return;
      }
    },
    stop: () => {
      stopped = true;
      cancel();
    },
  };
}
