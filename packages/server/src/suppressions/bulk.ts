import { AddressError, addressKey, parseAddress, type SuppressionImport } from "@mailsvc/sdk/contract";
import { and, eq, inArray } from "drizzle-orm";
import { noteSuppressed } from "../contacts/contacts.ts";
import type { Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { keyOf, merged, type NewSuppression, noteLifted, putSuppressions, type SuppressionEntry, suppressionsOf } from "./suppressions.ts";

interface Row extends Omit<NewSuppression, "source" | "emailId"> {}

// SQLite takes 32,766 values a statement, a row has ten.
const CHUNK = 500;

/**
 * Suppresses many addresses at once. Rows of the same address come to what they would come to one after the other.
 * With `dryRun` nothing is stored.
 */
export async function importSuppressions(
  tx: Tx,
  deps: Deps,
  workspaceId: string,
  { entries, dryRun }: { entries: readonly Row[]; dryRun: boolean },
): Promise<SuppressionImport> {
  const outcome: SuppressionImport = { created: 0, widened: 0, unchanged: 0, failed: [], dryRun };
  const rows: (Row & { email: string })[] = [];
  entries.forEach((entry, index) => {
    const read = addressOf(entry.email);
    if ("email" in read) rows.push({ ...entry, email: read.email });
    else outcome.failed.push({ index, email: entry.email.slice(0, 254), code: "invalid_email", message: read.fault });
  });
  const known = new Map<string, SuppressionEntry>();
  for (const chunk of chunks(rows))
    for (const [email, entry] of await suppressionsOf(tx, workspaceId, [...new Set(chunk.map((r) => r.email))])) known.set(email, entry);

  const now = deps.clock.now();
  const changed = new Map<string, SuppressionEntry>();
  for (const row of rows) {
    const before = known.get(row.email);
    const after = merged(before, { ...row, source: "import" }, () => deps.ids("sup"), workspaceId, now);
    if (!after) outcome.unchanged += 1;
    else {
      if (before) outcome.widened += 1;
      else outcome.created += 1;
      known.set(row.email, after);
      changed.set(row.email, after);
    }
  }
  if (dryRun) return outcome;
  for (const chunk of chunks([...changed.values()])) await putSuppressions(tx, deps, chunk);
  for (const chunk of chunks(rows)) await noteSuppressed(tx, deps, workspaceId, chunk, "import");
  return outcome;
}

/** Lifts many suppressions at once, each named by its id or its address. */
export async function removeSuppressions(
  tx: Tx,
  deps: Deps,
  workspaceId: string,
  entries: readonly string[],
): Promise<{ removed: number; failed: { index: number; entry: string; code: "not_found"; message: string }[] }> {
  const { suppressions: t } = tx.t;
  const keys = entries.map(keyOf);
  const ids = new Map<string, string>();
  for (const chunk of chunks([...new Set(keys)]))
    for (const [email, { id }] of await suppressionsOf(tx, workspaceId, chunk)) ids.set(email, id);
  const gone = new Set<string>();
  for (const chunk of chunks([...new Set([...entries, ...ids.values()])])) {
    const rows = await tx
      .delete(t)
      .where(and(eq(t.workspaceId, workspaceId), inArray(t.id, chunk)))
      .returning();
    await noteLifted(tx, deps, rows);
    for (const { id } of rows) gone.add(id);
  }
  const removed = gone.size;
  const failed = entries.flatMap((entry, index) =>
    gone.has(entry) || gone.has(ids.get(keys[index] as string) ?? "")
      ? []
      : [{ index, entry: entry.slice(0, 254), code: "not_found" as const, message: "There is no such suppression in this workspace." }],
  );
  return { removed, failed };
}

function chunks<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, i) => items.slice(i * CHUNK, (i + 1) * CHUNK));
}

/** The address of a row in its compared form, or what is wrong with it. */
function addressOf(text: string): { email: string } | { fault: string } {
  try {
    return { email: addressKey(parseAddress(text).address) };
  } catch (error) {
    if (error instanceof AddressError) return { fault: error.message };
    throw error;
  }
}
