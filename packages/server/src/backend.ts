import type { Db } from "./db/db.ts";
import type { Place } from "./db/place.ts";
import type { Snapshots } from "./dev/snapshots.ts";
import type { BackendStats } from "./health/metrics.ts";
import type { KeyStore } from "./installation/key-rotation.ts";
import type { Clock } from "./lib/clock.ts";
import type { Log } from "./lib/log.ts";
import type { MasterKeys } from "./lib/master-keys.ts";
import type { Random } from "./lib/random.ts";
import type { Limiter } from "./lib/rate.ts";
import type { Queue } from "./queue/queue.ts";

interface QueueParts {
  clock: Clock;
  random: Random;
  log: Log;
  /** True while the server is busy with requests: accepting comes before delivering. */
  overloaded: () => boolean;
}

/** A database and everything that depends on which one it is: nothing else in the product asks. */
export interface Backend {
  readonly db: Db;
  /** Finds out where the data is. */
  findPlace(): Promise<Place>;
  /** Longest time for which a key may be cached, ms: other processes may revoke it. */
  readonly keysMaxAgeMs: number;
  /** The key that encrypts secrets when none is configured: created once, while the database `isNew`, and stored. Throws KeyMissing. */
  masterKeys(random: Random, isNew: boolean): Promise<MasterKeys>;
  /** Storage of these keys. */
  readonly keyStore: KeyStore;
  /** Longest time until all processes know a key that another one has stored, ms. */
  readonly keySpreadMs: number;
  /** Snapshots of dev mode. */
  readonly snapshots: Snapshots;
  makeQueue(parts: QueueParts): Queue;
  /** `controllable` when the clock is not the machine's. */
  makeLimiter(clock: Clock, controllable: boolean): Limiter;
  /** Reads what the database tells about itself, for metrics. */
  readStats(): Promise<BackendStats>;
  /** Captured mails under way at the same time: as many as leave fastest. */
  readonly capturesAtOnce: number;
  /** Contacts that become recipients of a campaign in one transaction. */
  readonly recipientsAtOnce: number;
  /** Called for each connection accepted. */
  connectionAccepted(): void;
}
