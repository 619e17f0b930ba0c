import { ActiveRun, type RunDeps } from "./active-run.ts";
import { Activity } from "./activity.ts";
import type { AgentClient } from "./client.ts";
import {
  AgentApiError,
  AgentDeactivatedError,
  AgentKitError,
  AgentPausedError,
  AgentStoppedError,
  isTransient,
  MissingKeyError,
  RunEndedError,
  RunWaitingError,
} from "./errors.ts";
import { type Heartbeat, startHeartbeat } from "./heartbeat.ts";
import { assertJson } from "./json.ts";
import { anything, checkOptions, limitMs } from "./options.ts";
import { Reports } from "./reports.ts";
import type { Run, RunOptions, RunOutcome, RunResult } from "./run.ts";
import { RunState } from "./run-state.ts";
import { within } from "./runtime.ts";
import { Steps } from "./steps.ts";
import { WorkLimits } from "./work-limits.ts";

const HOUR_MS = 3_600_000;

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
 *   RUNNING          | it takes too long, or is silent     | `signal`, then FAILED, RunEndedError with the cause
 *   RUNNING          | the brand asks it to stop           | `signal`, then CANCELLED, RunEndedError
 *   RUNNING, WAITING | the work can only wait              | WAITING; RunWaitingError goes up, and the answer repeats the event
 *   any              | pause, stop, service not reachable  | unchanged; the error goes up, and the event is repeated later
 */
export async function performRun(
  deps: RunDeps,
  runId: string,
  options: RunOptions,
  work: (run: Run) => Promise<unknown>,
): Promise<RunResult> {
  checkOptions("run", options, RUN_CHECKS);
  const { client, store, keepMs } = deps;
  const { id: _id, maxDurationMs = Number.POSITIVE_INFINITY, maxSilenceMs = HOUR_MS, ...start } = options;
  const started = await client.runs.start({ runId, ...start });
  if (started.status === "COMPLETED") return { runId, summary: started.summary, output: started.output };
  if (started.status === "FAILED" || started.status === "CANCELLED") throw endedBefore(started);

  const key = `run/${client.activationId}/${runId}`;
  const state = await RunState.load(store, key, keepMs, started.logSequence);
  const { signal, abort } = createController();
  const { clock } = deps;
  const reports = new Reports(started.logSequence, (seq, prepared) => state.prepare(seq, prepared));
  const onEnd = (cause: unknown): void => abort(toEnd(runId, cause));
  const heartbeat = startHeartbeat({ client, clock, runId, reports, signal, onEnd }, started.status === "WAITING");
  const limits = new WorkLimits({ clock, maxDurationMs, maxSilenceMs, workedMs: state.workedMs, onExceeded: abort });
  const unregister = deps.register(abort);
  const activity = new Activity(
    (isStill) => limits.hold(isStill),
    (waitsFor) => abort(new RunWaitingError(waitsFor)),
  );
  const run = new ActiveRun({ deps, runId, steps: new Steps(store, key, keepMs), state, activity, heartbeat, reports, limits, signal });
  try {
    return await doWork(deps, run, heartbeat, work);
  } catch (error) {
    if (!signal.aborted) await heartbeat.flush();
    if (signal.reason instanceof RunWaitingError) await suspend(runId, heartbeat, () => state.setWorked(limits.workedMs));
    throw await endBy(client, runId, signal.aborted ? signal.reason : error);
  } finally {
    activity.stop();
    limits.stop();
    heartbeat.stop();
    unregister();
  }
}

/** Does the work and completes the run with what it returns. */
async function doWork(deps: RunDeps, run: Run, heartbeat: Heartbeat, work: (run: Run) => Promise<unknown>): Promise<RunResult> {
  const { client, telemetry } = deps;
  const { id: runId, activationId, signal } = run;
  const outcome = await telemetry({ name: "run", attributes: { activationId, runId } }, async () => {
    const done = work(run);
    return Promise.race([done, rejectWhenOver(signal, done)]);
  });
  signal.throwIfAborted();
  const { summary, output, metrics } = (outcome ?? {}) as RunOutcome;
  assertJson(output, "The output of the run");
  await heartbeat.flush();
  const done = await client.runs.complete({ runId, summary, output, metrics }).catch((error) => Promise.reject(asEnd(runId, error)));
  return { runId, summary: done.summary, output: done.output };
}

const RUN_CHECKS = {
  id: anything,
  title: anything,
  trigger: anything,
  metadata: anything,
  parentRunId: anything,
  maxDurationMs: limitMs,
  maxSilenceMs: limitMs,
} satisfies Record<keyof RunOptions, unknown>;

/** Says that a run waits, so that no heartbeat is expected. */
async function suspend(runId: string, heartbeat: Heartbeat, store: () => Promise<void>): Promise<void> {
  await store();
  await heartbeat.suspend().catch((error) => Promise.reject(goesOnLater(error) ? error : toEnd(runId, error)));
}

function createController(): { readonly signal: AbortSignal; readonly abort: (reason: Error) => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: (reason) => controller.abort(reason) };
}

// Time for work that cleans up when its run is suspended.
const CLEANUP_MS = 1000;

/**
 * Rejects when the run is over for good, so that work that hangs does not hold its event. After a pause or a stop the work is waited for:
 * it begins again later, and must not do so twice. Work that can only wait has little to do.
 */
function rejectWhenOver(signal: AbortSignal, work: Promise<unknown>): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", async () => {
      const { reason } = signal;
      if (reason instanceof AgentPausedError || reason instanceof AgentStoppedError) return;
      if (reason instanceof RunWaitingError)
        await within(
          CLEANUP_MS,
          work.catch(() => {}),
        );
      reject(reason);
    });
  });
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
  if (error instanceof RunEndedError || error instanceof AgentDeactivatedError || goesOnLater(error)) return error;
  const failure = { code: codeOf(error), message: toLine(error instanceof Error ? error.message : String(error)) };
  await client.runs.fail({ runId, error: failure }).catch((refusal) => Promise.reject(asEnd(runId, refusal)));
  return new RunEndedError(runId, "FAILED", failure.message, { cause: error });
}

/** True if an error leaves a run as it is, so that its event must be repeated. */
export function goesOnLater(error: unknown): boolean {
  const kinds = [AgentPausedError, AgentStoppedError, MissingKeyError, RunWaitingError];
  return kinds.some((kind) => error instanceof kind) || isTransient(error);
}

/** A refusal of the service to end a run: the run is over already. */
function asEnd(runId: string, error: unknown): unknown {
  if (!(error instanceof AgentApiError) || error.code !== "invalid_state") return error;
  return new RunEndedError(runId, null, error.message, { cause: error });
}

/** Returns the reason a heartbeat ended the run. */
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
