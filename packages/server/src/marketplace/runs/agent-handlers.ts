import type { AgentContract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { listRunLogs, listRuns } from "./list.ts";
import { endRun, logRun, startRun } from "./runs.ts";
import { showRunDetail } from "./show.ts";
import { findRun } from "./store.ts";

/** Runs, for their agent. */
export const agentRunHandlers: Handlers<AgentContract["runs"]> = {
  start: async (input, { tx, deps, agent }) => {
    const { run, made } = await startRun(tx, deps, agent, input);
    return { status: made ? 201 : 200, body: run };
  },
  log: (input, { tx, deps, agent: { activationId } }) => logRun(tx, deps, activationId, input),
  complete: ({ runId, status, ...how }, { tx, deps, agent: { activationId } }) => endRun(tx, deps, { activationId, runId }, status, how),
  fail: ({ runId, ...how }, { tx, deps, agent: { activationId } }) => endRun(tx, deps, { activationId, runId }, "FAILED", how),
  cancel: ({ runId, ...how }, { tx, deps, agent: { activationId } }) => endRun(tx, deps, { activationId, runId }, "CANCELLED", how),
  list: (input, { read, deps, agent: { activationId } }) => listRuns(read, activationId, deps.runClock.overdue(), input),
  get: async ({ activationId, runId }, { read, deps }) => {
    const overdue = deps.runClock.overdue();
    return showRunDetail(await findRun(read, { activationId, runId }, overdue), overdue);
  },
  logs: ({ activationId, runId, ...input }, { read }) => listRunLogs(read, { activationId, runId }, input),
};
