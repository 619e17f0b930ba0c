import type { Run, RunFailure, RunStatus } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../../db/columns.ts";

type Json = Record<string, unknown>;

export function runTables(c: ColumnTypes) {
  return {
    runs: c.table(
      "runs",
      {
        /** Our id, sorted by time; `runId` is the agent's. */
        id: c.text("id").primaryKey(),
        activationId: c.text("activation_id").notNull(),
        workspaceId: c.text("workspace_id").notNull(),
        runId: c.text("run_id").notNull(),
        /** Hash of the request that started it: a repeat must be identical. */
        requestHash: c.text("request_hash").notNull(),
        status: c.text("status").$type<RunStatus>().notNull(),
        title: c.text("title"),
        trigger: c.json<NonNullable<Run["trigger"]>>("trigger"),
        parentRunId: c.text("parent_run_id"),
        metadata: c.json<Json>("metadata"),
        startedAt: c.instant("started_at").notNull(),
        lastHeartbeatAt: c.instant("last_heartbeat_at").notNull(),
        /** RUNNING: when it fails without a further heartbeat. WAITING: when the wait is over. Null in a final state. */
        deadlineAt: c.instant("deadline_at"),
        waitingFor: c.text("waiting_for").$type<"approval" | "wakeup">(),
        /** Id of the approval or wakeup it waits for. */
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
        /** The latest `seq` of the agent's log calls: a call whose `seq` is not higher is a repeat. */
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
        /** The time the agent gave; shown but never used to decide anything. */
        agentAt: c.instant("agent_at"),
      },
      (t) => [c.index("run_logs_run").on(t.run, t.id)],
    ),
  };
}

export type RunTables = ReturnType<typeof runTables>;

declare module "../../lib/ids.ts" {
  interface IdPrefixes {
    readonly run: "runs";
  }
}
