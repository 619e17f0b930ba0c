import type { CreditKind } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../../db/columns.ts";

export function creditTables(c: ColumnTypes) {
  return {
    /** The balance of a workspace: always the sum of its entries, never negative. */
    creditBalances: c.table("credit_balances", {
      workspaceId: c.text("workspace_id").primaryKey(),
      balance: c.int("balance").notNull(),
    }),
    /** Append-only. */
    creditEntries: c.table(
      "credit_entries",
      {
        id: c.text("id").primaryKey(),
        workspaceId: c.text("workspace_id").notNull(),
        /** Null for a grant. */
        activationId: c.text("activation_id"),
        runId: c.text("run_id"),
        kind: c.text("kind").$type<CreditKind>().notNull(),
        /** Added to the balance; negative for a consumption. */
        amount: c.int("amount").notNull(),
        balanceAfter: c.int("balance_after").notNull(),
        action: c.text("action"),
        description: c.text("description"),
        units: c.json<unknown>("units"),
        /** For a refund: the entry it refunds. */
        refundOf: c.text("refund_of"),
        createdAt: c.instant("created_at").notNull(),
      },
      (t) => [
        c.index("credit_entries_workspace").on(t.workspaceId, t.id),
        c.index("credit_entries_activation").on(t.activationId, t.id),
        c.index("credit_entries_refund").on(t.refundOf),
      ],
    ),
  };
}

export type CreditTables = ReturnType<typeof creditTables>;

declare module "../../lib/ids.ts" {
  interface IdPrefixes {
    readonly ctx: "creditEntries";
  }
}
