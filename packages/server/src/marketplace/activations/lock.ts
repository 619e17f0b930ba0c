import { inArray, sql } from "drizzle-orm";
import type { AgentTx } from "../../deps.ts";

/**
 * Writes the rows of activations: of two that count what one has, or end it, at once, one sees what the other did. Whoever
 * writes more than one row of an activation's work (runs, messages, approvals, wakeups) does this first, so that no two
 * wait for each other.
 */
export async function lockActivations(tx: AgentTx, ids: readonly string[]): Promise<void> {
  const { activations: a } = tx.t;
  await tx
    .update(a)
    .set({ id: sql`${a.id}` })
    .where(inArray(a.id, [...ids]));
}

/** The same for one. */
export function lockActivation(tx: AgentTx, id: string): Promise<void> {
  return lockActivations(tx, [id]);
}
