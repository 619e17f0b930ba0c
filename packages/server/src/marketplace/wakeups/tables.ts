import type { WakeupStatus } from "@mailsvc/sdk/contract";
import type { Kit } from "../../db/postgres/columns.ts";

export function wakeupTables(k: Kit) {
  return {
    wakeups: k.table(
      "wakeups",
      {
        id: k.text("id").primaryKey(),
        activationId: k.text("activation_id").notNull(),
        workspaceId: k.text("workspace_id").notNull(),
        runId: k.text("run_id"),
        status: k.text("status").$type<WakeupStatus>().notNull(),
        fireAt: k.instant("fire_at").notNull(),
        reason: k.text("reason").notNull(),
        payload: k.json<unknown>("payload"),
        dedupeKey: k.text("dedupe_key"),
        /** The dedupe key while it is SCHEDULED, else null. */
        scheduled: k.text("scheduled"),
        suspendRun: k.flag("suspend_run").notNull(),
        createdAt: k.instant("created_at").notNull(),
        firedAt: k.instant("fired_at"),
      },
      (t) => [
        k.uniqueIndex("wakeups_dedupe").on(t.activationId, t.scheduled),
        k.index("wakeups_activation").on(t.activationId, t.id),
        k.index("wakeups_due").on(t.status, t.fireAt),
      ],
    ),
  };
}
