import { and, eq } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import type { AgentTx } from "../../deps.ts";
import { ApiError, notFound } from "../../lib/api-error.ts";
import type { AgentTables } from "../../schema.ts";
import { isListed, type ListingRow } from "../listings/store.ts";
import type { ActivationRow } from "./lifecycle.ts";

/** An activation beside the listing it is of. */
export interface Activated {
  readonly activation: ActivationRow;
  readonly listing: ListingRow;
}

/** An activation of this workspace. Throws ApiError not_found. */
export async function findActivation(q: Reader<AgentTables> | AgentTx, workspaceId: string, id: string): Promise<Activated> {
  const { activations: a, listings: l } = q.t;
  const [found] = await q
    .select({ activation: a, listing: l })
    .from(a)
    .innerJoin(l, eq(l.id, a.listingId))
    .where(and(eq(a.workspaceId, workspaceId), eq(a.id, id)));
  if (!found) throw notFound("activation", id);
  return found;
}

/** Whether its listing has ended under it: then it is over, even where the job that notes it has not come by yet. */
export function isOrphaned({ activation, listing }: Activated, now: number): boolean {
  return activation.status !== "deactivated" && (activation.period !== listing.period || !isListed(listing, now));
}

/** The row as it counts now. */
export function effective(found: Activated, now: number): ActivationRow {
  return isOrphaned(found, now)
    ? {
        ...found.activation,
        status: "deactivated",
        deactivatedAt: found.listing.endedAt ?? found.listing.expiresAt,
        deactivationReason: "admin_revoke",
      }
    : found.activation;
}

/** Throws ApiError invalid_state for an activation that has ended. */
export function assertLiving(found: Activated, now: number): void {
  const { status, deactivationReason } = effective(found, now);
  if (status === "deactivated")
    throw new ApiError("invalid_state", `This activation has ended (${deactivationReason}).`, {
      hint: "Turn the agent on again: mailsvc activations create",
    });
}
