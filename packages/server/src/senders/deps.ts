import type { Db } from "../db/db.ts";
import type { EventDeps } from "../events/deps.ts";
import type { Clock } from "../lib/clock.ts";
import type { DomainRecords } from "../lib/domain-records.ts";
import type { Ids } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { Random } from "../lib/random.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { Queue } from "../queue/queue.ts";
import type { RelayNames } from "../relays/deps.ts";
import type { VerifiedSenders } from "./verified-senders.ts";

export interface SenderDeps extends EventDeps, RelayNames {
  readonly clock: Clock;
  readonly db: Db;
  readonly dns: Pick<DomainRecords, "txt">;
  readonly ids: Ids;
  readonly log: Log;
  readonly mailer: Mailer;
  readonly queue: Queue;
  readonly random: Random;
  readonly verified: VerifiedSenders;
  /** The public address of this server, without a trailing slash. Known once it listens. */
  baseUrl(): string;
  readonly config: { readonly dev: boolean; readonly mailFrom: string };
}
