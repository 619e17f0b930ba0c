import type { PauseReason } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import type { AgentKey } from "../../http/auth.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { AgentTables, AgentTx } from "../agent-access.ts";
import { isOfferedTo, type ListingRow } from "../listings/listings.ts";
import { grantedScopes } from "./granted.ts";
import type { ActivationRow } from "./lifecycle.ts";

/**
 * The key with this hash. It is read from the database each time, never cached: a pause or an end counts at once, in whichever
 * process it happened. The row of the listing decides for the keys of all its activations. Null for an unknown key. Throws
 * ApiError key_revoked or activation_paused.
 */
export async function admitAgent(q: Reader<AgentTables> | AgentTx, hash: string, now: number): Promise<AgentKey | null> {
  const found = await findKey(q, hash);
  return found && admit(found, now);
}

/** The key of these rows at this moment. Throws ApiError key_revoked or activation_paused. */
export function admit(found: FoundKey, now: number): AgentKey {
  const isOffered = found.period === found.listedPeriod && isOfferedTo({ ...found, workspaceId: found.builderId }, found.workspaceId, now);
  if (found.status === "deactivated" || !isOffered)
    throw new ApiError("key_revoked", "This key was revoked: its activation has ended.", {
      headers: { "www-authenticate": "Bearer" },
      hint: "When the brand turns the agent on again, a new activation gets a new key.",
    });
  if (found.status === "paused") throw pausedError(found.pauseReasons);
  const { activationId, listingId, workspaceId } = found;
  return { activationId, listingId, workspaceId, scopes: new Set(grantedScopes(found, found)) };
}

/** True if a key with this hash was ever made, whatever its state. */
export async function agentKeyExists(q: Reader<AgentTables>, hash: string): Promise<boolean> {
  return (await findKey(q, hash)) !== null;
}

/** The parts of an activation and of its listing that decide about its key. */
interface FoundKey
  extends Pick<ActivationRow, "listingId" | "workspaceId" | "scopes" | "acceptedVersion" | "status" | "pauseReasons" | "period">,
    Pick<ListingRow, "permissionsSince" | "state" | "expiresAt"> {
  readonly activationId: string;
  readonly builderId: string;
  readonly listedPeriod: number;
}

async function findKey(q: Reader<AgentTables> | AgentTx, hash: string): Promise<FoundKey | null> {
  const [found] = await q
    .prepared("admit_agent", (build, { activations: a, listings: l }, arg) =>
      build
        .select({
          activationId: a.id,
          listingId: a.listingId,
          builderId: l.workspaceId,
          workspaceId: a.workspaceId,
          scopes: a.scopes,
          acceptedVersion: a.acceptedVersion,
          permissionsSince: l.permissionsSince,
          status: a.status,
          pauseReasons: a.pauseReasons,
          period: a.period,
          listedPeriod: l.period,
          state: l.state,
          expiresAt: l.expiresAt,
        })
        .from(a)
        .innerJoin(l, eq(l.id, a.listingId))
        .where(eq(a.keyHash, arg("hash"))),
    )
    .execute({ hash });
  return found ?? null;
}

function pausedError(reasons: readonly PauseReason[]): ApiError {
  return new ApiError("activation_paused", `This activation is paused: ${reasons.join(", ")}.`, {
    details: reasons.map((reason) => ({ path: "", code: reason, message: `Paused by ${reason}.` })),
  });
}
