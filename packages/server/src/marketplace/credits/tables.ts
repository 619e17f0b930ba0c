import type { CreditKind } from "@mailsvc/sdk/contract";
import type { Kit } from "../../db/postgres/columns.ts";

export function creditTables(k: Kit) {
  return {
    /** What a brand has left: always the sum of its entries, never below zero. */
    creditBalances: k.table("credit_balances", {
      workspaceId: k.text("workspace_id").primaryKey(),
      balance: k.int("balance").notNull(),
    }),
    /** Append-only. */
    creditEntries: k.table(
      "credit_entries",
      {
        id: k.text("id").primaryKey(),
        workspaceId: k.text("workspace_id").notNull(),
        /** Null for a grant. */
        activationId: k.text("activation_id"),
        runId: k.text("run_id"),
        kind: k.text("kind").$type<CreditKind>().notNull(),
        /** What it adds to the balance: negative for a consumption. */
        amount: k.int("amount").notNull(),
        balanceAfter: k.int("balance_after").notNull(),
        action: k.text("action"),
        description: k.text("description"),
        units: k.json<unknown>("units"),
        /** Of a refund: what it gives back. */
        refundOf: k.text("refund_of"),
        createdAt: k.instant("created_at").notNull(),
      },
      (t) => [
        k.index("credit_entries_workspace").on(t.workspaceId, t.id),
        k.index("credit_entries_activation").on(t.activationId, t.id),
        k.index("credit_entries_refund").on(t.refundOf),
      ],
    ),
  };
}
