import { and, eq } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { OF_CAMPAIGN } from "../emails/emails.ts";
import { MINUTE } from "../lib/units.ts";
import type { JobHandler } from "../queue/queue.ts";
import { type CampaignDeps, type CampaignRow, findCampaignRow } from "./campaigns.ts";
import { FINISH_JOB } from "./finish-job.ts";
import { findNextDue, hasRest, isUndecided } from "./release.ts";
import { enqueueSending } from "./start.ts";
import { changeStatus } from "./states.ts";

// The longest wait (ms) before looking again; the first one is doubled each time.
const MAX_WAIT_MS = MINUTE;

/**
 * Ends a campaign whose recipients all had an attempt, also one with an A/B test whose winner nobody waits for any more. The rows decide,
 * not the counters. The last deliveries enqueue this job; it looks again by itself in case one of them, on another server, did not see yet
 * that the campaign was released. Recipients that wait to be released after all, and that no job of its sending would find, get one.
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
        const dueAt = await findNextDue(tx, row, deps.clock.now());
        if (dueAt !== null) await sendOn(tx, deps, row, dueAt);
        if (dueAt !== null || row.expandedAt === null || (await isPending(tx, campaignId))) {
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

/** Goes on with a campaign that was taken for released, although recipients wait. */
async function sendOn(tx: Tx, deps: CampaignDeps, row: CampaignRow, dueAt: number): Promise<void> {
  const { campaigns: t } = tx.t;
  await tx
    .update(t)
    .set({ releasedAt: null })
    .where(and(eq(t.id, row.id), eq(t.run, row.run)));
  await enqueueSending(tx, deps, row, Math.max(dueAt, deps.clock.now()));
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
