import type { AgentDeps, AgentTx } from "../../deps.ts";

/** Fails runs whose deadline has passed. */
export const SWEEP_JOB = "agent.runs.sweep";

/**
 * Sees to it that runs are looked through at an instant (ms). There is one such job for a second, however many runs there
 * are; each, when it has run, leaves one for the next deadline. So of every RUNNING run some job stands before its end,
 * and a heartbeat, which only moves a deadline away, costs none.
 */
export function scheduleSweep(tx: AgentTx, deps: AgentDeps, at: number): Promise<void> {
  return deps.queue.enqueue(tx, { kind: SWEEP_JOB, payload: {}, runAt: at, dedupeKey: `${SWEEP_JOB}:${Math.floor(at / 1000)}` });
}
