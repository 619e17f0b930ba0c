import { and, eq } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { OF_CAMPAIGN } from "../emails/emails.ts";
import { MINUTE } from "../lib/units.ts";
import type { JobHandler } from "../queue/queue.ts";
import { type CampaignRow, findCampaignRow } from "./campaigns.ts";
import type { CampaignDeps } from "./deps.ts";
import { hasRest, isUndecided } from "./release.ts";
import { changeStatus } from "./states.ts";

/** Job kind: finds out whether each recipient of a campaign had an attempt. */
export const FINISH_JOB = "campaigns.finish";

// The first wait (ms) before looking again, doubled each time.
const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = MINUTE;

/** Enqueues a look at whether a campaign is done. */
export async function enqueueFinish(
  tx: Tx,
  deps: CampaignDeps,
  { workspaceId, id }: Pick<CampaignRow, "workspaceId" | "id">,
): Promise<void> {
  await deps.queue.enqueue(tx, { kind: FINISH_JOB, payload: { workspaceId, campaignId: id, wait: FIRST_WAIT_MS }, maxAttempts: 1000 });
}

/**
 * Enqueues a look at those of some campaigns that have released all their recipients; of those in `lost`, which have lost recipients outside
 * the sample of an A/B test, also at those that wait for its winner.
 */
export async function finishReleased(tx: Tx, deps: CampaignDeps, campaignIds: readonly string[], lost: ReadonlySet<string>): Promise<void> {
  for (const row of await findRows(tx, tx.t.campaigns, { id: campaignIds }))
    if (row.status === "SENDING" && (row.releasedAt !== null || (lost.has(row.id) && isUndecided(row)))) await enqueueFinish(tx, deps, row);
}

/**
 * Ends a campaign whose recipients all had an attempt, and an A/B test with it whose winner nobody waits for any more. The rows decide, not the counters. The last deliveries enqueue this job; it
 * looks again by itself in case one of them, on another server, did not see yet that the campaign was released.
 */
export function finishCampaign(deps: CampaignDeps): JobHandler {
  return async ({ payload }) => {
    const [workspaceId, campaignId] = [String(payload.workspaceId), String(payload.campaignId)];
    const wait = Number(payload.wait);
    return {
      commit: async (tx) => {
        const row = await findCampaignRow(tx, workspaceId, campaignId);
        if (row?.status !== "SENDING") return;
        if (row.releasedAt === null && (!isUndecided(row) || (await hasRest(tx, row)))) return;
        if (row.expandedAt === null || (await isPending(tx, campaignId))) {
          const payloadNext = { workspaceId, campaignId, wait: Math.min(wait * 2, MAX_WAIT_MS) };
          await deps.queue.enqueue(tx, {
            kind: FINISH_JOB,
            payload: payloadNext,
            runAt: deps.clock.now() + wait,
            maxAttempts: 1000,
            dedupeKey: `${FINISH_JOB}:${campaignId}`,
          });
          return;
        }
        const now = deps.clock.now();
        const over = { status: "SENT", completedAt: now, releasedAt: row.releasedAt ?? now } as const;
        await changeStatus(tx, deps, row, ["SENDING"], over, { type: "campaign.completed" });
      },
    };
  };
}

async function isPending(q: Tx, campaignId: string): Promise<boolean> {
  const { emails: t } = q.t;
  for (const status of ["queued", "sending"] as const) {
    const [one] = await q
      .select({ id: t.id })
      .from(t)
      .where(and(OF_CAMPAIGN, eq(t.campaignId, campaignId), eq(t.status, status)))
      .limit(1);
    if (one) return true;
  }
  return false;
}
