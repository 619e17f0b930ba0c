import { inArray } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { splitIntoChunks } from "../lib/parts.ts";

/** Finds which of these ids of tracked events are taken, with the keys of their events; a thousand at most. */
export async function findTrackedIds(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = ids.length === 0 ? [] : await findRows(tx, tx.t.trackedIds, { workspaceId, id: ids });
  return new Map(rows.map(({ id, eventKey }) => [id, eventKey]));
}

/** Stores ids of tracked events. Throws UniqueViolation if one was taken meanwhile. */
export async function storeTrackedIds(
  tx: Tx,
  workspaceId: string,
  ids: readonly { readonly id: string; readonly eventKey: number }[],
): Promise<void> {
  // In one order, so that two transactions with the same ids do not wait for each other.
  const sorted = [...ids].sort((one, other) => (one.id < other.id ? -1 : 1));
  await tx.insertAll(
    tx.t.trackedIds,
    sorted.map((row) => ({ workspaceId, ...row })),
  );
}

/** Forgets the ids of deleted events. */
export async function forgetTrackedIds(tx: Tx, eventKeys: readonly number[]): Promise<void> {
  for (const keys of splitIntoChunks(eventKeys)) await tx.delete(tx.t.trackedIds).where(inArray(tx.t.trackedIds.eventKey, [...keys]));
}
