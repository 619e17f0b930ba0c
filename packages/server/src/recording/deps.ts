import type { Explanation } from "@mailsvc/sdk/contract";
import type { Db } from "../db/db.ts";
import type { Clock } from "../lib/clock.ts";
import type { Queue } from "../queue/queue.ts";

export interface RecordingDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly queue: Pick<Queue, "idle">;
  /** Explains an object of a workspace. Throws ApiError not_found. */
  explain(workspaceId: string, id: string): Promise<Explanation>;
}
