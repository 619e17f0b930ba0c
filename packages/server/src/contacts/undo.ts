import { addressKey, CONTACT_TEXT_FIELDS, type ContactImportSummary, type ContactPatch, type CustomValue } from "@mailsvc/sdk/contract";
import { and, asc, eq, inArray, ne, sql } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { ApiError } from "../lib/api-error.ts";
import { HOUR } from "../lib/units.ts";
import type { JobHandler } from "../queue/queue.ts";
import { takeBackUnsubscribed } from "../suppressions/suppressions.ts";
import type { ContactDeps } from "./deps.ts";
import { EXPIRE_JOB, getImportRecord, type ImportRecord, type RecordedRow, showImport } from "./imports.ts";
import { tagKey } from "./normalize.ts";
import { type ContactRow, findByEmailKeys, findByExternalIds } from "./store.ts";
import type { ContactValues } from "./tables.ts";
import { type ContactChange, patchContact, recordDeletion, saveContacts } from "./write.ts";

export { EXPIRE_JOB };

/** Job kind: undoes an import. */
export const UNDO_JOB = "contacts.undo-import";

// Contacts that are undone in one transaction.
const CHUNK = 200;

/**
 * Undoes an import: its first contacts at once, and the others by a job. Undoing one again changes nothing. Throws ApiError not_found.
 *
 * | state   | trigger                     | next                                       |
 * | ------- | --------------------------- | ------------------------------------------ |
 * | OPEN    | it is undone, few contacts  | UNDONE                                     |
 * | OPEN    | it is undone, many contacts | UNDOING: each chunk deletes its own rows    |
 * | UNDOING | no row is left              | UNDONE                                     |
 * | UNDOING | a week is over              | UNDOING: it is forgotten once it is UNDONE |
 */
export async function undoImport(tx: Tx, deps: ContactDeps, workspaceId: string, ref: string): Promise<ContactImportSummary> {
  const record = await getImportRecord(tx, deps, workspaceId, ref);
  if (record.state !== "OPEN") return showImport(tx, record);
  const { contactImports: t } = tx.t;
  await tx.update(t).set({ state: "UNDOING" }).where(eq(t.seq, record.seq));
  await undoChunk(tx, deps, record);
  return showImport(tx, await getImportRecord(tx, deps, workspaceId, record.id));
}

/** Goes on with an import that is being undone. */
export function undoInBackground(deps: ContactDeps): JobHandler {
  return async ({ payload }) => ({
    commit: async (tx) => {
      const [record] = await findRows(tx, tx.t.contactImports, { id: String(payload.importId) });
      if (record?.state === "UNDOING") await undoChunk(tx, deps, record);
    },
  });
}

/** Deletes what is kept of an import, with the values that its contacts had before; of one that is being undone, once that is over. */
export function expireImport(deps: ContactDeps): JobHandler {
  return async ({ payload }) => ({
    commit: async (tx) => {
      const { contactImports: t, contactImportRows: r, contactImportResults: results } = tx.t;
      const [record] = await findRows(tx, t, { id: String(payload.importId) });
      if (!record) return;
      if (record.state === "UNDOING") {
        await deps.queue.enqueue(tx, { kind: EXPIRE_JOB, payload, runAt: deps.clock.now() + HOUR });
        return;
      }
      await tx.delete(r).where(eq(r.importSeq, record.seq));
      await tx.delete(results).where(eq(results.importSeq, record.seq));
      await tx.delete(t).where(eq(t.seq, record.seq));
    },
  });
}

