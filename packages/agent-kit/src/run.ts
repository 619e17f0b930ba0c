import type { Answer, Answers } from "./answers.ts";
import type { AgentClient } from "./client.ts";
import type { AgentApi, CreditTransaction, Message } from "./contract.generated.ts";
import {
  AgentApiError,
  AgentDeactivatedError,
  AgentKitError,
  AgentPausedError,
  AgentStoppedError,
  isTransient,
  RunEndedError,
  UsageError,
} from "./errors.ts";
import type { HandledEvents } from "./event.ts";
import { type Heartbeat, type LogEntry, startHeartbeat } from "./heartbeat.ts";
import type { AgentClock } from "./runtime.ts";
import { loadSteps, type Step, type Steps } from "./steps.ts";
import type { Store } from "./stores/store.ts";

type StartInput = NonNullable<Parameters<AgentApi<never>["runs"]["start"]>[0]>;
type CompleteInput = Parameters<AgentApi<never>["runs"]["complete"]>[0];
type Approval = NonNullable<Parameters<AgentApi<never>["messages"]["create"]>[0]["approval"]>;
type Spending = Parameters<AgentApi<never>["credits"]["consume"]>[0];
type Scheduling = Parameters<AgentApi<never>["wakeups"]["create"]>[0];

/** The options of a new run. */
export type RunOptions = Pick<StartInput, "title" | "trigger" | "metadata" | "parentRunId"> & {
  /** Your own id. By default made of the event and the number of the run in its handler, so that a repeat continues the same run. */
  id?: string;
  /** The run fails after this many milliseconds, so that work that hangs does not go on reporting. By default there is no limit. */
  maxDurationMs?: number;
};

/** What the work of a run may return; it is stored with the run. */
export type RunOutcome = Pick<CompleteInput, "summary" | "output" | "metrics">;

/** A completed run. */
export interface RunResult {
  readonly runId: string;
  readonly summary: string | null;
  readonly output: unknown;
}

/** A request for approval: the question, and `text`, the message it is asked in. */
export type ApprovalRequest = Approval & { text: string; format?: "plain" | "markdown" };

/** The answer of the brand. */
export interface ApprovalAnswer {
  /** `approved`, `rejected`, `expired`, or the id of the chosen option. */
  readonly decision: string;
  readonly approved: boolean;
  readonly comment: string | null;
  readonly messageId: string;
}

/**
 * A run while its work goes on. Heartbeats are sent by themselves. Everything with a name happens once in a run, also when a crash
 * repeats the work: the second time it returns the stored result.
 */
export interface Run {
  readonly id: string;
  readonly activationId: string;
  readonly client: AgentClient;
  /**
   * Aborted when the work must stop; the reason is an AgentPausedError, AgentDeactivatedError, RunEndedError or AgentStoppedError.
   * Every method of the run then throws this reason too.
   */
  readonly signal: AbortSignal;
  /**
   * Adds to the log of the run. Entries are sent together, within two seconds. While a repetition goes through steps that are done, it
   * adds nothing: these entries are there.
   */
  log(message: string, details?: { level?: LogEntry["level"]; data?: unknown }): void;
  /** Reports the progress, 0 to 100. */
  progress(percent: number, label?: string): void;
  /** Stores what the work needs to continue; `lastCheckpoint` has it after a crash, and is null before the first one. */
  checkpoint(value: unknown): Promise<void>;
  readonly lastCheckpoint: unknown;
  /** Does a part of the work once and remembers its result, which must be JSON. */
  step<T>(name: string, work: (step: Step) => T | Promise<T>): Promise<T>;
  /** Asks the brand and waits for the answer, for days if it must be, also over a restart. */
  approval(name: string, request: ApprovalRequest): Promise<ApprovalAnswer>;
  /** Spends credits; `action` is the name of the step by default. */
  credits(name: string, spending: Omit<Spending, "runId" | "action"> & { action?: string }): Promise<CreditTransaction>;
  /** Sleeps until a wakeup of the service, also over a restart. Returns its event. */
  wakeup(
    name: string,
    when: Omit<Scheduling, "runId" | "dedupeKey" | "suspendRun" | "reason"> & { reason?: string },
  ): Promise<HandledEvents["agent.wakeup"]>;
}

