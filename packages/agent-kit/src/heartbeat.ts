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

/** Where a report was made, and its number there. */
export interface Mark {
  readonly place: string;
  readonly number: number;
}

/** What a run tells the service: an entry of its log, its progress, or its checkpoint. */
export type Report = { readonly mark: Mark } & (
  | { readonly entry: LogEntry }
  | { readonly progress: { percent: number; label?: string | undefined } }
  | { readonly checkpoint: unknown }
);

/** A call with reports. It is repeated as it is until the service has answered it. */
interface Batch {
  readonly seq: number;
  readonly reports: readonly Report[];
  isPrepared: boolean;
}

interface HeartbeatOptions {
  readonly client: AgentClient;
  readonly clock: AgentClock;
  readonly runId: string;
  /** The `seq` of the last call with news. */
  readonly logSequence: number;
  /** Stores what a call is about to report, before it is made. */
  readonly prepare: (seq: number, reports: readonly Report[]) => Promise<void>;
  /** Ends the call that is under way, and all that would follow. */
  readonly signal: AbortSignal;
  /** Called once, when the service refuses a heartbeat for good or says that the run is to stop. */
  readonly onEnd: (cause: unknown | "cancel_requested") => void;
}

/** The heartbeats of a run, merged with its log. */
export interface Heartbeat {
  report(report: Report): void;
  /** What the service has not confirmed yet, of what was reported inside of something. */
  listUnconfirmed(inside: string): readonly Report[];
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

// The service allows 60 calls a minute for a run, and takes 50 entries with each.
const MERGE_MS = 2000;
const MAX_ENTRIES = 50;
// What is kept while the service cannot be reached.
const MAX_BUFFERED = 1000;
// Five attempts of a call with such waits take less time than the service allows between two heartbeats.
const RETRY_MS = 10_000;

/** Starts the heartbeats of a run: one a minute, or as often as the service asks for, up to a tenth earlier or later. */
export function startHeartbeat(options: HeartbeatOptions, waiting: boolean): Heartbeat {
  const { client, clock, runId, signal, prepare, onEnd } = options;
  let queue: Report[] = [];
  let seq = options.logSequence;
  let batch: Batch | null = null;
  let intervalMs = 60_000;
  // As the service has it: a log to a WAITING run makes it RUNNING.
  let isWaiting = waiting;
  let stopped = false;
  let failure: unknown = null;
  let sending: Promise<void> | null = null;
  let cancel = (): void => {};
  let dueAt = Number.POSITIVE_INFINITY;

  const hasNews = (): boolean => batch !== null || queue.length > 0;
  /** Sends at the earlier of the planned time and `ms` from now. */
  const plan = (ms: number): void => {
    if (stopped || signal.aborted || clock.now() + ms >= dueAt) return;
    cancel();
    dueAt = clock.now() + ms;
    cancel = clock.after(ms, () => void send());
  };
  const planNext = (): void => {
    if (hasNews()) plan(queue.length >= MAX_ENTRIES ? 0 : MERGE_MS);
    else if (!isWaiting) plan(intervalMs * (0.9 + 0.2 * randomFraction()));
  };
  /** Takes what is buffered for the next call. */
  const takeBatch = async (): Promise<Batch | null> => {
    if (batch === null && queue.length > 0) {
      seq += 1;
      batch = { seq, reports: queue.slice(0, MAX_ENTRIES), isPrepared: false };
      queue = queue.slice(MAX_ENTRIES);
    }
    if (batch !== null && !batch.isPrepared) {
      await prepare(batch.seq, batch.reports);
      batch.isPrepared = true;
    }
    return batch;
  };

  const sendOnce = async (ended: boolean): Promise<void> => {
    // The call that ends the pass is made although the signal has aborted.
    const limits = { ...(!ended && { signal }), maxWaitMs: RETRY_MS };
    try {
      const news = await takeBatch();
      const said = news === null ? {} : { seq: news.seq, ...merge(news.reports) };
      read(await client.runs.log({ runId, ...said, ...(ended && { waiting: true }) }, limits));
      if (news !== null) batch = null;
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
      if (queue.length < MAX_BUFFERED) queue.push(report);
      planNext();
    },
    listUnconfirmed: (inside) => [...(batch?.reports ?? []), ...queue].filter(({ mark }) => mark.place.startsWith(inside)),
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
        if (failure !== null) return;
      }
    },
    suspend: async () => {
      await sending;
      while (!stopped && (hasNews() || !isWaiting)) {
        await send(true);
        if (failure !== null) throw failure;
        // The answer came meanwhile: the run is RUNNING, with a whole window.
        if (!hasNews()) return;
      }
    },
    stop: () => {
      stopped = true;
      cancel();
    },
  };
}

/** The fields of a call: all entries, and the last progress and checkpoint. */
function merge(reports: readonly Report[]) {
  const { entry: _, ...last } = Object.assign({}, ...reports) as {
    entry?: LogEntry;
    mark?: Mark;
    progress?: { percent: number };
    checkpoint?: unknown;
  };
  const { mark: _mark, ...fields } = last;
  return { ...fields, entries: reports.flatMap((report) => ("entry" in report ? [report.entry] : [])) };
}
