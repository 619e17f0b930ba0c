import type { Run, RunFailure, RunStatus } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../../db/columns.ts";

type Json = Record<string, unknown>;

export function runTables(c: ColumnTypes) {
  return {
    runs: c.table(
      "runs",
      {
        /** Ours, sorted by time; `runId` is what the agent calls it. */
        id: c.text("id").primaryKey(),
        activationId: c.text("activation_id").notNull(),
        workspaceId: c.text("workspace_id").notNull(),
        runId: c.text("run_id").notNull(),
        /** Of the request that started it: a repeat must say the same. */
        requestHash: c.text("request_hash").notNull(),
        status: c.text("status").$type<RunStatus>().notNull(),
        title: c.text("title"),
        trigger: c.json<NonNullable<Run["trigger"]>>("trigger"),
        parentRunId: c.text("parent_run_id"),
        metadata: c.json<Json>("metadata"),
        startedAt: c.instant("started_at").notNull(),
        lastHeartbeatAt: c.instant("last_heartbeat_at").notNull(),
        /** When it fails if nothing is heard; while WAITING, when it stops waiting. Null once final. */
        deadlineAt: c.instant("deadline_at"),
        waitingFor: c.text("waiting_for").$type<"approval" | "wakeup">(),
        /** The approval or wakeup it waits for. */
        waitingOn: c.text("waiting_on"),
        finishedAt: c.instant("finished_at"),
        progress: c.json<NonNullable<Run["progress"]>>("progress"),
        checkpoint: c.json<unknown>("checkpoint"),
        summary: c.text("summary"),
        output: c.json<unknown>("output"),
        error: c.json<NonNullable<Run["error"]>>("error"),
        metrics: c.json<Record<string, number>>("metrics"),
        failureReason: c.text("failure_reason").$type<RunFailure>(),
        creditsConsumed: c.int("credits_consumed").notNull(),
        cancelRequested: c.flag("cancel_requested").notNull(),
        /** The agent's own count of its log calls: what is not newer is a repeat. */
        logSequence: c.int("log_sequence").notNull(),
      },
      (t) => [
        c.uniqueIndex("runs_run").on(t.activationId, t.runId),
        c.index("runs_activation").on(t.activationId, t.id),
        c.index("runs_live").on(t.activationId, t.status),
        c.index("runs_deadline").on(t.status, t.deadlineAt),
      ],
    ),
    runLogs: c.table(
      "run_logs",
      {
        id: c.counter("id"),
        /** `runs.id`. */
        run: c.text("run").notNull(),
        level: c.text("level").$type<"debug" | "info" | "warn" | "error">().notNull(),
        message: c.text("message").notNull(),
        data: c.json<unknown>("data"),
        at: c.instant("at").notNull(),
        /** When the agent says it happened: shown, not trusted. */
        agentAt: c.instant("agent_at"),
      },
      (t) => [c.index("run_logs_run").on(t.run, t.id)],
    ),
  };
}
