import {
  CONTACT_LIMITS,
  CONTACT_TEXT_FIELDS,
  type ContactImportSummary,
  type CustomValue,
  type ImportResult,
  type Page,
  UNDO_DAYS,
} from "@mailsvc/sdk/contract";
import { and, count, desc, eq, gt, isNotNull, like, or, type SQLWrapper, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { listPage, type PageInput } from "../db/pagination.ts";
import { ApiError } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { DAY } from "../lib/units.ts";
import type { ContactDeps } from "./deps.ts";
import { tagKey } from "./normalize.ts";
import { type ContactRow, holdContacts } from "./store.ts";
import type { ContactTables, ContactValues } from "./tables.ts";

export type ImportRecord = ContactTables["contactImports"]["$inferSelect"];
export type RecordedRow = ContactTables["contactImportRows"]["$inferSelect"];

/** Job kind: forgets an import that can no longer be undone. */
export const EXPIRE_JOB = "contacts.expire-import";

// The tags that imports make by themselves.
const OWN_TAG = /^import:\d{4}-\d\d-\d\d-\d+$/;

/** Begins an import with the next number of this day (UTC). `tag` null means none, undefined that of the number. */
export async function startImport(
  tx: Tx,
  deps: ContactDeps,
  workspaceId: string,
  { file, tag }: { readonly file?: string | undefined; readonly tag?: string | null | undefined },
): Promise<ContactImportSummary> {
  const { contactImports: t } = tx.t;
  const now = deps.clock.now();
  if (typeof tag === "string") await assertNotUndoing(tx, workspaceId, tag);
  const day = iso(now).slice(0, 10);
  const names = await tx
    .select({ name: t.name })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), like(t.name, `${day}-%`)));
  const number = Math.max(0, ...names.map(({ name }) => Number(name.slice(day.length + 1)))) + 1;
  const name = `${day}-${number}`;
  const [seq = 0] = await tx.nextNumbers(t, 1);
  const row: ImportRecord = {
    seq,
    id: deps.ids("imp"),
    workspaceId,
    name,
    tag: tag === undefined ? `import:${name}` : tag,
    file: file ?? null,
    state: "OPEN",
    kept: 0,
    createdAt: now,
    undoneAt: null,
  };
  await tx.insertAll(t, [row]);
  await deps.queue.enqueue(tx, { kind: EXPIRE_JOB, payload: { workspaceId, importId: row.id }, runAt: now + UNDO_DAYS * DAY });
  return showImport(tx, row);
}

/** Throws ApiError invalid_state for a tag that is being taken from everybody. */
async function assertNotUndoing(tx: Tx, workspaceId: string, tag: string): Promise<void> {
  const { contactImports: t } = tx.t;
  const [undoing] = await tx
    .select({ seq: t.seq })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.tag, tag), eq(t.state, "UNDOING")))
    .limit(1);
  if (!undoing) return;
  throw new ApiError("invalid_state", `The import ${tag} is being undone, which takes its tag from everybody. Begin once that is over.`, {
    hint: `See how much is left: mailsvc contacts get-import ${tag}`,
  });
}

/** An import that can still be undone, by its id, its name or its tag: the latest. Throws ApiError not_found. */
export async function getImportRecord(
  q: Tx | Reader,
  deps: Pick<ContactDeps, "clock">,
  workspaceId: string,
  ref: string,
): Promise<ImportRecord> {
  const { contactImports: t } = q.t;
  const after = deps.clock.now() - UNDO_DAYS * DAY;
  const [row] = await q
    .select()
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), gt(t.createdAt, after), or(eq(t.id, ref), eq(t.name, ref), eq(t.tag, ref))))
    .orderBy(desc(t.seq))
    .limit(1);
  if (!row)
    throw new ApiError("not_found", `There is no import ${JSON.stringify(ref.slice(0, 100))} within the last ${UNDO_DAYS} days.`, {
      hint: "See: mailsvc contacts imports",
    });
  return row;
}

/** A page of the imports that can still be undone or were, newest first. */
export async function listImports(
  read: Reader,
  deps: Pick<ContactDeps, "clock">,
  workspaceId: string,
  input: PageInput,
): Promise<Page<ContactImportSummary>> {
  const { contactImports: t } = read.t;
  const where = and(eq(t.workspaceId, workspaceId), gt(t.createdAt, deps.clock.now() - UNDO_DAYS * DAY));
  const page = await listPage(read, input, { table: t, where, toItem: (row) => row });
  return { ...page, data: await Promise.all(page.data.map((row) => showImport(read, row))) };
}

export async function showImport(q: Tx | Reader, row: ImportRecord): Promise<ContactImportSummary> {
  const { contactImportRows: r } = q.t;
  const counts = await q.select({ created: r.created, n: count() }).from(r).where(eq(r.importSeq, row.seq)).groupBy(r.created);
  const ofList = await q
    .select({ n: count() })
    .from(r)
    .where(and(eq(r.importSeq, row.seq), isNotNull(r.listId)));
  const ofKind = (created: boolean): number => counts.find((one) => one.created === created)?.n ?? 0;
  return {
    id: row.id,
    name: row.name,
    tag: row.tag,
    file: row.file,
    state: row.state,
    rows: await countRows(q, row),
    created: ofKind(true),
    existing: ofKind(false),
    memberships: ofList[0]?.n ?? 0,
    kept: row.kept,
    createdAt: iso(row.createdAt),
    undoableUntil: iso(row.createdAt + UNDO_DAYS * DAY),
    undoneAt: row.undoneAt === null ? null : iso(row.undoneAt),
  };
}

