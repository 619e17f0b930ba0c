import { and, eq, ne } from "drizzle-orm";
import type { Tx } from "../../db/db.ts";
import type { Deps } from "../../deps.ts";
import { CLOSE_JOB } from "./jobs.ts";

/** Ends the checkouts of a listing that are open, all but the one that is named: what is paid for them from now on lists nothing. */
export async function closeCheckouts(
  tx: Tx,
  { queue }: Deps,
  { id, workspaceId }: { id: string; workspaceId: string },
  kept?: string,
): Promise<void> {
  const { payments: p } = tx.t;
  const open = await tx
    .update(p)
    .set({ state: "EXPIRED" })
    .where(and(eq(p.listingId, id), eq(p.state, "PENDING"), kept === undefined ? undefined : ne(p.id, kept)))
    .returning({ session: p.session });
  for (const { session } of open) await queue.enqueue(tx, { kind: CLOSE_JOB, payload: { workspaceId, session } });
}
