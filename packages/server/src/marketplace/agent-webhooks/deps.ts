import type { EventDeps } from "../../events/deps.ts";
import type { Limiter } from "../../lib/rate.ts";
import type { Queue } from "../../queue/queue.ts";
import type { WebhookDeps } from "../../webhooks/webhooks.ts";
import type { ActivationDeps } from "../activations/activations.ts";
import type { AgentDeps } from "../agent-access.ts";

export interface AgentWebhookDeps extends AgentDeps, ActivationDeps, WebhookDeps {
  readonly config: AgentDeps["config"];
  /** Rate limits, shared by all servers on one database. */
  readonly limiter: Limiter;
  readonly queue: Queue;
  readonly eventStream: EventDeps["eventStream"];
  readonly webhooks: WebhookDeps["webhooks"];
}
