import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { getActivation } from "../activations/activations.ts";
import type { AgentHandlers } from "../agent-access.ts";
import { cancelRunForBrand, endRun, logRun, type RunDeps, startRun } from "./runs.ts";
import { getRunRow, listRunLogs, listRuns, showRun, showRunDetail } from "./store.ts";

/** Runs, for the brand whose agent works on them. */
export const runHandlers: Handlers<typeof contract.runs, RunDeps> = {
  list: async ({ id, ...input }, { read, deps, workspaceId }) => {
    await getActivation(read, workspaceId, id);
    return listRuns(read, id, deps.runClock.overdue(), input);
  },
  get: async ({ id, runId }, { read, deps, workspaceId }) => {
    await getActivation(read, workspaceId, id);
    const overdue = deps.runClock.overdue();
    return showRun(await getRunRow(read, { activationId: id, runId }, overdue), overdue);
  },
  logs: async ({ id, runId, ...input }, { read, workspaceId }) => {
    await getActivation(read, workspaceId, id);
    return listRunLogs(read, { activationId: id, runId }, input);
  },
  cancel: async ({ id, runId, force }, { tx, deps, workspaceId }) => {
    await getActivation(tx, workspaceId, id);
    return cancelRunForBrand(tx, deps, { activationId: id, runId }, force);
  },
};

/** Runs, for their agent. */
export const agentRunHandlers: AgentHandlers<"runs"> = {
  start: async (input, { tx, deps, agent }) => {
    const { run, created } = await startRun(tx, deps, agent, input);
    return { status: created ? 201 : 200, body: run };
  },
  log: (input, { tx, deps, agent: { activationId } }) => logRun(tx, deps, activationId, input),
  complete: ({ runId, status, ...result }, { tx, deps, agent: { activationId } }) =>
    endRun(tx, deps, { activationId, runId }, status, result),
  fail: ({ runId, ...result }, { tx, deps, agent: { activationId } }) => endRun(tx, deps, { activationId, runId }, "FAILED", result),
  cancel: ({ runId, ...result }, { tx, deps, agent: { activationId } }) => endRun(tx, deps, { activationId, runId }, "CANCELLED", result),
  list: (input, { read, deps, agent: { activationId } }) => listRuns(read, activationId, deps.runClock.overdue(), input),
  get: async ({ activationId, runId }, { read, deps }) => {
    const overdue = deps.runClock.overdue();
    return showRunDetail(await getRunRow(read, { activationId, runId }, overdue), overdue);
  },
  logs: ({ activationId, runId, ...input }, { read }) => listRunLogs(read, { activationId, runId }, input),
};
