import type { InstallationDeps } from "../installation/deps.ts";
import type { FaultRules } from "../lib/fault-rules.ts";
import type { Queue } from "../queue/queue.ts";

export interface DevDeps extends InstallationDeps {
  readonly queue: Queue;
  /** Rules that make requests and SMTP fail; null outside of dev mode. */
  readonly faults: FaultRules | null;
  /** The latest requests; null outside of dev mode. */
  readonly requestLog: { clear(): void } | null;
}
