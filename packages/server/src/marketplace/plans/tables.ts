import type { PlanName } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../../db/columns.ts";

export function planTables(c: ColumnTypes) {
  return {
    /** The plan of a workspace; one without a row has the default plan. */
    plans: c.table("plans", {
      workspaceId: c.text("workspace_id").primaryKey(),
      plan: c.text("plan").$type<PlanName>().notNull(),
      changedAt: c.instant("changed_at").notNull(),
    }),
  };
}
