import type { Db } from "../db/db.ts";
import type { Queue } from "../queue/queue.ts";
import type { SuppressionDeps } from "../suppressions/deps.ts";
import type { ContactHooks } from "./hooks.ts";

export interface ContactDeps extends SuppressionDeps {
  readonly db: Db;
  readonly queue: Queue;
  readonly config: { readonly dev: boolean };
  readonly contactHooks: ContactHooks;
}
