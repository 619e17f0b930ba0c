import { ActiveRun, type RunDeps } from "./active-run.ts";
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
} from "./errors.ts";
import { type Heartbeat, startHeartbeat } from "./heartbeat.ts";
import { assertJson } from "./json.ts";
import { anything, checkOptions, limitMs } from "./options.ts";
import type { Run, RunOptions, RunOutcome, RunResult } from "./run.ts";
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

  const steps = await Steps.load(store, `${client.activationId}/${runId}`, keepMs);
  const controller = new AbortController();
  const abort = (reason: Error): void => controller.abort(reason);
  const { clock } = deps;
  const heartbeat = startHeartbeat(
    { client, clock, runId, signal: controller.signal, onEnd: (cause) => abort(toEnd(runId, cause)) },
    started.status === "WAITING",
  );
  const limits = new WorkLimits({ clock, maxDurationMs, maxSilenceMs, workedMs: steps.workedMs, onExceeded: abort });
  const unregister = deps.register(abort);
  const run = new ActiveRun({ deps, runId, steps, heartbeat, limits, signal: controller.signal });
  try {
    return await doWork(deps, run, heartbeat, work);
  } catch (error) {
    if (!controller.signal.aborted) await heartbeat.flush();
    throw await endBy(client, runId, controller.signal.aborted ? controller.signal.reason : error);
  } finally {
    limits.stop();
    heartbeat.stop();
    unregister();
  }
}

/** Does the work and completes the run with what it returns. */
async function doWork(deps: RunDeps, run: Run, heartbeat: Heartbeat, work: (run: Run) => Promise<unknown>): Promise<RunResult> {
  const { client, telemetry } = deps;
  const { id: runId, activationId, signal } = run;
  const outcome = await telemetry({ name: "run", attributes: { activationId, runId } }, () =>
    Promise.race([work(run), rejectWhenOver(signal)]),
  );
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

/**
 * Rejects when the run is over for good, so that work that hangs does not hold its event. After a pause or a stop the work is waited for:
 * it begins again later, and must not do so twice.
 */
function rejectWhenOver(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => {
      if (!(signal.reason instanceof AgentPausedError || signal.reason instanceof AgentStoppedError)) reject(signal.reason);
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

/** Whether an error leaves a run as it is, so that its event must be repeated. */
export function goesOnLater(error: unknown): boolean {
  const kinds = [AgentPausedError, AgentStoppedError, MissingKeyError];
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
