import type { Run, RunFailure, RunStatus } from "@mailsvc/sdk/contract";
import type { Kit } from "../../db/postgres/columns.ts";

type Json = Record<string, unknown>;

export function runTables(k: Kit) {
  return {
    runs: k.table(
      "runs",
      {
        /** Ours, sorted by time; `runId` is what the agent calls it. */
        id: k.text("id").primaryKey(),
        activationId: k.text("activation_id").notNull(),
        workspaceId: k.text("workspace_id").notNull(),
        runId: k.text("run_id").notNull(),
        /** Of the request that started it: a repeat must say the same. */
        requestHash: k.text("request_hash").notNull(),
        status: k.text("status").$type<RunStatus>().notNull(),
        title: k.text("title"),
        trigger: k.json<NonNullable<Run["trigger"]>>("trigger"),
        parentRunId: k.text("parent_run_id"),
        metadata: k.json<Json>("metadata"),
        startedAt: k.instant("started_at").notNull(),
        lastHeartbeatAt: k.instant("last_heartbeat_at").notNull(),
        /** When it fails if nothing is heard; while WAITING, when it stops waiting. Null once final. */
        deadlineAt: k.instant("deadline_at"),
        waitingFor: k.text("waiting_for").$type<"approval" | "wakeup">(),
        /** The approval or wakeup it waits for. */
        waitingOn: k.text("waiting_on"),
        finishedAt: k.instant("finished_at"),
        progress: k.json<NonNullable<Run["progress"]>>("progress"),
        checkpoint: k.json<unknown>("checkpoint"),
        summary: k.text("summary"),
        output: k.json<unknown>("output"),
        error: k.json<NonNullable<Run["error"]>>("error"),
        metrics: k.json<Record<string, number>>("metrics"),
        failureReason: k.text("failure_reason").$type<RunFailure>(),
        creditsConsumed: k.int("credits_consumed").notNull(),
        cancelRequested: k.flag("cancel_requested").notNull(),
        /** The agent's own count of its log calls: what is not newer is a repeat. */
        logSequence: k.int("log_sequence").notNull(),
      },
      (t) => [
        k.uniqueIndex("runs_run").on(t.activationId, t.runId),
        k.index("runs_activation").on(t.activationId, t.id),
        k.index("runs_live").on(t.activationId, t.status),
        k.index("runs_deadline").on(t.status, t.deadlineAt),
      ],
    ),
    runLogs: k.table(
      "run_logs",
      {
        id: k.counter("id"),
        /** `runs.id`. */
        run: k.text("run").notNull(),
        level: k.text("level").$type<"debug" | "info" | "warn" | "error">().notNull(),
        message: k.text("message").notNull(),
        data: k.json<unknown>("data"),
        at: k.instant("at").notNull(),
        /** When the agent says it happened: shown, not trusted. */
        agentAt: k.instant("agent_at"),
      },
      (t) => [k.index("run_logs_run").on(t.run, t.id)],
    ),
  };
}