/** Undoes the next contacts of an import, and plans the rest. */
async function undoChunk(tx: Tx, deps: ContactDeps, record: ImportRecord): Promise<void> {
  const { contactImports: t, contactImportRows: r } = tx.t;
  const rows = await tx.select().from(r).where(eq(r.importSeq, record.seq)).orderBy(asc(r.contactSeq)).limit(CHUNK);
  const kept = rows.length > 0 ? await undoRows(tx, deps, record, rows) : 0;
  const over = rows.length < CHUNK;
  await tx
    .update(t)
    .set({ kept: sql`${t.kept} + ${kept}`, ...(over && { state: "UNDONE" as const, undoneAt: deps.clock.now() }) })
    .where(eq(t.seq, record.seq));
  if (!over) await deps.queue.enqueue(tx, { kind: UNDO_JOB, payload: { workspaceId: record.workspaceId, importId: record.id } });
}

/** Undoes what an import did to some contacts. Returns how many that it created stay. */
async function undoRows(
  tx: Tx,
  deps: ContactDeps,
  { seq: importSeq, workspaceId }: ImportRecord,
  rows: readonly RecordedRow[],
): Promise<number> {
  const { contactImportRows: r } = tx.t;
  const seqs = rows.map(({ contactSeq }) => contactSeq);
  const contacts = new Map((await findRows(tx, tx.t.contacts, { workspaceId, seq: seqs })).map((row) => [row.seq, row]));
  const others = await tx
    .select()
    .from(r)
    .where(and(inArray(r.contactSeq, seqs), ne(r.importSeq, importSeq)));
  const othersOf = Map.groupBy(others, ({ contactSeq }) => contactSeq);
  const saidNoElsewhere = new Set(others.filter(({ saidNo }) => saidNo).map(({ contactSeq }) => contactSeq));
  const liftable = rows.flatMap(({ suppressionId, contactSeq }) =>
    suppressionId === null || saidNoElsewhere.has(contactSeq) ? [] : [suppressionId],
  );
  const lifted = await takeBackUnsubscribed(tx, deps, workspaceId, liftable);
  let kept = 0;
  const changes: ContactChange[] = [];
  const restored: Restored[] = [];
  for (const [listId, joined] of Map.groupBy(rows, (row) => row.listId)) {
    const members = joined.flatMap(({ contactSeq }) => contacts.get(contactSeq) ?? []);
    if (listId !== null) await deps.contactHooks.leaveList(tx, workspaceId, listId, members);
  }
  for (const row of rows) {
    const contact = contacts.get(row.contactSeq);
    if (!contact) continue;
    const came = othersOf.get(row.contactSeq) ?? [];
    if (row.created && came.length === 0 && (await deps.contactHooks.listMemberships(tx, contact)).lists.length === 0) {
      await deps.contactHooks.forgetContact(tx, contact);
      await recordDeletion(tx, deps, contact);
      continue;
    }
    if (row.created) kept += 1;
    await passOn(tx, row, came);
    restored.push({ contact, ...restore(contact, row, lifted.has(contact.emailKey)) });
  }
  for (const { contact, patch, status } of await leaveTaken(tx, workspaceId, restored)) {
    try {
      changes.push({ before: contact, after: patchContact(deps, contact, patch, status) });
    } catch (error) {
      // With what others have added since, the former custom fields are too large: the contact stays as it is.
      if (!(error instanceof ApiError)) throw error;
    }
  }
  await saveContacts(tx, deps, [], changes, { source: "import", startsNothing: true });
  await tx.delete(r).where(and(eq(r.importSeq, importSeq), inArray(r.contactSeq, seqs)));
  return kept;
}

interface Restored {
  readonly contact: ContactRow;
  readonly patch: Omit<ContactPatch, "status">;
  readonly status: ContactRow["status"];
}

