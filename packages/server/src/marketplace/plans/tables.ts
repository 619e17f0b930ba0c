import type { PlanName } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../../db/columns.ts";

export function planTables(c: ColumnTypes) {
  return {
    /** The plan of a workspace; without a row it is the default one. */
    plans: c.table("plans", {
      workspaceId: c.text("workspace_id").primaryKey(),
      plan: c.text("plan").$type<PlanName>().notNull(),
      changedAt: c.instant("changed_at").notNull(),
    }),
  };
}
