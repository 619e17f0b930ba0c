import type { ColumnTypes } from "../../db/columns.ts";
import type { NewAgentEvent } from "./agent-webhooks.ts";

export function agentWebhookTables(c: ColumnTypes) {
  return {
    /** Events that ask a paused agent to go on: they enter the outbox when it is resumed, or ends. */
    heldAgentEvents: c.table(
      "held_agent_events",
      {
        id: c.counter("id"),
        activationId: c.text("activation_id").notNull(),
        event: c.json<NewAgentEvent>("event").notNull(),
      },
      (t) => [c.index("held_agent_events_activation").on(t.activationId, t.id)],
    ),
  };
}

export type AgentWebhookTables = ReturnType<typeof agentWebhookTables>;
