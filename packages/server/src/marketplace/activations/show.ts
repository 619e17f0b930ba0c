import type { Activation, AgentSelf, ListingActivation } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import type { AgentTables } from "../agent-access.ts";
import { grantedScopes, settingsOf, showUpdate } from "./granted.ts";
import { type Activated, toEffective } from "./store.ts";

/** An activation as its brand sees it. */
export function showActivation(found: Activated, now: number): Activation {
  const row = toEffective(found, now);
  return {
    id: row.id,
    agentSlug: found.listing.slug,
    agentName: found.listing.name,
    status: row.status,
    pauseReasons: toPauseReasons(row),
    scopes: grantedScopes(row, found.listing),
    version: row.acceptedVersion,
    update: showUpdate({ ...found, activation: row }),
    settingsSchema: found.listing.settingsSchema,
    settings: settingsOf(row, found.listing),
    keyPreview: row.keyPreview,
    keyDeliveredAt: toInstant(row.keyDeliveredAt),
    webhookLastError: row.webhookLastError,
    creditLimit: row.creditLimit,
    createdAt: iso(row.createdAt),
    pausedAt: row.status === "paused" ? toInstant(row.pausedAt) : null,
    deactivatedAt: toInstant(row.deactivatedAt),
    deactivationReason: row.deactivationReason,
  };
}

/** An activation as the builder of its agent sees it: of the brand only the name. */
export function showToBuilder(found: Activated, organizationName: string, now: number): ListingActivation {
  const row = toEffective(found, now);
  return {
    id: row.id,
    organizationName,
    status: row.status,
    pauseReasons: toPauseReasons(row),
    scopes: grantedScopes(row, found.listing),
    keyPreview: row.keyPreview,
    keyDeliveredAt: toInstant(row.keyDeliveredAt),
    webhookLastError: row.webhookLastError,
    createdAt: iso(row.createdAt),
    deactivatedAt: toInstant(row.deactivatedAt),
  };
}

/** An activation as its agent sees it. Throws ApiError not_found. */
export async function showToAgent(read: Reader<AgentTables>, activationId: string): Promise<AgentSelf> {
  const { activations: a, listings: l, workspaces: w } = read.t;
  const [row] = await read
    .select({ activation: a, listing: l, organizationName: w.name })
    .from(a)
    .innerJoin(l, eq(l.id, a.listingId))
    .innerJoin(w, eq(w.id, a.workspaceId))
    .where(eq(a.id, activationId));
  if (!row) throw notFound("activation", activationId);
  const { activation, listing, organizationName } = row;
  return {
    activationId,
    agentSlug: listing.slug,
    organizationName,
    status: activation.status,
    pauseReasons: activation.pauseReasons,
    scopes: grantedScopes(activation, listing),
    settings: settingsOf(activation, listing),
    keyPreview: activation.keyPreview,
    createdAt: iso(activation.createdAt),
    webhookLastError: activation.webhookLastError,
  };
}

function toInstant(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}

/** A deactivated activation keeps its reasons in the row; they are shown only while it is paused. */
function toPauseReasons({ status, pauseReasons }: Pick<Activation, "status" | "pauseReasons">): Activation["pauseReasons"] {
  return status === "paused" ? pauseReasons : [];
}
