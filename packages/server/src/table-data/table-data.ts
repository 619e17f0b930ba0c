import type { PersonDataByTable } from "../data-subjects/declarations.ts";
import type { Schema } from "../db/db.ts";
import type { SealedTable } from "../installation/seal-anew.ts";
import type { RetentionByTable } from "../retention/retention.ts";
import type { WorkspaceData, WorkspaceDataByTable } from "../workspaces/declarations.ts";
import { AUDIENCE_DATA } from "./audience.ts";
import type { TableData, TableDataByTable } from "./declarations.ts";
import { EVENTS_DATA } from "./events.ts";
import { INSTALLATION_DATA } from "./installation.ts";
import { MARKETPLACE_DATA } from "./marketplace.ts";
import { RECEIVING_DATA } from "./receiving.ts";
import { SENDING_DATA } from "./sending.ts";

export { eraseTargetsOf } from "./sending.ts";

/**
 * Declarations of all tables. Walks and sweeps go in this order: rows found by an email come before the emails; emails, suppressions
 * and contacts come in the order in which a bounce changes them, so that transactions do not lock each other out. The contact comes first
 * among the rows about it: a transaction that changes its memberships at the same time collides there, and finds the contact gone. Logs
 * come before their runs, which are kept for as long or longer.
 */
const TABLE_DATA: TableDataByTable = {
  ...SENDING_DATA,
  ...EVENTS_DATA,
  ...RECEIVING_DATA,
  ...AUDIENCE_DATA,
  ...MARKETPLACE_DATA,
  ...INSTALLATION_DATA,
};

const DECLARED = Object.entries(TABLE_DATA) as [keyof Schema, TableData<keyof Schema>][];

/** Personal data in each table. */
export const PERSON_DATA = Object.fromEntries(DECLARED.map(([name, { person }]) => [name, person])) as PersonDataByTable;

/** Retention of each table. */
export const RETENTION = Object.fromEntries(DECLARED.map(([name, { retention }]) => [name, retention])) as RetentionByTable;

/** Relation of each table to workspaces. */
export const WORKSPACE_DATA = Object.fromEntries(
  DECLARED.map(([name, { workspace, sealed }]) => [name, sealed ? hide(workspace, sealed.columns) : workspace]),
) as WorkspaceDataByTable;

/** The tables with sealed columns. */
export const SEALED: readonly SealedTable[] = DECLARED.flatMap(([table, { sealed }]) => (sealed ? [{ table, ...sealed }] : []));

function hide(data: WorkspaceData, columns: readonly SealedTable["columns"][number][]): WorkspaceData {
  return "none" in data || "with" in data ? data : { ...data, hidden: [...(data.hidden ?? []), ...columns] };
}