/** The same without former addresses and externalIds that another contact has by now. */
async function leaveTaken(tx: Tx, workspaceId: string, restored: readonly Restored[]): Promise<Restored[]> {
  const keys = restored.flatMap(({ patch }) => (patch.email === undefined ? [] : [addressKey(patch.email)]));
  const byEmail = keys.length === 0 ? new Map<string, ContactRow>() : await findByEmailKeys(tx, workspaceId, keys);
  const ownIds = restored.flatMap(({ patch }) => patch.externalId || []);
  const byOwnId = await findByExternalIds(tx, workspaceId, ownIds);
  return restored.map(({ contact, patch: { email, externalId, ...patch }, status }) => {
    const isFree = (other: ContactRow | undefined): boolean => other === undefined || other.seq === contact.seq;
    return {
      contact,
      patch: {
        ...patch,
        ...(email !== undefined && isFree(byEmail.get(addressKey(email))) && { email }),
        ...(externalId !== undefined && isFree(byOwnId.get(externalId ?? "")) && { externalId }),
      },
      status,
    };
  });
}

/** The fields that are still as the import left them get their former values; what was changed since stays. */
function restore(
  contact: ContactRow,
  { before, after }: RecordedRow,
  isLifted: boolean,
): { patch: Omit<ContactPatch, "status">; status: ContactRow["status"] } {
  const patch: Omit<ContactPatch, "status"> = {};
  if (before.email !== undefined && contact.email === after.email) patch.email = before.email;
  for (const field of ["externalId", ...CONTACT_TEXT_FIELDS] as const)
    if (before[field] !== undefined && contact[field] === (after[field] ?? null)) patch[field] = before[field];
  if (before.tags !== undefined) patch.tags = restoreTags(contact.tags, before.tags, after.tags ?? []);
  const custom = Object.entries(before.customFields ?? {}).filter(
    ([key]) => JSON.stringify(contact.customFields[key] ?? null) === JSON.stringify(after.customFields?.[key] ?? null),
  );
  if (custom.length > 0) patch.customFields = Object.fromEntries<CustomValue>(custom);
  const isRestored = isLifted && before.status !== undefined && contact.status === after.status;
  return { patch, status: isRestored ? (before.status ?? contact.status) : contact.status };
}

/** Without the tags that the import added, and with those that it took. */
function restoreTags(now: readonly string[], before: readonly string[], after: readonly string[]): string[] {
  const [had, got, has] = [before, after, now].map((tags) => new Set(tags.map(tagKey))) as [Set<string>, Set<string>, Set<string>];
  const kept = now.filter((tag) => had.has(tagKey(tag)) || !got.has(tagKey(tag)));
  return [...kept, ...before.filter((tag) => !got.has(tagKey(tag)) && !has.has(tagKey(tag)))];
}

/**
 * Lets imports that found what `row` had left give back what was there before both, if they are undone too. The order of requests decides,
 * not that in which the imports began: what an import found is the value that another one had left.
 */
async function passOn(tx: Tx, row: RecordedRow, others: readonly RecordedRow[]): Promise<void> {
  const { contactImportRows: r } = tx.t;
  for (const other of others) {
    // Nothing was there before the one that created the contact: the last of them takes it away.
    const set = row.created ? { created: true, before: {}, after: {} } : { before: giveBack(other.before, row) };
    if (row.created || JSON.stringify(set.before) !== JSON.stringify(other.before))
      await tx
        .update(r)
        .set(set)
        .where(and(eq(r.importSeq, other.importSeq), eq(r.contactSeq, other.contactSeq)));
  }
}

/** The values that an import found, with those from before `row` in place of those that `row` had left. */
function giveBack(found: ContactValues, { before, after }: RecordedRow): ContactValues {
  const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
  const fields = ["email", "externalId", ...CONTACT_TEXT_FIELDS, "tags", "status"] as const;
  const values = fields.filter((field) => found[field] !== undefined && before[field] !== undefined && isSame(found[field], after[field]));
  const custom = Object.entries(before.customFields ?? {}).filter(
    ([key]) => found.customFields?.[key] !== undefined && isSame(found.customFields[key], after.customFields?.[key]),
  );
  return {
    ...found,
    ...Object.fromEntries(values.map((field) => [field, before[field]])),
    ...(custom.length > 0 && { customFields: { ...found.customFields, ...Object.fromEntries(custom) } }),
  };
}
