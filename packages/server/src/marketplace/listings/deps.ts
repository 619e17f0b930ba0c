import type { Db } from "../../db/db.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Guard } from "../../lib/guard-url.ts";
import type { Ids } from "../../lib/ids.ts";
import type { Random } from "../../lib/random.ts";
import type { Seal } from "../../lib/seal.ts";
import type { Queue } from "../../queue/queue.ts";
import type { ListingHooks } from "./lifecycle.ts";

export interface ListingDeps {
  readonly clock: Clock;
  readonly db: Db;
  readonly ids: Ids;
  readonly queue: Queue;
  readonly random: Random;
  readonly seal: Seal;
  readonly listingHooks: ListingHooks;
  /** The addresses that webhooks may have. */
  readonly webhookGuard: Guard;
  readonly config: { readonly dev: boolean };
}
