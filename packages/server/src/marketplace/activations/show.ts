import type { Activation, ListingActivation } from "@mailsvc/sdk/contract";
import { iso } from "../../lib/clock.ts";
import { type Activated, effective } from "./store.ts";

/** An activation as its brand sees it, now. */
export function showActivation(found: Activated, now: number): Activation {
  const row = effective(found, now);
  return {
    id: row.id,
    agentSlug: found.listing.slug,
    agentName: found.listing.name,
    status: row.status,
    pauseReasons: reasons(row),
    scopes: row.scopes,
    keyPreview: row.keyPreview,
    keyDeliveredAt: instant(row.keyDeliveredAt),
    webhookLastError: row.webhookLastError,
    creditLimit: row.creditLimit,
    createdAt: iso(row.createdAt),
    pausedAt: row.status === "paused" ? instant(row.pausedAt) : null,
    deactivatedAt: instant(row.deactivatedAt),
    deactivationReason: row.deactivationReason,
  };
}

/** The same as the agent's builder sees it: of the brand nothing but its name. */
export function showToBuilder(found: Activated, organizationName: string, now: number): ListingActivation {
  const row = effective(found, now);
  return {
    id: row.id,
    organizationName,
    status: row.status,
    pauseReasons: reasons(row),
    scopes: row.scopes,
    keyPreview: row.keyPreview,
    keyDeliveredAt: instant(row.keyDeliveredAt),
    webhookLastError: row.webhookLastError,
    createdAt: iso(row.createdAt),
    deactivatedAt: instant(row.deactivatedAt),
  };
}

function instant(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}

/** Reasons to pause mean something only while it is paused. */
function reasons({ status, pauseReasons }: Pick<Activation, "status" | "pauseReasons">): Activation["pauseReasons"] {
  return status === "paused" ? pauseReasons : [];
}
