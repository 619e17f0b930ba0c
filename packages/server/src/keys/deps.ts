import type { Clock } from "../lib/clock.ts";
import type { Ids } from "../lib/ids.ts";
import type { Random } from "../lib/random.ts";
import type { KeyCache } from "./key-cache.ts";
import type { KeyUse } from "./key-use.ts";
import type { KeyWatch } from "./key-watch.ts";

export interface KeyDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly config: { readonly dev: boolean };
  readonly keyCache: Pick<KeyCache, "clear">;
  readonly keyUse: Pick<KeyUse, "find">;
  readonly keyWatch: Pick<KeyWatch, "checkNow">;
}
