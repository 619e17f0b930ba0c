import type { CampaignDetail, CampaignStatus, contract, HandlerInput } from "@mailsvc/sdk/contract";
import { and, asc, eq, inArray } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { moveEmails, OF_CAMPAIGN, WAITING } from "../emails/emails.ts";
import { assertRevision } from "../lib/revision.ts";
import { endRateStop } from "../metrics/metrics.ts";
import type { JobHandler } from "../queue/queue.ts";
import { type CampaignDeps, findCampaignRow, getCampaignRow, showDetail, toRevision } from "./campaigns.ts";
import { readUnread } from "./sending.ts";
import { enqueueSending, type PreparedStart, start } from "./start.ts";
import { changeStatus } from "./states.ts";

/** Job kind: marks the recipients of a cancelled campaign that got nothing yet. */
export const CANCEL_JOB = "campaigns.cancel";

const STOPPABLE: readonly CampaignStatus[] = ["SCHEDULED", "SENDING", "PAUSED"];

/**
 * Pauses a campaign: nothing more is released, and what was released but not handed over is put back. Throws ApiError not_found or
 * invalid_state.
 */
export async function pauseCampaign(tx: Tx, deps: CampaignDeps, workspaceId: string, id: string): Promise<CampaignDetail> {
  const row = await getCampaignRow(tx, workspaceId, id);
  if (row.status === "PAUSED") return showDetail(tx, row);
  return showDetail(tx, await changeStatus(tx, deps, row, ["SENDING"], { status: "PAUSED" }, { type: "campaign.paused" }));
}

/** Pauses all campaigns of a workspace that are being sent, for a reason that each shows. */
export async function pauseCampaigns(
  tx: Tx,
  deps: CampaignDeps,
  workspaceId: string,
  reason: NonNullable<CampaignDetail["statusReason"]>,
): Promise<void> {
  for (const row of await findRows(tx, tx.t.campaigns, { workspaceId, status: "SENDING" }))
    await changeStatus(tx, deps, row, ["SENDING"], { status: "PAUSED" }, { type: "campaign.paused", reason });
}

/**
 * Continues a paused campaign where it stopped; one that was held starts. Throws ApiError not_found, conflict if it was changed since
 * `revision`, invalid_state or what keeps it from starting.
 */
export async function resumeCampaign(
  tx: Tx,
  deps: CampaignDeps,
  workspaceId: string,
  { id, revision }: HandlerInput<typeof contract.campaigns.resume>,
  prepared: PreparedStart,
): Promise<CampaignDetail> {
  const row = await getCampaignRow(tx, workspaceId, id);
  assertRevision("campaign", toRevision(row), revision);
  if (row.status === "SENDING") return showDetail(tx, row);
  if (row.status === "PAUSED" && row.startedAt === null) {
    const started = await start(tx, deps, row, ["PAUSED"], prepared);
    await endRateStop(tx, deps, workspaceId);
    return showDetail(tx, started);
  }
  await endRateStop(tx, deps, workspaceId);
  const resumed = await changeStatus(
    tx,
    deps,
    row,
    ["PAUSED"],
    { status: "SENDING", run: row.run + 1, releasedAt: null, nextReleaseAt: null },
    { type: "campaign.resumed" },
  );
  await enqueueSending(tx, deps, resumed);
  return showDetail(tx, resumed);
}

/** Cancels a campaign for good; a job marks the recipients that got nothing yet. Throws ApiError not_found or invalid_state. */
export async function cancelCampaign(tx: Tx, deps: CampaignDeps, workspaceId: string, id: string): Promise<CampaignDetail> {
  const row = await getCampaignRow(tx, workspaceId, id);
  if (row.status === "CANCELLED") return showDetail(tx, row);
  const now = deps.clock.now();
  const cancelled = await changeStatus(
    tx,
    deps,
    row,
    STOPPABLE,
    { status: "CANCELLED", run: row.run + 1, completedAt: now },
    { type: "campaign.cancelled" },
  );
  if (row.startedAt !== null)
    await deps.queue.enqueue(tx, { kind: CANCEL_JOB, payload: { workspaceId, campaignId: id }, maxAttempts: 1000 });
  return showDetail(tx, cancelled);
}

// Recipients marked in one transaction.
const CHUNK = 500;

/**
 * Marks the recipients of a cancelled campaign, a few hundred at a time, once its whole audience has become recipients. A recipient whose
 * email is being handed over is left to the delivery.
 */
export function cancelRecipients(deps: CampaignDeps): JobHandler {
  return async ({ payload }) => {
    const [workspaceId, campaignId] = [String(payload.workspaceId), String(payload.campaignId)];
    const commit = await readUnread(deps, workspaceId, campaignId);
    if (commit) return { again: deps.clock.now(), commit };
    const { emails: t } = deps.db.read.t;
    const emails = await deps.db.read
      .select()
      .from(t)
      .where(and(OF_CAMPAIGN, eq(t.campaignId, campaignId), inArray(t.status, WAITING)))
      .orderBy(asc(t.id))
      .limit(CHUNK);
    return {
      ...(emails.length === CHUNK && { again: deps.clock.now() }),
      commit: async (tx) => {
        if ((await findCampaignRow(tx, workspaceId, campaignId))?.status !== "CANCELLED") return;
        const patch = { status: "cancelled" as const, nextAttemptAt: null, updatedAt: deps.clock.now() };
        await moveEmails(
          tx,
          deps,
          emails.map((email) => ({ email, patch, events: [{ type: "email.cancelled" }] })),
        );
      },
    };
  };
}
