import type { Db } from "../db/db.ts";
import type { Clock } from "../lib/clock.ts";
import type { Ids } from "../lib/ids.ts";
import type { Seal } from "../lib/seal.ts";
import type { RelayRegistry } from "./registry.ts";

export interface RelayDeps {
  readonly relays: RelayRegistry;
  readonly clock: Clock;
  readonly db: Db;
  readonly ids: Ids;
  readonly seal: Seal;
  readonly config: { readonly mailFrom: string; readonly dev: boolean };
}