/** What runs need of their agent. */
export interface RunDeps {
  readonly client: AgentClient;
  readonly store: Store;
  readonly clock: AgentClock;
  readonly answers: Answers;
  /** How long results of steps are kept. */
  readonly keepMs: number;
  /** Makes the run known, so that events can end it; returns how to undo that. */
  readonly register: (abort: (reason: Error) => void) => () => void;
}

/**
 * Performs a run:
 *
 *   state of the run | found or done                       | result
 *   -----------------|-------------------------------------|----------------------------------------------------------
 *   none             | started                             | the work begins
 *   RUNNING, WAITING | a crash repeats the event           | the work begins again; what has a name returns its result
 *   COMPLETED        | a crash after the end               | its stored outcome, without the work
 *   FAILED, CANCELLED| the service or the brand ended it   | RunEndedError
 *   RUNNING          | the work returns                    | COMPLETED
 *   RUNNING          | the work throws                     | FAILED, RunEndedError with the cause
 *   RUNNING          | the brand asks it to stop           | `signal`, then CANCELLED, RunEndedError
 *   any              | pause, stop, service not reachable  | unchanged; the error goes up, and the event is repeated later
 */
export async function performRun(deps: RunDeps, runId: string, options: RunOptions, work: (run: Run) => unknown): Promise<RunResult> {
  const { client, clock, store, keepMs } = deps;
  const { activationId } = client;
  const { id: _id, maxDurationMs, ...start } = options;
  const started = await client.runs.start({ runId, ...start });
  if (started.status === "COMPLETED") return { runId, summary: started.summary, output: started.output };
  if (started.status === "FAILED" || started.status === "CANCELLED") throw endedBefore(started);

  const steps = await loadSteps(store, `${activationId}/${runId}`, keepMs);
  const controller = new AbortController();
  const abort = (reason: Error): void => controller.abort(reason);
  const heartbeat = startHeartbeat(
    { client, clock, runId, signal: controller.signal, onEnd: (cause) => abort(toEnd(runId, cause)) },
    started.status === "WAITING",
  );
  const unregister = deps.register(abort);
  const cancelLimit = maxDurationMs === undefined ? () => {} : clock.after(maxDurationMs, () => abort(new TooLong(maxDurationMs)));
  try {
    const outcome = ((await work(createRun(deps, runId, steps, heartbeat, controller.signal))) ?? {}) as RunOutcome;
    await heartbeat.flush();
    const { summary, output, metrics } = outcome;
    const done = await client.runs.complete({ runId, summary, output, metrics }).catch((error) => Promise.reject(asEnd(runId, error)));
    return { runId, summary: done.summary, output: done.output };
  } catch (error) {
    if (!controller.signal.aborted) await heartbeat.flush();
    throw await endBy(client, runId, controller.signal.aborted ? controller.signal.reason : error);
  } finally {
    cancelLimit();
    heartbeat.stop();
    unregister();
  }
}

class TooLong extends Error {
  constructor(ms: number) {
    super(`The run took longer than ${ms / 1000} s.`);
  }
}

/** The brand asked the run to stop. */
class CancelRequested extends RunEndedError {
  constructor(runId: string) {
    super(runId, "CANCELLED", "the brand asked it to stop.");
  }
}

/** Ends a run whose work ended with an error, as far as it is to end, and returns the error to throw. */
async function endBy(client: AgentClient, runId: string, error: unknown): Promise<unknown> {
  if (error instanceof CancelRequested) {
    await client.runs.cancel({ runId }).catch((refusal) => Promise.reject(asEnd(runId, refusal)));
    return error;
  }
  if (goesOn(error)) return error;
  const failure = { code: codeOf(error), message: toLine(error instanceof Error ? error.message : String(error)) };
  await client.runs.fail({ runId, error: failure }).catch((refusal) => Promise.reject(asEnd(runId, refusal)));
  return new RunEndedError(runId, "FAILED", failure.message, { cause: error });
}

/** Whether an error leaves the run as it is: it has ended already, or it can go on later. */
function goesOn(error: unknown): boolean {
  const kinds = [AgentPausedError, AgentDeactivatedError, AgentStoppedError, RunEndedError];
  return kinds.some((kind) => error instanceof kind) || isTransient(error);
}

