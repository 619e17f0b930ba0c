import type { Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import type { CampaignDeps, CampaignRow } from "./campaigns.ts";
import { isUndecided } from "./release.ts";

/** Job kind: finds out whether each recipient of a campaign had an attempt. */
export const FINISH_JOB = "campaigns.finish";

// The first wait (ms) before looking again, doubled each time.
const FIRST_WAIT_MS = 1000;

/** Enqueues a look at whether a campaign is done. */
export async function enqueueFinish(
  tx: Tx,
  deps: CampaignDeps,
  { workspaceId, id }: Pick<CampaignRow, "workspaceId" | "id">,
): Promise<void> {
  await deps.queue.enqueue(tx, { kind: FINISH_JOB, payload: { workspaceId, campaignId: id, wait: FIRST_WAIT_MS }, maxAttempts: 1000 });
}

/**
 * Enqueues a check of the campaigns that have released all their recipients. A campaign in `lost`, which lost recipients outside the
 * sample of an A/B test, is also checked while it waits for the winner.
 */
export async function finishReleased(tx: Tx, deps: CampaignDeps, campaignIds: readonly string[], lost: ReadonlySet<string>): Promise<void> {
  for (const row of await findRows(tx, tx.t.campaigns, { id: campaignIds }))
    if (row.status === "SENDING" && (row.releasedAt !== null || (lost.has(row.id) && isUndecided(row)))) await enqueueFinish(tx, deps, row);
}
