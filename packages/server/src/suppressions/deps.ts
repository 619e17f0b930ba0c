import type { EventDeps } from "../events/deps.ts";
import type { Clock } from "../lib/clock.ts";
import type { Ids } from "../lib/ids.ts";
import type { Random } from "../lib/random.ts";
import type { SuppressionHooks } from "./hooks.ts";

export interface SuppressionDeps extends EventDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly suppressionHooks: SuppressionHooks;
}