/** A refusal of the service to end a run: the run is over already. */
function asEnd(runId: string, error: unknown): unknown {
  if (!(error instanceof AgentApiError) || error.code !== "invalid_state") return error;
  return new RunEndedError(runId, null, error.message, { cause: error });
}

/** Why a heartbeat ended the run. */
function toEnd(runId: string, cause: unknown): Error {
  if (cause === "cancel_requested") return new CancelRequested(runId);
  if (cause instanceof AgentApiError) return new RunEndedError(runId, null, cause.message, { cause });
  return cause instanceof Error ? cause : new RunEndedError(runId, null, String(cause));
}

function endedBefore({ runId, status, error }: { runId: string; status: string; error: { message: string } | null }): RunEndedError {
  return new RunEndedError(runId, status, error?.message ?? `it is ${status}.`);
}

function codeOf(error: unknown): string {
  const code = error instanceof AgentKitError ? error.code : (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^[\w.-]{1,100}$/.test(code) ? code : "agent_error";
}

/** A text as the service accepts it in one line. */
function toLine(text: string): string {
  return (
    text
      .replace(/\p{Cc}+/gu, " ")
      .trim()
      .slice(0, 1000) || "The agent failed."
  );
}

function createRun({ client, clock, answers }: RunDeps, runId: string, steps: Steps, heartbeat: Heartbeat, signal: AbortSignal): Run {
  const { activationId } = client;
  const step = async <T>(name: string, work: (step: Step) => T | Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    const result = await steps.once(name, work);
    signal.throwIfAborted();
    return result;
  };

  // The service suspends a run when a request is new, not when a repeat finds it.
  const onStatus = (status: number): void => {
    if (status === 201) heartbeat.wait();
  };
  const suspend = async <A extends Answer>(id: string): Promise<A> => {
    const answer = (await answers.wait(id, signal)) as A;
    heartbeat.resume();
    return answer;
  };

  return {
    id: runId,
    activationId,
    client,
    signal,
    step,
    log: (message, { level = "info", data } = {}) => {
      signal.throwIfAborted();
      if (steps.isReplaying()) return;
      heartbeat.log({ level, message, ...(data === undefined ? {} : { data }), at: new Date(clock.now()).toISOString() });
    },
    progress: (percent, label) => {
      signal.throwIfAborted();
      if (steps.isReplaying()) return;
      heartbeat.report({ progress: { percent, label } });
    },
    checkpoint: async (value) => {
      signal.throwIfAborted();
      if (steps.isReplaying()) return;
      await steps.setCheckpoint(value);
      heartbeat.report({ checkpoint: value });
    },
    get lastCheckpoint() {
      return steps.checkpoint;
    },
    approval: (name, { text, format, ...approval }) =>
      step(name, async () => {
        // What is logged before the question reads before it.
        await heartbeat.flush();
        const message = await steps.once(`${name}.request`, ({ idempotencyKey: externalId }) =>
          client.messages.create(
            { type: "APPROVAL_REQUEST", text, format, runId, externalId, approval },
            { signal, onStatus: approval.suspendRun === false ? undefined : onStatus },
          ),
        );
        const { decision, comment } = decisionOf(message) ?? (await suspend<HandledEvents["approval_response"]>(message.id));
        return { decision, approved: decision === "approved", comment, messageId: message.id };
      }),
    credits: (name, spending) =>
      step(name, ({ idempotencyKey }) => client.credits.consume({ action: name, ...spending, runId }, { signal, idempotencyKey })),
    wakeup: (name, when) =>
      step(name, async () => {
        if (when.delaySeconds === undefined && when.runAt === undefined)
          throw new UsageError(`The wakeup ${name} needs delaySeconds or runAt.`);
        await heartbeat.flush();
        const { wakeupId } = await steps.once(`${name}.request`, ({ idempotencyKey: dedupeKey }) =>
          client.wakeups.create({ reason: name, ...when, runId, dedupeKey, suspendRun: true }, { signal, onStatus }),
        );
        return suspend<HandledEvents["agent.wakeup"]>(wakeupId);
      }),
  };
}

/** The answer a message already has, when the request is repeated after a crash. */
function decisionOf({ approval }: Message): { decision: string; comment: string | null } | null {
  if (!approval || approval.status === "PENDING" || approval.decision === null) return null;
  return { decision: approval.decision, comment: approval.comment };
}
