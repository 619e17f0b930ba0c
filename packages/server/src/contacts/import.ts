import {
  addressKey,
  type ContactImport,
  type ContactUpsert,
  type ErrorDetail,
  type ImportResult,
  parseAddress,
} from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { ApiError } from "../lib/api-error.ts";
import { suppressionsOf } from "../suppressions/suppressions.ts";
import { type Change, newRow, patchedRow, upsertedStatus, writeContacts } from "./contacts.ts";
import { type ContactRow, findByKeys } from "./store.ts";

/** A row of an import: a contact, or what is wrong with it. */
export type ImportRow = { contact: ContactUpsert } | { faults: readonly ErrorDetail[] };

export interface ImportOptions {
  mode: "upsert" | "skip";
  dryRun: boolean;
}

/** Where the contact of an address stands while the rows are gone through; two rows may be about one. */
interface Standing {
  /** Null for one that is made by this import. */
  before: ContactRow | null;
  now: ContactRow;
}

// A row with more faults than these is not read any further.
const FAULTS = 5;

/** Creates and updates many contacts in one transaction, each by the rules of a single one. */
export async function importContacts(
  tx: Tx,
  deps: Deps,
  workspaceId: string,
  rows: readonly ImportRow[],
  { mode, dryRun }: ImportOptions,
): Promise<ContactImport> {
  const keys = [...new Set(rows.flatMap((row) => ("contact" in row ? [keyOf(row.contact)] : [])))];
  const existing = await findByKeys(tx, workspaceId, keys);
  const fresh = keys.filter((key) => !existing.has(key));
  const suppressions = fresh.length > 0 ? await suppressionsOf(tx, workspaceId, fresh) : new Map();
  const standing = new Map<string, Standing>([...existing].map(([key, row]) => [key, { before: row, now: row }]));

  const errors: ContactImport["errors"] = [];
  const fail = (index: number, faults: readonly ErrorDetail[]): ImportResult => {
    errors.push(...faults.slice(0, FAULTS).map((fault) => ({ index, ...fault })));
    return "failed";
  };
  const results = rows.map((row, index): ImportResult => {
    if ("faults" in row) return fail(index, row.faults);
    const { status: wanted, ...input } = row.contact;
    const key = keyOf(row.contact);
    const known = standing.get(key);
    if (!known) {
      const status = upsertedStatus(undefined, wanted, suppressions.get(key)?.reason);
      standing.set(key, { before: null, now: { ...newRow(deps, workspaceId, input, status), seq: 0 } });
      return "created";
    }
    if (mode === "skip") return "skipped";
    let after: ContactRow;
    try {
      after = patchedRow(deps, known.now, input, upsertedStatus(known.now.status, wanted, undefined));
    } catch (error) {
      if (error instanceof ApiError) return fail(index, error.details);
      throw error;
    }
    if (after === known.now) return "unchanged";
    known.now = after;
    return "updated";
  });

  if (!dryRun) {
    const all = [...standing.values()];
    const created = all.flatMap(({ before, now: { seq: _, ...row } }) => (before === null ? [row] : []));
    const changes = all.flatMap(({ before, now }): Change[] => (before === null || before === now ? [] : [{ before, after: now }]));
    await writeContacts(tx, deps, created, changes, { source: "import" });
  }
  const count = (result: ImportResult): number => results.filter((r) => r === result).length;
  return {
    created: count("created"),
    updated: count("updated"),
    unchanged: count("unchanged"),
    skipped: count("skipped"),
    failed: count("failed"),
    suppressed: suppressions.size,
    dryRun,
    results,
    errors,
  };
}

function keyOf({ email }: ContactUpsert): string {
  return addressKey(parseAddress(email).address);
}
