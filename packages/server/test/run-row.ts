import { WINDOW_MS } from "../src/marketplace/runs/clock.ts";
import type { RunTables } from "../src/marketplace/runs/tables.ts";

type RunRow = RunTables["runs"]["$inferSelect"];

/** A row of `runs`, RUNNING since `at` unless `also` overrides it. */
export function runRow(n: number, at: number, also: Partial<RunRow> = {}): RunRow {
  return {
    id: `run_${String(n).padStart(26, "0")}`,
    activationId: "act_1",
    workspaceId: "ws_1",
    runId: `run-${String(n).padStart(6, "0")}`,
    requestHash: "",
    status: "RUNNING",
    title: null,
    trigger: null,
    parentRunId: null,
    metadata: null,
    startedAt: at,
    lastHeartbeatAt: at,
    deadlineAt: at + WINDOW_MS,
    waitingFor: null,
    waitingOn: null,
    finishedAt: null,
    progress: null,
    checkpoint: null,
    summary: null,
    output: null,
    error: null,
    metrics: null,
    failureReason: null,
    creditsConsumed: 0,
    cancelRequested: false,
    logSequence: 0,
    ...also,
  };
}
