import type { ErrorCode } from "@mailsvc/sdk/contract";
import type { Db } from "../db/db.ts";
import type { Clock } from "../lib/clock.ts";
import type { Ids } from "../lib/ids.ts";
import type { IpNetwork } from "../lib/ip-network.ts";
import type { Log } from "../lib/log.ts";
import type { Random } from "../lib/random.ts";
import type { Seal } from "../lib/seal.ts";
import type { Tracing } from "../lib/tracing.ts";
import type { FailedLogins } from "./failed-logins.ts";
import type { Rates } from "./rate-limit.ts";
import type { StorageHealth } from "./storage-health.ts";

export interface HttpDeps {
  readonly clock: Clock;
  readonly db: Db;
  readonly ids: Ids;
  readonly log: Log;
  readonly random: Random;
  readonly seal: Seal;
  readonly failedLogins: FailedLogins;
  /** Tells if the database can take writes. */
  readonly storage: StorageHealth;
  /** Traces; null when they are off. */
  readonly tracing: Tracing | null;
  /** Hears of every error that is answered, also over SMTP. */
  readonly onError?: (code: ErrorCode) => void;
  readonly config: {
    readonly dev: boolean;
    readonly maxBodyBytes: number;
    readonly rates: Rates;
    readonly trustedProxies: readonly IpNetwork[];
  };
}
