import type { AutomationDetail, AutomationStatus, contract, HandlerInput } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { findMark } from "../events/events.ts";
import { ApiError } from "../lib/api-error.ts";
import { assertRevision } from "../lib/revision.ts";
import { type AutomationDeps, showDetail } from "./automations.ts";
import { restartDates } from "./dates.ts";
import { buildRunJob } from "./due.ts";
import { pinReferences } from "./references.ts";
import { type AutomationRow, getAutomationRow, getUnarchivedRow, getVersionRow } from "./store.ts";

/*
 * The states of an automation (docs/automations.md#states-and-versions). Rows: state. Columns: action. `–` answers without a change, `×` is
 * refused with invalid_state.
 *
 * |        | activate | pause  | delete | trigger       | entry is due | update of steps                  |
 * | ------ | -------- | ------ | ------ | ------------- | ------------ | -------------------------------- |
 * | DRAFT  | ACTIVE¹  | ×      | gone²  | nobody enters | –            | new version                      |
 * | ACTIVE | –        | PAUSED | ×      | enters³       | takes a step | new version, checked and pinned¹ |
 * | PAUSED | ACTIVE⁴  | –      | gone²  | nobody enters | waits        | new version                      |
 *
 * 1. After checking that templates are published, senders verified, and lists and segments there. The versions of the templates are
 *    pinned, once for each version of the definition.
 * 2. At once; a job deletes the entries.
 * 3. As the row in `automation_contacts` allows.
 * 4. With the checks of 1. Steps that became due meanwhile are done at once, and later waits count from then. Days that a date trigger
 *    missed are not made up for.
 *
 * An automation that is not ACTIVE can be archived: it keeps its state, lists leave it out, and activate, pause and update are refused
 * with invalid_state until it is unarchived.
 */

/**
 * Activates an automation, or continues a paused one. Throws ApiError not_found, conflict if it was changed since `revision`,
 * invalid_state, validation_error or sender_not_verified.
 */
export async function activateAutomation(
  tx: Tx,
  deps: AutomationDeps,
  workspaceId: string,
  { id, revision }: HandlerInput<typeof contract.automations.activate>,
): Promise<AutomationDetail> {
  const row = await getUnarchivedRow(tx, workspaceId, id);
  assertRevision("automation", row.revision, revision);
  if (row.status === "ACTIVE") return showDetail(tx, row);
  await pinReferences(tx, deps, row, await getVersionRow(tx, id, row.version));
  const active = await changeStatus(tx, deps, row, "ACTIVE");
  const now = deps.clock.now();
  if (row.status === "PAUSED") await deps.queue.enqueue(tx, buildRunJob(active, now, now));
  await restartDates(tx, deps, active);
  return showDetail(tx, active);
}

/** Pauses an automation: no contact enters, and entries stay where they are. Throws ApiError not_found or invalid_state. */
export async function pauseAutomation(tx: Tx, deps: AutomationDeps, workspaceId: string, id: string): Promise<AutomationDetail> {
  const row = await getUnarchivedRow(tx, workspaceId, id);
  if (row.status === "PAUSED") return showDetail(tx, row);
  if (row.status === "DRAFT")
    throw new ApiError("invalid_state", "This automation is DRAFT. It would have to be ACTIVE.", {
      hint: `Activate it: mailsvc automations activate ${id}`,
    });
  return showDetail(tx, await changeStatus(tx, deps, row, "PAUSED"));
}

/** Archives an automation that is not active, or brings it back. Throws ApiError not_found or invalid_state. */
export async function setArchived(
  tx: Tx,
  deps: AutomationDeps,
  workspaceId: string,
  id: string,
  archived: boolean,
): Promise<AutomationDetail> {
  const row = await getAutomationRow(tx, workspaceId, id);
  if (archived === (row.archivedAt !== null)) return showDetail(tx, row);
  if (row.status === "ACTIVE")
    throw new ApiError("invalid_state", "This automation is ACTIVE. It would have to be DRAFT or PAUSED.", {
      hint: `Pause it first: mailsvc automations pause ${id}`,
    });
  const now = deps.clock.now();
  const changed: AutomationRow = { ...row, archivedAt: archived ? now : null, updatedAt: now };
  const { automations: t } = tx.t;
  await tx.update(t).set({ archivedAt: changed.archivedAt, updatedAt: now }).where(eq(t.id, id));
  return showDetail(tx, changed);
}

async function changeStatus(tx: Tx, deps: AutomationDeps, row: AutomationRow, status: AutomationStatus): Promise<AutomationRow> {
  const { automations: t } = tx.t;
  const [changed] = await tx
    .update(t)
    .set({ status, updatedAt: deps.clock.now(), ...(status === "ACTIVE" && { listensAfter: await findMark(tx, row.workspaceId) }) })
    .where(and(eq(t.id, row.id), eq(t.status, row.status)))
    .returning();
  // The row was read in this transaction, so nothing can have come between.
  if (!changed) throw new Error(`The automation ${row.id} changed within a transaction.`);
  return changed;
}
