import type { Clock } from "../lib/clock.ts";
import type { Ids } from "../lib/ids.ts";

export interface AuditDeps {
  readonly ids: Ids;
  readonly clock: Clock;
}
