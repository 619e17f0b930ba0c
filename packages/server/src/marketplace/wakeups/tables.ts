import type { WakeupStatus } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../../db/columns.ts";

export function wakeupTables(c: ColumnTypes) {
  return {
    wakeups: c.table(
      "wakeups",
      {
        id: c.text("id").primaryKey(),
        activationId: c.text("activation_id").notNull(),
        workspaceId: c.text("workspace_id").notNull(),
        runId: c.text("run_id"),
        status: c.text("status").$type<WakeupStatus>().notNull(),
        fireAt: c.instant("fire_at").notNull(),
        reason: c.text("reason").notNull(),
        payload: c.json<unknown>("payload"),
        dedupeKey: c.text("dedupe_key"),
        /** The dedupe key while SCHEDULED, otherwise null: the unique index allows reuse afterwards. */
        scheduled: c.text("scheduled"),
        suspendRun: c.flag("suspend_run").notNull(),
        createdAt: c.instant("created_at").notNull(),
        firedAt: c.instant("fired_at"),
      },
      (t) => [
        c.uniqueIndex("wakeups_dedupe").on(t.activationId, t.scheduled),
        c.index("wakeups_activation").on(t.activationId, t.id),
        c.index("wakeups_due").on(t.status, t.fireAt),
      ],
    ),
  };
}

export type WakeupTables = ReturnType<typeof wakeupTables>;

declare module "../../lib/ids.ts" {
  interface IdPrefixes {
    readonly wku: "wakeups";
  }
}
