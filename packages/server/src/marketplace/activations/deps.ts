import type { Db } from "../../db/db.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Ids } from "../../lib/ids.ts";
import type { Random } from "../../lib/random.ts";
import type { Queue } from "../../queue/queue.ts";
import type { ActivationHooks } from "./lifecycle.ts";

export interface ActivationDeps {
  readonly clock: Clock;
  readonly db: Db;
  readonly ids: Ids;
  readonly queue: Queue;
  readonly random: Random;
  readonly activationHooks: ActivationHooks;
}
