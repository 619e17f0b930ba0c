import type { AgentHandlers } from "./agent-access.ts";
import { explainToAgent } from "./agent-webhooks/explain.ts";
import { explainRunOf } from "./runs/explain.ts";

/** What an agent may have explained: its own activation and the runs of it. */
export const agentExplanationHandlers: AgentHandlers<"explanations"> = {
  get: ({ id }, { read, deps, workspaceId, agent: { activationId } }) => {
    // The clock of dev mode is not the agent's to move.
    const present = { now: deps.clock.now(), dev: false };
    return id === activationId
      ? explainToAgent(read, present, workspaceId, id)
      : explainRunOf(read, { ...present, overdue: deps.runClock.overdue() }, { activationId, runId: id }, "agent");
  },
};
