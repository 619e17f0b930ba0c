import type { PlanName } from "@mailsvc/sdk/contract";
import type { Kit } from "../../db/postgres/columns.ts";

export function planTables(k: Kit) {
  return {
    /** The plan of a workspace; without a row it is the default one. */
    plans: k.table("plans", {
      workspaceId: k.text("workspace_id").primaryKey(),
      plan: k.text("plan").$type<PlanName>().notNull(),
      changedAt: k.instant("changed_at").notNull(),
    }),
  };
}
