import type { EventDeps } from "../events/deps.ts";
import type { Ids } from "../lib/ids.ts";
import type { MembershipDeps } from "../memberships/memberships.ts";
import type { Queue } from "../queue/queue.ts";

export interface SegmentDeps extends EventDeps, MembershipDeps {
  readonly ids: Ids;
  readonly queue: Queue;
}
