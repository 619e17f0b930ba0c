import type { Db } from "../db/db.ts";
import type { Clock } from "../lib/clock.ts";
import type { DomainRecords } from "../lib/domain-records.ts";
import type { MailCounters } from "./mail-counters.ts";

export interface MailMetricsDeps {
  readonly clock: Clock;
  readonly db: Db;
  readonly dns: Pick<DomainRecords, "mx">;
  /** Counts of this process, for Prometheus. */
  readonly mailCounters: MailCounters;
  readonly config: { readonly keepDays: { readonly events: number | null } };
}
