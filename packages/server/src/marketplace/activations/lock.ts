import { eq } from "drizzle-orm";
import type { AgentTx } from "../../deps.ts";

/** Writes the activation's row: of two that count what it has, or end it, at once, one sees what the other did. */
export const lockActivation = async (tx: AgentTx, id: string): Promise<void> => {
  await tx.update(tx.t.activations).set({ id }).where(eq(tx.t.activations.id, id));
};
