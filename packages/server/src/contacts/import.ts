import { addressKey, type ContactImport, type ContactImportRow, type ErrorDetail, type ImportResult } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { ApiError } from "../lib/api-error.ts";
import { findSuppressions, type SuppressionRow, suppressUnsubscribed } from "../suppressions/suppressions.ts";
import { chooseContact, resolveMovedStatus, resolveUpsertStatus, takeNoAlong } from "./contacts.ts";
import type { ContactDeps, Joined } from "./deps.ts";
import { addImportTag, getImportRecord, recordImported, recordResults } from "./imports.ts";
import { type ContactRow, findByEmailKeys, findByExternalIds, inTurns } from "./store.ts";
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

/** A contact while the rows are processed; several rows can be about one. */
interface ImportState {
  /** Null for a contact this import creates. */
  readonly before: ContactRow | null;
  now: ContactRow;
  /** True once a row about it was taken. */
  present: boolean;
  /** True if a row says that the person wants no mail. */
  saidNo: boolean;
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
  const { states, suppressions } = await loadStates(tx, workspaceId, rows);

  const errors: ContactImport["errors"] = [];
  const fail = (index: number, details: readonly ErrorDetail[]): ImportResult => {
    errors.push(...details.slice(0, MAX_ROW_ERRORS).map((detail) => ({ index, ...detail })));
    return "failed";
  };
  const applyRow = ({ status, initialStatus, ...input }: ContactImportRow): ImportResult => {
    const key = addressKey(input.email);
    const known = states.find(input);
    const wanted = status ?? (known ? undefined : initialStatus);
    if (known && mode === "skip") return "skipped";
    const moves = known && known.now.emailKey !== key;
    const kept = moves ? resolveMovedStatus(known.now, key, suppressions) : known?.now.status;
    const resolved = resolveUpsertStatus(kept, wanted, suppressions.get(key));
    const after = known ? patchContact(deps, known.now, input, resolved) : { ...buildContact(deps, workspaceId, input, resolved), seq: 0 };
    const state = known ?? { before: null, now: after, present: true, saidNo: false };
    const changes = after !== state.now;
    state.now = after;
    state.present = true;
    state.saidNo ||= wanted === "UNSUBSCRIBED";
    states.add(state);
    return known ? (changes ? "updated" : "unchanged") : "created";
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

  if (record) tagEverybody(deps, record.tag, states);
  const all = states.list();
  const created = all.flatMap(({ before, now: { seq: _, ...row } }) => (before === null ? [row] : []));
  const changes = all.flatMap(({ before, now }): ContactChange[] => (before === null || before === now ? [] : [{ before, after: now }]));
  const cause = { source: "import", startsNothing: !startAutomations } as const;
  const touched = all.flatMap(({ before, now }) => (before === now ? [] : [now]));
  const inFile = all.filter(({ present }) => present);
  const foreseen =
    list === undefined
      ? null
      : await deps.contactHooks.foreseeJoins(
          tx,
          workspaceId,
          list,
          inFile.map(({ now }) => now),
        );
  const events = [...listWriteEvents(created, changes, cause), ...(foreseen?.events ?? [])];
  const automations = await deps.contactHooks.foreseeStarts(tx, workspaceId, events, touched);
  let joined: Joined = { joined: foreseen?.joined ?? 0, asked: foreseen?.asked ?? 0, seqs: new Set() };
  if (!dryRun) {
    const written = new Map((await saveContacts(tx, deps, created, changes, cause)).map((row) => [row.emailKey, row]));
    await takeNoAlong(tx, deps, workspaceId, changes, "import");
    const unsubscribed = inFile.filter(({ saidNo }) => saidNo).map(({ now }) => now.emailKey);
    const suppressed = await suppressUnsubscribed(tx, deps, workspaceId, unsubscribed, "import");
    const imported = inFile.map(({ now, ...state }) => ({ ...state, after: written.get(now.emailKey) ?? now }));
    const people = imported.map(({ after }) => after);
    if (list !== undefined && people.length > 0)
      joined = await deps.contactHooks.joinList(tx, workspaceId, list, people, !startAutomations);
    if (record)
      await recordImported(
        tx,
        record,
        imported.map(({ before, after, saidNo }) => ({
          before,
          after,
          saidNo,
          suppressionId: suppressed.get(after.emailKey) ?? null,
          listId: list !== undefined && joined.seqs.has(after.seq) ? list : null,
        })),
      );
  }
  const counts = countResults(results);
  if (record && !dryRun) await recordResults(tx, record, counts);
  return {
    ...counts,
    suppressed: all.filter(({ before, now }) => before === null && suppressions.has(now.emailKey)).length,
    dryRun,
    joined: joined.joined,
    asked: joined.asked,
    automations,
    results,
    errors,
  };
}

/** Everybody of the file gets the tag of the import, also who is unchanged by it. */
function tagEverybody(deps: ContactDeps, tag: string | null, states: States): void {
  for (const state of states.list()) {
    if (!state.present) continue;
    const tags = addImportTag(state.now.tags, tag);
    state.now = state.before ? patchContact(deps, state.now, { tags }, state.now.status) : { ...state.now, tags };
  }
}

/** The contacts of an import, found as `chooseContact` says. */
interface States {
  list(): ImportState[];
  /** The contact that a row means; undefined for a new one. Throws ApiError duplicate_contact. */
  find(row: ContactImportRow): ImportState | undefined;
  /** Takes a contact up, or its new externalId or address. */
  add(state: ImportState): void;
}

/** Reads the contacts that rows may mean, and the suppressions of all addresses that these or the rows have. */
async function loadStates(
  tx: Tx,
  workspaceId: string,
  rows: readonly ImportRow[],
): Promise<{ states: States; suppressions: ReadonlyMap<string, SuppressionRow> }> {
  const inputs = rows.flatMap((row) => ("contact" in row ? [row.contact] : []));
  const keys = [...new Set(inputs.map(({ email }) => addressKey(email)))];
  const ownIds = [...new Set(inputs.flatMap(({ externalId }) => externalId || []))];
  const byEmail = await findByEmailKeys(tx, workspaceId, keys);
  const byOwnId = await findByExternalIds(tx, workspaceId, ownIds);
  const states = createStates();
  for (const row of new Map([...byEmail.values(), ...byOwnId.values()].map((one) => [one.seq, one])).values())
    states.add({ before: row, now: row, present: false, saidNo: false });
  // Contacts that keep their addresses need none.
  const former = [...byOwnId.values()].map(({ emailKey }) => emailKey).filter((key) => !byEmail.has(key));
  const needed = [...new Set([...keys.filter((key) => !byEmail.has(key)), ...former])];
  return { states, suppressions: needed.length > 0 ? await findSuppressions(tx, workspaceId, needed) : new Map() };
}

function createStates(): States {
  const all = new Set<ImportState>();
  const byEmail = new Map<string, ImportState>();
  const byOwnId = new Map<string, ImportState>();
  return {
    list: () => [...all],
    find(row) {
      const ofId = row.externalId ? byOwnId.get(row.externalId) : undefined;
      const ofEmail = byEmail.get(addressKey(row.email));
      // An address that an earlier row took away from its contact is free only after this request: others would be stored before.
      if (ofEmail && ofEmail !== ofId && ofEmail.now.emailKey !== addressKey(row.email)) throw isLeft(row.email);
      const chosen = chooseContact(row, ofId?.now, ofEmail?.now);
      return chosen && (ofId?.now === chosen ? ofId : ofEmail);
    },
    add(state) {
      all.add(state);
      byEmail.set(state.now.emailKey, state);
      if (state.now.externalId !== null) byOwnId.set(state.now.externalId, state);
    },
  };
}

function isLeft(email: string): ApiError {
  const message = `An earlier row gives the contact with the address ${email} another one. Import this row again, after that one.`;
  return new ApiError("duplicate_contact", message, { details: [{ path: "email", code: "duplicate_contact", message }] });
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
