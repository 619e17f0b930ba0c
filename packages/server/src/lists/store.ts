import { and, eq, isNull } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { notFound } from "../lib/api-error.ts";
import type { ListTables } from "./tables.ts";

export type ListRow = ListTables["lists"]["$inferSelect"];

/** A list that is not deleted. Throws ApiError not_found. */
export async function getListRow(q: Tx | Reader, workspaceId: string, id: string): Promise<ListRow> {
  const [row] = await q
    .prepared("find_list", (build, { lists: t }, arg) =>
      build
        .select()
        .from(t)
        .where(and(eq(t.workspaceId, arg("workspaceId")), eq(t.id, arg("id")), isNull(t.deletedAt))),
    )
    .execute({ workspaceId, id });
  if (!row) throw notFound("list", id);
  return row;
}
