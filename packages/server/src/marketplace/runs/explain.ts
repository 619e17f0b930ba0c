import { type Explanation, RUN_LIMITS, type Run } from "@mailsvc/sdk/contract";
import { and, desc, eq, inArray } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { ApiError, notFound } from "../../lib/api-error.ts";
import { type Action, buildExplanation, type Findings, joinSentences, type Present, quote } from "../../lib/explanation.ts";
import { getActivation } from "../activations/activations.ts";
import type { AgentTables } from "../agent-access.ts";
import { getRunRow, type RunKey, showRun } from "./store.ts";

// The latest lines of its log that the timeline shows.
const LINES = 30;

/** The server's time, and the instant up to which deadlines of runs have passed. */
interface RunPresent extends Present {
  readonly overdue: number;
}

/** Explains a run to the brand: of the activation that is named, or of the one that has a run of this id. Throws ApiError not_found. */
export async function explainRun(
  read: Reader,
  present: RunPresent,
  workspaceId: string,
  { runId, activation }: { runId: string; activation?: string | undefined },
): Promise<Explanation> {
  if (activation !== undefined) {
    await getActivation(read, workspaceId, activation);
    return explainRunOf(read, present, { activationId: activation, runId }, "brand");
  }
  const { runs: r, activations: a } = read.t;
  const own = await read.select({ id: a.id }).from(a).where(eq(a.workspaceId, workspaceId));
  const found = await read
    .select({ activationId: r.activationId })
    .from(r)
    .where(
      and(
        inArray(
          r.activationId,
          own.map(({ id }) => id),
        ),
        eq(r.runId, runId),
      ),
    )
    .orderBy(desc(r.id));
  const [one, ...others] = found;
  if (one === undefined) throw notFound("run", runId);
  if (others.length > 0)
    throw new ApiError("validation_error", `${found.length} activations have a run ${JSON.stringify(runId)}: say which.`, {
      details: [{ path: "activation", code: "required", message: `One of ${found.map(({ activationId }) => activationId).join(", ")}.` }],
    });
  return explainRunOf(read, present, { activationId: one.activationId, runId }, "brand");
}

/** Explains a run of an activation. Throws ApiError not_found. */
export async function explainRunOf(
  read: Reader<AgentTables>,
  present: RunPresent,
  name: RunKey,
  viewer: "brand" | "agent",
): Promise<Explanation> {
  const row = await getRunRow(read, name, present.overdue);
  const run = showRun(row, present.overdue);
  const { runLogs } = read.t;
  const lines = await read.select().from(runLogs).where(eq(runLogs.run, row.id)).orderBy(desc(runLogs.id)).limit(LINES);
  return buildExplanation(
    {
      id: run.runId,
      kind: "run",
      title: `Run${run.title === null ? "" : ` ${quote(run.title)}`} of the activation ${run.activationId}`,
      status: run.status,
      moments: [
        {
          at: row.startedAt,
          what: "Started",
          why: run.trigger && `Triggered by ${run.trigger.type}${run.trigger.ref === undefined ? "" : ` ${run.trigger.ref}`}.`,
        },
        ...lines.map(({ at, level, message }) => ({ at, what: `${level}: ${quote(message)}` })),
        { at: row.lastHeartbeatAt, what: "The last heartbeat" },
        ...(row.finishedAt === null ? [] : [{ at: row.finishedAt, what: `Ended: ${run.status}` }]),
      ],
      related: [run.activationId, run.parentRunId, row.waitingOn],
      ...findState(run, viewer),
    },
    present,
  );
}

function findState(run: Run, viewer: "brand" | "agent"): Pick<Findings, "summary" | "next" | "actions"> {
  const { runId, activationId, deadlineAt, error } = run;
  const at = deadlineAt === null ? null : Date.parse(deadlineAt);
  const stop: Action[] = viewer === "brand" ? [{ what: "Ask it to stop", command: `mailsvc runs cancel ${activationId} ${runId}` }] : [];
  switch (run.status) {
    case "RUNNING":
      return {
        summary: joinSentences(
          "It runs.",
          run.progress && `Progress: ${run.progress.percent} %${run.progress.label === undefined ? "" : `, ${run.progress.label}`}.`,
          run.cancelRequested ? "The brand has asked it to stop." : null,
        ),
        next: {
          at,
          what: `It fails then, unless the agent logs something before: a run needs a heartbeat every ${RUN_LIMITS.windowMinutes} minutes.`,
        },
        actions: stop,
      };
    case "WAITING":
      return {
        summary:
          run.waitingFor === "approval"
            ? "It waits for the answer to its approval request."
            : "It waits for a wakeup that it has scheduled.",
        next: { at, what: run.waitingFor === "approval" ? "The request expires then." : "It is woken up." },
        actions: [
          ...(viewer === "brand" && run.waitingFor === "approval"
            ? [{ what: "Answer the request", command: "mailsvc approvals list" }]
            : []),
          ...stop,
        ],
      };
    case "FAILED":
      return {
        summary:
          run.failureReason === "heartbeat_timeout"
            ? `It failed, because the agent sent no heartbeat for ${RUN_LIMITS.windowMinutes} minutes: it died, hangs, or does not log while it works. The agent was told by run_force_failed.`
            : joinSentences(
                "The agent reported that it failed.",
                error && `${error.code}: ${quote(error.message)}`,
                run.summary && quote(run.summary),
              ),
        actions: viewer === "brand" ? [{ what: "Read its log", command: `mailsvc runs logs ${activationId} ${runId}` }] : [],
      };
    case "CANCELLED":
      return {
        summary: joinSentences(
          "It was cancelled.",
          run.cancelRequested ? "The brand asked for it." : null,
          run.summary && quote(run.summary),
        ),
      };
    case "COMPLETED":
      return { summary: joinSentences("It was completed.", run.summary && quote(run.summary)) };
  }
}
