import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { notFound } from "../lib/api-error.ts";
import type { ListTables } from "./tables.ts";

export type ListRow = ListTables["lists"]["$inferSelect"];

/** A list that is not deleted. Throws ApiError not_found. */
export async function getListRow(q: Tx | Reader, workspaceId: string, id: string): Promise<ListRow> {
  const [row] = await findRows(q, q.t.lists, { workspaceId, id });
  if (row?.deletedAt !== null) throw notFound("list", id);
  return row;
}