/** Results of all rows that were sent for an import. */
async function countRows(q: Tx | Reader, { seq }: ImportRecord): Promise<Record<ImportResult, number>> {
  const { contactImportResults: t } = q.t;
  const sum = (column: SQLWrapper) => sql<number>`coalesce(sum(${column}), 0)`.mapWith(Number);
  const [counts] = await q
    .select({
      created: sum(t.created),
      updated: sum(t.updated),
      unchanged: sum(t.unchanged),
      skipped: sum(t.skipped),
      failed: sum(t.failed),
    })
    .from(t)
    .where(eq(t.importSeq, seq));
  return counts ?? { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 };
}

/** Records the results of the rows of one request. */
export async function recordResults(
  tx: Tx,
  { seq: importSeq }: ImportRecord,
  counts: Readonly<Record<ImportResult, number>>,
): Promise<void> {
  const { contactImportResults: t } = tx.t;
  const [id = 0] = await tx.nextNumbers(t, 1);
  await tx.insertAll(t, [{ id, importSeq, ...counts }]);
}

/** Adds the tag of an import to tags. If a contact has as many as allowed, the oldest one made by an import is dropped. */
export function addImportTag(tags: readonly string[], tag: string | null): string[] {
  if (tag === null || tags.some((one) => tagKey(one) === tagKey(tag))) return [...tags];
  const room = tags.length < CONTACT_LIMITS.tags ? tags : tags.filter((_, i) => i !== tags.findIndex((other) => OWN_TAG.test(other)));
  return room.length < CONTACT_LIMITS.tags ? [...room, tag] : [...tags];
}

/** Change of one contact by an import. */
interface ImportedContact {
  /** Null for one that it created. */
  readonly before: ContactRow | null;
  readonly after: ContactRow;
  readonly saidNo: boolean;
  readonly suppressionId: string | null;
  readonly listId: string | null;
}

/** Records what an import did, so that it can be undone. Several requests can be about one contact. */
export async function recordImported(
  tx: Tx,
  { seq: importSeq, workspaceId }: ImportRecord,
  imported: readonly ImportedContact[],
): Promise<void> {
  const { contactImportRows: t } = tx.t;
  const contactSeqs = imported.map(({ after }) => after.seq);
  const known = new Map((await findRows(tx, t, { importSeq, contactSeq: contactSeqs })).map((row) => [row.contactSeq, row]));
  const rows = imported.map(({ before, after, saidNo, suppressionId, listId }): RecordedRow => {
    const values = before === null ? { before: {}, after: {} } : diff(before, after);
    const earlier = known.get(after.seq);
    return {
      importSeq,
      contactSeq: after.seq,
      created: earlier?.created ?? before === null,
      before: earlier ? mergeValues(values.before, earlier.before) : values.before,
      after: earlier ? mergeValues(earlier.after, values.after) : values.after,
      saidNo: saidNo || (earlier?.saidNo ?? false),
      suppressionId: suppressionId ?? earlier?.suppressionId ?? null,
      listId: listId ?? earlier?.listId ?? null,
    };
  });
  const contacts = await holdContacts(
    tx,
    workspaceId,
    imported.map(({ after }) => after),
  );
  const held = new Map(contacts.map(({ seq }) => [seq as number, seq]));
  await tx.insertAll(
    t,
    rows.flatMap((row) => {
      const contactSeq = held.get(row.contactSeq);
      return contactSeq === undefined || known.has(row.contactSeq) ? [] : [{ ...row, contactSeq }];
    }),
  );
  await tx.updateAll(
    t,
    rows
      .filter(({ contactSeq }) => known.has(contactSeq))
      .map(({ importSeq: _, contactSeq, ...set }) => ({ where: { importSeq, contactSeq }, set })),
  );
}

/** The values that a contact had before imports that can still be undone. */
export async function listFormerValues(read: Reader, contactSeq: number): Promise<Record<string, unknown>[]> {
  const { contactImportRows: t } = read.t;
  const rows = await read.select({ before: t.before }).from(t).where(eq(t.contactSeq, contactSeq));
  return rows.flatMap(({ before }) => (Object.keys(before).length > 0 ? [{ ...before }] : []));
}

function diff(before: ContactRow, after: ContactRow): { before: ContactValues; after: ContactValues } {
  const fields = ["email", "externalId", ...CONTACT_TEXT_FIELDS, "tags", "status"] as const;
  const changed = fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  const keys = [...new Set([...Object.keys(before.customFields), ...Object.keys(after.customFields)])].filter(
    (key) => JSON.stringify(before.customFields[key]) !== JSON.stringify(after.customFields[key]),
  );
  const pick = (row: ContactRow): ContactValues => ({
    ...Object.fromEntries(changed.map((field) => [field, row[field]])),
    ...(keys.length > 0 && {
      customFields: Object.fromEntries(keys.map((key): [string, CustomValue] => [key, row.customFields[key] ?? null])),
    }),
  });
  return { before: pick(before), after: pick(after) };
}

/** The values of both; those of `over` count. */
function mergeValues(under: ContactValues, over: ContactValues): ContactValues {
  const customFields = { ...under.customFields, ...over.customFields };
  return { ...under, ...over, ...(Object.keys(customFields).length > 0 && { customFields }) };
}
