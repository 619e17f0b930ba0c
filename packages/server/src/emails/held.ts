import { and, eq, sql } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { assumeEmailHeld, type HeldEmailId } from "../db/held.ts";

/**
 * Holds an email that was read in this transaction and is not changed by it, so that rows about it may be inserted: an erasure that
 * deletes it at the same time collides with this transaction, and the later of both runs again. On Postgres this is an UPDATE that changes
 * nothing.
 */
export async function holdEmail(tx: Tx, { workspaceId, id }: { readonly workspaceId: string; readonly id: string }): Promise<HeldEmailId> {
  await tx
    .prepared("hold_email", (q, { emails: t }, arg) =>
      q
        .update(t)
        .set({ inDoubt: sql`${t.inDoubt}` })
        .where(and(tx.sqlDialect.concurrent, eq(t.workspaceId, arg("workspaceId")), eq(t.id, arg("id")))),
    )
    .execute({ workspaceId, id });
  return assumeEmailHeld(id);
}
