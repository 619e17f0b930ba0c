import { and, eq, sql } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { assumeContactHeld, type HeldContact } from "../db/held.ts";

/**
 * Holds contacts that were read in this transaction, so that rows about them may be inserted: a transaction that deletes one of them or
 * erases its person at the same time collides with this one, and the later of both runs again. It sees that the contact is gone, or the
 * deletion sees the new rows.
 */
export async function holdContacts<Contact extends { readonly id: string; readonly seq: number }>(
  tx: Tx,
  workspaceId: string,
  contacts: readonly Contact[],
): Promise<(Contact & HeldContact)[]> {
  await lockContacts(
    tx,
    workspaceId,
    contacts.map(({ seq }) => seq),
  );
  return contacts.map(assumeContactHeld);
}

/** Locks contacts by their numbers, a thousand at most. On Postgres it is an UPDATE of their rows that changes nothing. */
export async function lockContacts(tx: Tx, workspaceId: string, seqs: readonly number[]): Promise<void> {
  if (seqs.length === 0) return;
  // In one order, so that two transactions rarely wait for each other.
  const sorted = [...new Set(seqs)].sort((a, b) => a - b);
  await tx
    .prepared("lock_contacts", (q, { contacts: t }, arg) =>
      q
        .update(t)
        .set({ workspaceId: sql`${arg("workspaceId")}` })
        .where(and(tx.sqlDialect.concurrent, eq(t.workspaceId, arg("workspaceId")), tx.sqlDialect.amongNumbers(t.seq, arg("seqs")))),
    )
    .execute({ workspaceId, seqs: JSON.stringify(sorted) });
}
