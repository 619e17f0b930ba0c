import { addressKey, type ContactImport, type ContactImportRow, type ErrorDetail, type ImportResult } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { ApiError } from "../lib/api-error.ts";
import { findSuppressions, type SuppressionRow, suppressUnsubscribed } from "../suppressions/suppressions.ts";
import { resolveUpsertStatus } from "./contacts.ts";
import type { ContactDeps } from "./deps.ts";
import type { Joined } from "./hooks.ts";
import { addImportTag, getImportRecord, recordImported } from "./imports.ts";
import { type ContactRow, findByEmailKeys, inTurns } from "./store.ts";
import { buildContact, type ContactChange, listWriteEvents, patchContact, saveContacts } from "./write.ts";

/** A row of an import: a contact, or the errors that make it invalid. */
export type ImportRow = { contact: ContactImportRow } | { errors: readonly ErrorDetail[] };

interface ImportOptions {
  mode: "upsert" | "skip";
  dryRun: boolean;
  startAutomations: boolean;
  /** The import that the rows belong to, by its id. */
  import?: string | undefined;
  /** The list that the contacts join, by its id. */
  list?: string | undefined;
}

/** The contact of an address while the rows are processed; several rows can be about one. */
interface ImportState {
  /** Null for a contact this import creates. */
  before: ContactRow | null;
  now: ContactRow;
}

// Errors reported for one row.
const MAX_ROW_ERRORS = 5;

/** Creates and updates many contacts in one transaction, each by the rules of `upsertContact`. With `dryRun` nothing is stored. */
export async function importContacts(
  tx: Tx,
  deps: ContactDeps,
  workspaceId: string,
  rows: readonly ImportRow[],
  { mode, dryRun, startAutomations, import: importId, list }: ImportOptions,
): Promise<ContactImport> {
  const record = importId === undefined ? null : await getImportRecord(tx, deps, workspaceId, importId);
  if (record && record.state !== "OPEN") throw new ApiError("invalid_state", `The import ${record.name} was undone. Begin another one.`);
  const keys = [...new Set(rows.flatMap((row) => ("contact" in row ? [addressKey(row.contact.email)] : [])))];
  const existing = await findByEmailKeys(tx, workspaceId, keys);
  const newKeys = keys.filter((key) => !existing.has(key));
  const suppressions =
    newKeys.length > 0 ? await findSuppressions(tx, workspaceId, newKeys) : (new Map() as ReadonlyMap<string, SuppressionRow>);
  const states = new Map<string, ImportState>([...existing].map(([key, row]) => [key, { before: row, now: row }]));
  const unsubscribed = new Set<string>();
  /** The addresses of the rows that were taken. */
  const present = new Set<string>();

  const errors: ContactImport["errors"] = [];
  const fail = (index: number, details: readonly ErrorDetail[]): ImportResult => {
    errors.push(...details.slice(0, MAX_ROW_ERRORS).map((detail) => ({ index, ...detail })));
    return "failed";
  };
  const applyRow = ({ status, initialStatus, ...input }: ContactImportRow): ImportResult => {
    const key = addressKey(input.email);
    const state = states.get(key);
    const wanted = status ?? (state ? undefined : initialStatus);
    if (state && mode === "skip") return "skipped";
    const resolved = resolveUpsertStatus(state?.now.status, wanted, suppressions.get(key));
    const after = state ? patchContact(deps, state.now, input, resolved) : { ...buildContact(deps, workspaceId, input, resolved), seq: 0 };
    present.add(key);
    if (wanted === "UNSUBSCRIBED") unsubscribed.add(key);
    if (!state) states.set(key, { before: null, now: after });
    else if (after === state.now) return "unchanged";
    else state.now = after;
    return state ? "updated" : "created";
  };
  const importRow = (row: ImportRow, index: number): ImportResult => {
    if ("errors" in row) return fail(index, row.errors);
    try {
      return applyRow(row.contact);
    } catch (error) {
      if (error instanceof ApiError) return fail(index, error.details);
      throw error;
    }
  };
  const results: ImportResult[] = [];
  await inTurns(tx, rows, (row) => results.push(importRow(row, results.length)));

  // Everybody of the file gets the tag of the import, also who is unchanged by it.
  if (record)
    for (const [key, state] of states) {
      if (!present.has(key)) continue;
      const tags = addImportTag(state.now.tags, record.tag);
      state.now = state.before ? patchContact(deps, state.now, { tags }, state.now.status) : { ...state.now, tags };
    }
  const all = [...states.values()];
  const created = all.flatMap(({ before, now: { seq: _, ...row } }) => (before === null ? [row] : []));
  const changes = all.flatMap(({ before, now }): ContactChange[] => (before === null || before === now ? [] : [{ before, after: now }]));
  const cause = { source: "import", startsNothing: !startAutomations } as const;
  const touched = all.flatMap(({ before, now }) => (before === now ? [] : [now]));
  const inFile = [...present].map((key) => (states.get(key) as ImportState).now);
  const foreseen = list === undefined ? null : await deps.contactHooks.foreseeJoins(tx, workspaceId, list, inFile);
  const events = [...listWriteEvents(created, changes, cause), ...(foreseen?.events ?? [])];
  const automations = await deps.contactHooks.foreseeStarts(tx, workspaceId, events, touched);
  let joined: Joined = { joined: foreseen?.joined ?? 0, asked: foreseen?.asked ?? 0, seqs: new Set() };
  if (!dryRun) {
    const written = new Map((await saveContacts(tx, deps, created, changes, cause)).map((row) => [row.emailKey, row]));
    const suppressed = await suppressUnsubscribed(tx, deps, workspaceId, [...unsubscribed], "import");
    const people = [...present].map((key) => written.get(key) ?? (states.get(key) as ImportState).now);
    if (list !== undefined && people.length > 0)
      joined = await deps.contactHooks.joinList(tx, workspaceId, list, people, !startAutomations);
    if (record)
      await recordImported(
        tx,
        record,
        people.map((after) => ({
          before: (states.get(after.emailKey) as ImportState).before,
          after,
          saidNo: unsubscribed.has(after.emailKey),
          suppressionId: suppressed.get(after.emailKey) ?? null,
          listId: list !== undefined && joined.seqs.has(after.seq) ? list : null,
        })),
      );
  }
  return {
    ...countResults(results),
    suppressed: suppressions.size,
    dryRun,
    joined: joined.joined,
    asked: joined.asked,
    automations,
    results,
    errors,
  };
}

function countResults(results: readonly ImportResult[]): Record<ImportResult, number> {
  const count = (result: ImportResult): number => results.filter((one) => one === result).length;
  return {
    created: count("created"),
    updated: count("updated"),
    unchanged: count("unchanged"),
    skipped: count("skipped"),
    failed: count("failed"),
  };
}
