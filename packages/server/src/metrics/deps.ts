import type { Campaign } from "@mailsvc/sdk/contract";
import type { Db, Tx } from "../db/db.ts";
import type { EventDeps } from "../events/deps.ts";
import type { Clock } from "../lib/clock.ts";
import type { DomainRecords } from "../lib/domain-records.ts";
import type { MailCounters } from "./mail-counters.ts";

/** Reactions to rates that are too high. */
interface RateHooks {
  /** Pauses the campaigns that are being sent. */
  pauseCampaigns(tx: Tx, workspaceId: string, reason: NonNullable<Campaign["statusReason"]>): Promise<void>;
}

export interface MailMetricsDeps extends EventDeps {
  readonly clock: Clock;
  readonly db: Db;
  readonly dns: Pick<DomainRecords, "mx">;
  /** Counts of this process, for Prometheus. */
  readonly mailCounters: MailCounters;
  readonly rateHooks: RateHooks;
  readonly config: { readonly keepDays: { readonly events: number | null } };
}
