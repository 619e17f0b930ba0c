import { ApiError } from "../lib/api-error.ts";
import type { AgentHandlers } from "./agent-access.ts";
import { explainToAgent } from "./agent-webhooks/explain.ts";
import { explainRunOf } from "./runs/explain.ts";

/** Explanations for an agent: of its own activation and, if it may read them, of its runs. */
export const agentExplanationHandlers: AgentHandlers<"explanations"> = {
  get: async ({ id }, { read, deps, workspaceId, agent }) => {
    const { activationId } = agent;
    // The clock of dev mode is not the agent's to move.
    const present = { now: deps.clock.now(), dev: false };
    if (id === activationId) return explainToAgent(read, present, workspaceId, id);
    if (!agent.scopes.has("agent:read_runs"))
      throw new ApiError("forbidden", "This activation does not have the scope agent:read_runs.", {
        details: [{ path: "", code: "missing_scope", message: "agent:read_runs" }],
      });
    return explainRunOf(read, { ...present, overdue: deps.runClock.overdue() }, { activationId, runId: id }, "agent").catch((error) => {
      if (!(error instanceof ApiError) || error.code !== "not_found") throw error;
      throw new ApiError("not_found", `Neither this activation nor a run of it has the id ${JSON.stringify(id)}.`);
    });
  },
};
