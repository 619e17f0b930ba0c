import type { Campaign, CampaignStatus, EventType } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { recordEvents } from "../events/events.ts";
import { ApiError } from "../lib/api-error.ts";
import { nextChange } from "../lib/revision.ts";
import type { CampaignDeps, CampaignRow } from "./campaigns.ts";

/*
 * The states of a campaign (docs/campaigns.md#states). Rows: state. Columns: what happens. `–` answers without a change, `×` is refused
 * with invalid_state.
 *
 * |           | send    | schedule  | scheduledAt | due or    | pause  | resume   | cancel    | all         | delete |
 * |           |         |           | removed     | held      |        |          |           | attempted   |        |
 * | --------- | ------- | --------- | ----------- | --------- | ------ | -------- | --------- | ----------- | ------ |
 * | DRAFT     | SENDING | SCHEDULED | DRAFT       |           | ×      | ×        | ×         |             | gone   |
 * | SCHEDULED | SENDING | SCHEDULED | DRAFT       | SENDING¹  | ×      | ×        | CANCELLED |             | gone   |
 * | SENDING   | ×       | ×         | ×           |           | PAUSED | –        | CANCELLED | SENT        | ×      |
 * | PAUSED²   | ×       | SCHEDULED³| DRAFT³      |           | –      | SENDING  | CANCELLED |             | gone³  |
 * | SENT      | ×       | ×         | ×           |           | ×      | ×        | ×         |             | ×      |
 * | CANCELLED | ×       | ×         | ×           |           | ×      | ×        | –         |             | gone³  |
 *
 * 1. PAUSED with the reason, if it is late by more than an hour or cannot start: its sender is no longer verified, or its
 *    template, segment or list is gone.
 * 2. Before the start (held) or during the sending. Resuming a held campaign starts it, with all checks.
 * 3. Only before the start. SENT and everything after the start are kept: they are the record of who got what.
 *
 * SENT means that each recipient had an attempt. Deferred ones are tried further, and the statistics follow.
 *
 * Each change is an UPDATE on the state it starts from, in one transaction with its events and jobs. The jobs that send carry the
 * number of their `run`; pausing and resuming begins a new run, and jobs of an older one end without an effect.
 */

/** States in which a campaign that has not started can be changed. */
export const EDITABLE: readonly CampaignStatus[] = ["DRAFT", "SCHEDULED", "PAUSED"];

type Patch = Partial<CampaignRow> & { status: CampaignStatus };

interface ChangeEvent {
  readonly type: EventType & `campaign.${string}`;
  readonly reason?: Campaign["statusReason"];
}

/**
 * Moves a campaign, as this transaction read it, from one of the states in `from` to another, and records the event. Throws ApiError
 * invalid_state.
 */
export async function changeStatus(
  tx: Tx,
  deps: CampaignDeps,
  row: CampaignRow,
  from: readonly CampaignStatus[],
  patch: Patch,
  event?: ChangeEvent,
): Promise<CampaignRow> {
  if (!from.includes(row.status)) throw invalidState(row, from);
  const { campaigns: t } = tx.t;
  const now = deps.clock.now();
  const [changed] = await tx
    .update(t)
    .set({ ...patch, statusReason: event?.reason ?? null, updatedAt: nextChange(deps.clock, row.updatedAt) })
    .where(and(eq(t.id, row.id), eq(t.status, row.status), eq(t.run, row.run)))
    .returning();
  // The row was read in this transaction, so nothing can have come between.
  if (!changed) throw new Error(`The campaign ${row.id} changed within a transaction.`);
  if (event)
    await recordEvents(tx, deps, [
      { workspaceId: row.workspaceId, type: event.type, campaignId: row.id, at: now, ...(event.reason && { data: { ...event.reason } }) },
    ]);
  return changed;
}

/** The error for a change that the state of a campaign does not allow. */
export function invalidState({ status, startedAt }: CampaignRow, from: readonly CampaignStatus[]): ApiError {
  const started = status === "PAUSED" && startedAt !== null ? " in the middle of sending" : "";
  return new ApiError("invalid_state", `This campaign is ${status}${started}. It would have to be ${from.join(" or ")}.`, {
    hint: "Duplicate it to send it again: mailsvc campaigns duplicate <id>",
  });
}
