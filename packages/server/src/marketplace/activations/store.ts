import { and, eq, inArray, sql } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { ApiError, notFound } from "../../lib/api-error.ts";
import type { AgentTables, AgentTx } from "../agent-access.ts";
import { isOfferedTo, type ListingRow } from "../listings/listings.ts";
import type { ActivationRow } from "./lifecycle.ts";

/** An activation and its listing. */
export interface Activated {
  readonly activation: ActivationRow;
  readonly listing: ListingRow;
}

/** An activation of this workspace. Throws ApiError not_found. */
export async function getActivation(q: Reader<AgentTables> | AgentTx, workspaceId: string, id: string): Promise<Activated> {
  const { activations: a, listings: l } = q.t;
  const [found] = await q
    .select({ activation: a, listing: l })
    .from(a)
    .innerJoin(l, eq(l.id, a.listingId))
    .where(and(eq(a.workspaceId, workspaceId), eq(a.id, id)));
  if (!found) throw notFound("activation", id);
  return found;
}

/** The activation of an agent in this workspace that has not ended, by the slug of its listing. Throws ApiError not_found. */
export async function getActivationOfAgent(q: Reader<AgentTables> | AgentTx, workspaceId: string, slug: string): Promise<Activated> {
  const { activations: a, listings: l } = q.t;
  const [found] = await q
    .select({ activation: a, listing: l })
    .from(a)
    .innerJoin(l, eq(l.id, a.living))
    .where(and(eq(a.workspaceId, workspaceId), eq(l.slug, slug)));
  if (!found)
    throw new ApiError("not_found", `No agent ${slug} is turned on in this workspace.`, {
      details: [{ path: "agent", code: "not_found", message: "Not turned on." }],
      hint: "See which are: mailsvc activations list",
    });
  return found;
}

/** True if its listing has ended. The activation has then ended too, even if the job that stores that has not run yet. */
export function isOrphaned({ activation, listing }: Activated, now: number): boolean {
  return (
    activation.status !== "deactivated" && (activation.period !== listing.period || !isOfferedTo(listing, activation.workspaceId, now))
  );
}

/** The row as it counts now: deactivated once its listing has ended. */
export function toEffective(found: Activated, now: number): ActivationRow {
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
export function assertNotEnded(found: Activated, now: number): void {
  const { status, deactivationReason } = toEffective(found, now);
  if (status === "deactivated")
    throw new ApiError("invalid_state", `This activation has ended (${deactivationReason}).`, {
      hint: "Turn the agent on again: mailsvc activations create",
    });
}

/**
 * Locks the rows of activations, so that of two transactions that change their work or end them, the second sees what the first
 * did. Call it before writing more than one row of an activation's work (runs, messages, approvals, wakeups): locks taken in another
 * order deadlock.
 */
export async function lockActivations(tx: AgentTx, ids: readonly string[]): Promise<void> {
  const { activations: a } = tx.t;
  // An update and not only a lock: on Postgres the later transaction must run again instead of using its old snapshot.
  await tx
    .update(a)
    .set({ id: sql`${a.id}` })
    .where(inArray(a.id, [...ids]));
}

/** Locks the row of one activation. */
export function lockActivation(tx: AgentTx, id: string): Promise<void> {
  return lockActivations(tx, [id]);
}
