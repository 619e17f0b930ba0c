import type { PauseReason } from "@mailsvc/sdk/contract";
import { eq, sql } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import type { AgentTx } from "../../deps.ts";
import type { AgentKey } from "../../http/auth.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { AgentTables } from "../../schema.ts";

const ph = sql.placeholder;

/**
 * The key with this hash, asked of the database each time: what paused or ended it a moment ago, in whatever process,
 * counts. One row of the listing stands for all keys of its activations. Null for a key nobody has. Throws ApiError
 * key_revoked or activation_paused.
 */
export async function admitAgent(q: Reader<AgentTables> | AgentTx, hash: string, now: number): Promise<AgentKey | null> {
  const found = await find(q, hash);
  if (!found) return null;
  const listed = found.state === "LISTED" && found.period === found.listedPeriod && (found.expiresAt === null || now < found.expiresAt);
  if (found.status === "deactivated" || !listed)
    throw new ApiError("key_revoked", "This key was revoked; its activation has ended.", {
      headers: { "www-authenticate": "Bearer" },
      hint: "The brand may turn the agent on again, which makes a new activation with a key of its own.",
    });
  if (found.status === "paused") throw paused(found.pauseReasons);
  const { activationId, listingId, workspaceId, scopes } = found;
  return { activationId, listingId, workspaceId, scopes: new Set(scopes) };
}

/** Whether a key with this hash was ever made, whatever became of it. */
export async function agentKeyExists(q: Reader<AgentTables>, hash: string): Promise<boolean> {
  return (await find(q, hash)) !== undefined;
}

async function find(q: Reader<AgentTables> | AgentTx, hash: string) {
  const [found] = await q
    .prepared("admit_agent", (build, { activations: a, listings: l }) =>
      build
        .select({
          activationId: a.id,
          listingId: a.listingId,
          workspaceId: a.workspaceId,
          scopes: a.scopes,
          status: a.status,
          pauseReasons: a.pauseReasons,
          period: a.period,
          listedPeriod: l.period,
          state: l.state,
          expiresAt: l.expiresAt,
        })
        .from(a)
        .innerJoin(l, eq(l.id, a.listingId))
        .where(eq(a.keyHash, ph("hash")))
        .prepare("admit_agent"),
    )
    .execute({ hash });
  return found;
}

function paused(reasons: readonly PauseReason[]): ApiError {
  return new ApiError("activation_paused", `This activation is paused: ${reasons.join(", ")}.`, {
    details: reasons.map((reason) => ({ path: "", code: reason, message: `Paused by ${reason}.` })),
  });
}
