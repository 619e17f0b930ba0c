import type { DomainRecords } from "../lib/domain-records.ts";
import type { SenderRelays } from "../relays/deps.ts";
import type { SenderDeps } from "../senders/deps.ts";

export interface DomainDeps extends SenderDeps {
  readonly dns: DomainRecords;
  readonly relays: SenderDeps["relays"] & SenderRelays["relays"];
  readonly config: SenderDeps["config"] & {
    /** The domain of return paths; null for bounces that go to the sender. */
    readonly inboundDomain: string | null;
  };
}
