import type { Db } from "../../db/db.ts";
import type { Queue } from "../../queue/queue.ts";
import type { AgentDeps } from "../agent-access.ts";

export interface FileDeps extends AgentDeps {
  readonly db: Db;
  readonly queue: Queue;
}
