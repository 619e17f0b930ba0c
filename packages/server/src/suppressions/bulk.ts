import { AddressError, addressKey, parseAddress, type SuppressionImport } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import type { SuppressionDeps } from "./deps.ts";
import {
  findSuppressions,
  keepsUnsubscription,
  mergeSuppression,
  type NewSuppression,
  removeSuppressionRows,
  type SuppressionChange,
  type SuppressionRow,
  saveSuppressions,
} from "./suppressions.ts";

type ImportEntry = Omit<NewSuppression, "source" | "emailId" | "campaignId">;

/**
 * Suppresses many addresses at once. Several entries for one address have the same result as one request after the other. With
 * `dryRun` nothing is stored.
 */
export async function importSuppressions(
  tx: Tx,
  deps: SuppressionDeps,
  workspaceId: string,
  { entries, dryRun }: { entries: readonly ImportEntry[]; dryRun: boolean },
): Promise<SuppressionImport> {
  const outcome: SuppressionImport = { created: 0, widened: 0, unchanged: 0, failed: [], dryRun };
  const valid: ImportEntry[] = [];
  entries.forEach((entry, index) => {
    const parsed = parseEntryAddress(entry.email);
    if ("email" in parsed) valid.push({ ...entry, email: parsed.email });
    else outcome.failed.push({ index, email: entry.email.slice(0, 254), code: "invalid_email", message: parsed.error });
  });
  const known = new Map<string, SuppressionRow>();
  for (const chunk of splitIntoChunks(valid))
    for (const [email, row] of await findSuppressions(tx, workspaceId, [...new Set(chunk.map((e) => e.email))])) known.set(email, row);

  const now = deps.clock.now();
  const changed = new Map<string, SuppressionChange>();
  for (const entry of valid) {
    const before = known.get(entry.email);
    const change = mergeSuppression(before, { ...entry, source: "import" }, () => deps.ids("sup"), workspaceId, now);
    if (!before) outcome.created += 1;
    else if (change && change.row.scope !== before.scope) outcome.widened += 1;
    else outcome.unchanged += 1;
    if (!change) continue;
    known.set(entry.email, change.row);
    changed.set(entry.email, { row: change.row, added: [...(changed.get(entry.email)?.added ?? []), ...change.added] });
  }
  if (dryRun) return outcome;
  for (const chunk of splitIntoChunks([...changed.values()])) await saveSuppressions(tx, deps, chunk);
  for (const chunk of splitIntoChunks(valid)) await deps.suppressionHooks.addressesSuppressed(tx, workspaceId, chunk, "import");
  return outcome;
}

/** Removes many suppressions at once, each named by its id or its address. If a person unsubscribed besides, that stays. */
export async function removeSuppressions(
  tx: Tx,
  deps: SuppressionDeps,
  workspaceId: string,
  entries: readonly string[],
): Promise<{ removed: number; unsubscribed: number; failed: { index: number; entry: string; code: "not_found"; message: string }[] }> {
  const keys = entries.map(addressKey);
  const ids = new Map<string, string>();
  for (const chunk of splitIntoChunks([...new Set(keys)]))
    for (const [email, { id }] of await findSuppressions(tx, workspaceId, chunk)) ids.set(email, id);
  const removed = new Set<string>();
  let unsubscribed = 0;
  for (const chunk of splitIntoChunks([...new Set([...entries, ...ids.values()])]))
    for (const row of await removeSuppressionRows(tx, deps, workspaceId, chunk)) {
      removed.add(row.id);
      if (keepsUnsubscription(row)) unsubscribed += 1;
    }
  const failed = entries.flatMap((entry, index) =>
    removed.has(entry) || removed.has(ids.get(keys[index] as string) ?? "")
      ? []
      : [{ index, entry: entry.slice(0, 254), code: "not_found" as const, message: "Suppression not found." }],
  );
  return { removed: removed.size, unsubscribed, failed };
}

function parseEntryAddress(text: string): { email: string } | { error: string } {
  try {
    return { email: parseAddress(text).key };
  } catch (error) {
    if (error instanceof AddressError) return { error: error.message };
    throw error;
  }
}
