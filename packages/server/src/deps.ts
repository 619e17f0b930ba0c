import type { Config } from "./config.ts";
import type { Db } from "./db/db.ts";
import type { KeyRing } from "./keys/ring.ts";
import type { Clock } from "./lib/clock.ts";
import type { Ids } from "./lib/ids.ts";
import type { Log } from "./lib/log.ts";
import type { Random } from "./lib/random.ts";
import type { Mailer } from "./mail/mailer.ts";
import type { Queue } from "./queue/queue.ts";
import type { DomainRecords } from "./senders/dns.ts";

/** Everything the product takes from outside. Made in one place (`app.ts`), passed down, never reached for. */
export interface Deps {
  readonly config: Config;
  readonly version: string;
  readonly db: Db;
  readonly queue: Queue;
  readonly mailer: Mailer;
  readonly dns: DomainRecords;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly log: Log;
  readonly keyRing: KeyRing;
  /** Address under which people reach this server, without a trailing slash. Known once it listens. */
  baseUrl(): string;
}
