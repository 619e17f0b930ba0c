import type { InstallationDeps } from "../installation/deps.ts";
import type { Queue } from "../queue/queue.ts";

export interface DevDeps extends InstallationDeps {
  readonly queue: Queue;
}
