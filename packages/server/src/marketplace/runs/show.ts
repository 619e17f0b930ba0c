import type { Run, RunDetail, RunLogEntry } from "@mailsvc/sdk/contract";
import { iso } from "../../lib/clock.ts";
import type { AgentTables } from "../../schema.ts";
import { effectiveRun, type RunRow } from "./store.ts";

/** A run as it counts now. */
export function showRun(stored: RunRow, overdue: number): Run {
  const row = effectiveRun(stored, overdue);
  return {
    runId: row.runId,
    activationId: row.activationId,
    status: row.status,
    title: row.title,
    trigger: row.trigger,
    parentRunId: row.parentRunId,
    startedAt: iso(row.startedAt),
    lastHeartbeatAt: iso(row.lastHeartbeatAt),
    deadlineAt: instant(row.deadlineAt),
    finishedAt: instant(row.finishedAt),
    waitingFor: row.waitingFor,
    progress: row.progress,
    summary: row.summary,
    output: row.output,
    error: row.error,
    failureReason: row.failureReason,
    metrics: row.metrics,
    metadata: row.metadata,
    creditsConsumed: row.creditsConsumed,
    cancelRequested: row.cancelRequested,
  };
}

export function showRunDetail(row: RunRow, overdue: number): RunDetail {
  return { ...showRun(row, overdue), checkpoint: row.checkpoint };
}

export function showRunLog({ level, message, data, at, agentAt }: AgentTables["runLogs"]["$inferSelect"]): RunLogEntry {
  return {
    level,
    message,
    data,
    at: iso(at),
    agentAt: instant(agentAt),
  };
}

function instant(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}
