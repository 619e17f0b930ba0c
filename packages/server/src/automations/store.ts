import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { ApiError, notFound } from "../lib/api-error.ts";
import type { AutomationTables } from "./tables.ts";

export type AutomationRow = AutomationTables["automations"]["$inferSelect"];
export type VersionRow = AutomationTables["automationVersions"]["$inferSelect"];

/** An automation that is not deleted. Throws ApiError not_found. */
export async function getAutomationRow(q: Tx | Reader, workspaceId: string, id: string): Promise<AutomationRow> {
  const [row] = await findRows(q, q.t.automations, { workspaceId, id });
  if (row?.deletedAt !== null) throw notFound("automation", id);
  return row;
}

/** An automation of any workspace, by its id; null once it is deleted. */
export async function findAutomationRow(q: Tx | Reader, id: string): Promise<AutomationRow | null> {
  const [row] = await findRows(q, q.t.automations, { id });
  return row?.deletedAt === null ? row : null;
}

/** An automation that is neither deleted nor archived. Throws ApiError not_found or invalid_state. */
export async function getUnarchivedRow(q: Tx | Reader, workspaceId: string, id: string): Promise<AutomationRow> {
  const row = await getAutomationRow(q, workspaceId, id);
  if (row.archivedAt !== null)
    throw new ApiError("invalid_state", "This automation is archived.", {
      hint: `Unarchive it first: mailsvc automations unarchive ${id}`,
    });
  return row;
}

/** A version of a definition, by its number; it exists as long as its automation. */
export async function getVersionRow(q: Tx | Reader, automationId: string, version: number): Promise<VersionRow> {
  const { automationVersions: t } = q.t;
  const [row] = await findRows(q, t, { automationId, version });
  if (!row) throw new Error(`The automation ${automationId} has no version ${version}.`);
  return row;
}
