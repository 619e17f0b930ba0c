import type { AgentSelf } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import type { AgentTables } from "../../schema.ts";

/** An activation as its agent sees it. Throws ApiError not_found. */
export async function agentSelf(read: Reader<AgentTables>, activationId: string): Promise<AgentSelf> {
  const { activations: a, listings: l, workspaces: w } = read.t;
  const [row] = await read
    .select({ activation: a, agentSlug: l.slug, organizationName: w.name })
    .from(a)
    .innerJoin(l, eq(l.id, a.listingId))
    .innerJoin(w, eq(w.id, a.workspaceId))
    .where(eq(a.id, activationId));
  if (!row) throw notFound("activation", activationId);
  const { activation, agentSlug, organizationName } = row;
  return {
    activationId,
    agentSlug,
    organizationName,
    status: activation.status,
    pauseReasons: activation.pauseReasons,
    scopes: activation.scopes,
    keyPreview: activation.keyPreview,
    createdAt: iso(activation.createdAt),
    webhookLastError: activation.webhookLastError,
  };
}
