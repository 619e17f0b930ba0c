import type { ListDeps } from "../../lists/deps.ts";
import type { Queue } from "../../queue/queue.ts";
import type { UnsubscribeDeps } from "../../unsubscribe/deps.ts";
import type { AgentDeps } from "../agent-access.ts";

export interface PageDeps extends AgentDeps, ListDeps, UnsubscribeDeps {
  readonly config: AgentDeps["config"] & ListDeps["config"];
  readonly queue: Queue;
}
