import type { Suppression } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import type { HeldEmailId } from "../db/held.ts";
import type { EventDeps } from "../events/deps.ts";
import type { Clock } from "../lib/clock.ts";
import type { Ids } from "../lib/ids.ts";
import type { Random } from "../lib/random.ts";

export interface SuppressionDeps extends EventDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly suppressionHooks: SuppressionHooks;
}

/** A suppressed address. */
export interface SuppressedAddress {
  /** The address as `addressKey` returns it. */
  email: string;
  reason: Suppression["reason"];
  /** The email whose bounce or complaint caused it. */
  emailId?: HeldEmailId | null | undefined;
  campaignId?: string | null | undefined;
}

/** Reactions of other features to suppressed addresses, in the same transaction. `features.ts` connects them. */
interface SuppressionHooks {
  /** The contacts of the addresses become BOUNCED, COMPLAINED or UNSUBSCRIBED. */
  addressesSuppressed(tx: Tx, workspaceId: string, addresses: readonly SuppressedAddress[], source: Suppression["source"]): Promise<void>;
}
