import { isUtf8 } from "node:buffer";
import {
  CONTACT_COLUMNS,
  type ColumnMapping,
  type ColumnTarget,
  type CsvRecord,
  createColumnResolver,
  createTableReader,
  detectSeparator,
  mapColumns,
  parseCsv,
} from "@mailsvc/sdk/contact-files";
import { CONTACT_LIMITS, type ContactImportSummary, contract } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { toIdCursor } from "../../db/pagination.ts";
import type { PreparedCall } from "../../http/contract-calls.ts";
import { ApiError, invalid } from "../../lib/api-error.ts";
import { CHUNK_BYTES, waitForTurn } from "../../lib/turn.ts";
import { type Operation, readOperation, type Writes, writeOperation } from "../operation.ts";
import { loadTypes } from "./contact-properties.ts";
import { idOf } from "./ids.ts";
import { answerList, listQuery } from "./lists.ts";
import { chooseTopics, TopicChoices } from "./topics.ts";

// All rows of a file are stored in one transaction.
const MAX_ROWS = 5000;
const NOTE = "files of up to 5,000 rows, which are stored when the answer comes; found for 7 days";

/** The columns of a file, by the fields of contacts that they hold. */
const ColumnMap = z.object({
  email: z.string().nullish(),
  first_name: z.string().nullish(),
  last_name: z.string().nullish(),
  unsubscribed: z.string().nullish(),
  properties: z.record(z.string(), z.object({ column: z.string(), type: z.enum(["string", "number", "boolean"]).nullish() })).nullish(),
});
type ColumnMap = z.output<typeof ColumnMap>;
type PropertyType = "string" | "number" | "boolean";

/** The rows of one request of the contract. */
interface Batch {
  /** The address of each row; null for a row that cannot be read. */
  readonly addresses: readonly (string | null)[];
  readonly call: PreparedCall<typeof contract.contacts.import>;
}

/** Files of contacts. They are imports of ours, which can be undone. Nobody enters an automation by them. */
export const contactImportOperations: readonly Operation[] = [
  writeOperation({
    method: "POST",
    path: "/contacts/imports",
    note: NOTE,
    form: true,
    body: z.object({
      column_map: jsonText(ColumnMap).nullish(),
      on_conflict: z.enum(["upsert", "skip"]).default("upsert"),
      segments: jsonText(z.array(z.union([idOf("segments"), z.object({ id: idOf("segments") })])).max(50)).nullish(),
      topics: jsonText(TopicChoices).nullish(),
    }),
    status: 201,
    prepare: async ({ column_map: columns, on_conflict: mode }, calls): Promise<Batch[]> => {
      calls.authorize(contract.contacts.startImport);
      if (!calls.file || calls.file.bytes.length === 0) throw invalid("file", "required", "Missing `file` field.");
      const rows = await readContactFile(calls.file.bytes, columns ?? null, await loadTypes(calls));
      if (rows.length > MAX_ROWS) throw tooManyRows(rows.length);
      const batches: Batch[] = [];
      for (let at = 0; at < rows.length; at += CONTACT_LIMITS.importRows) {
        const some = rows.slice(at, at + CONTACT_LIMITS.importRows);
        batches.push({
          addresses: some.map((row) => (typeof row?.["email"] === "string" ? row["email"] : null)),
          call: await calls.prepare(contract.contacts.import, { rows: some, mode }),
        });
      }
      return batches;
    },
    run: async ({ segments, topics }, calls, batches) => {
      const { id } = await calls.write(contract.contacts.startImport, { tag: null });
      const lists = (segments ?? []).map((one) => (typeof one === "string" ? one : one.id));
      for (const batch of batches) await storeBatch(batch, id, lists, topics ?? [], calls);
      return { object: "contact_import", id };
    },
  }),
  readOperation({
    path: "/contacts/imports",
    note: NOTE,
    query: listQuery.extend({ status: z.enum(["queued", "in_progress", "completed", "failed"]).optional() }),
    run: ({ status, ...query }, { read }) =>
      answerList(
        query,
        async (page) => {
          const imports = await read(contract.contacts.imports, page);
          // All of them are completed.
          return status === undefined || status === "completed" ? imports : { ...imports, data: [] };
        },
        showImport,
        async (id) => toIdCursor((await read(contract.contacts.getImport, { id })).id),
      ),
  }),
  readOperation({
    path: "/contacts/imports/:id",
    note: NOTE,
    run: async ({ id }, { read }) => showImport(await read(contract.contacts.getImport, { id })),
  }),
];

/** Stores the contacts of some rows, on lists and with their choices of topics. Contacts that are skipped stay as they are. */
async function storeBatch(
  { addresses, call }: Batch,
  importId: string,
  [list, ...others]: readonly string[],
  topics: z.output<typeof TopicChoices>,
  calls: Writes,
): Promise<void> {
  const { results } = await calls.finish(call, { also: { import: importId, ...(list !== undefined && { list }) } });
  const stored = results.flatMap((result, i) => (result === "failed" || result === "skipped" ? [] : (addresses[i] ?? [])));
  const contacts = [...new Set(stored)];
  if (contacts.length === 0) return;
  for (const other of others) await calls.write(contract.lists.add, { id: other, contacts });
  await chooseTopics(contacts, topics, calls);
}

function tooManyRows(count: number): ApiError {
  const message = `file has ${count.toLocaleString("en-US")} rows; one import takes up to ${MAX_ROWS.toLocaleString("en-US")}.`;
  return new ApiError("validation_error", message, {
    details: [{ path: "file", code: "too_big", message }],
    hint: "Split the file, or read it by the command line: mailsvc contacts import FILE.",
  });
}

/** A field of a form whose text is JSON. */
function jsonText<S extends z.ZodType>(schema: S) {
  return z
    .string()
    .transform((text, ctx): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        ctx.addIssue({ code: "custom", message: "The text of this field must be JSON." });
        return z.NEVER;
      }
    })
    .pipe(schema);
}

function showImport({ id, createdAt, rows }: ContactImportSummary) {
  const { created, updated, unchanged, skipped, failed } = rows;
  return {
    object: "contact_import",
    id,
    status: "completed",
    created_at: createdAt,
    completed_at: createdAt,
    // Rows that change nothing count as updated, so that the sum is the number of rows.
    counts: { total: created + updated + unchanged + skipped + failed, created, updated: updated + unchanged, skipped, failed },
  };
}

// Rows by which columns are judged.
const SAMPLE = 1000;

/**
 * The contacts of a CSV file, as rows of an import; null for a row that cannot be read. Without a map, columns are found by their names, and
 * all others become properties; with one, columns that it does not name are left out. A column or a cell that may say who wants no mail is
 * never guessed: the file or the row is refused. Throws ApiError validation_error that names `file` or `column_map`.
 */
async function readContactFile(
  bytes: Uint8Array,
  map: ColumnMap | null,
  types: ReadonlyMap<string, PropertyType>,
): Promise<(Record<string, unknown> | null)[]> {
  if (!isUtf8(bytes)) throw invalid("file", "invalid_characters", "file must be text in UTF-8.");
  const resolver = createColumnResolver(CONTACT_COLUMNS, { map: map === null ? [] : listMappings(map, types), keepCustom: map === null });
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString()
    .replace(/^\uFEFF/, "");
  const records: CsvRecord[] = [];
  for await (const some of parseCsv(chunksOf(text), detectSeparator(text.slice(0, CHUNK_BYTES), resolver))) records.push(...some);
  const [header, ...rows] = records;
  if (!header || header.fault) throw invalid("file", "invalid_format", "file must begin with a line that names the columns.");
  if (rows.length === 0) throw invalid("file", "too_small", "file has no rows below the names of its columns.");
  const names = header.cells;
  for (const [field, column] of listColumns(map))
    if (!names.includes(column)) throw invalid(field, "not_found", `${field}: file has no column ${JSON.stringify(column.slice(0, 60))}.`);
  const targets = mapColumns(
    resolver,
    names,
    rows.slice(0, SAMPLE).map(({ cells }) => cells),
  ).map((target) => withDeclaredType(target, types));
  assertReadable(names, targets);
  const read = createTableReader(CONTACT_COLUMNS, names, targets, { types: new Set(), guarded: true, defaults: {} });
  return rows.map((record) => {
    const { value, faults } = read(record);
    return faults.length > 0 ? null : value;
  });
}

async function* chunksOf(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += CHUNK_BYTES) {
    if (at > 0) await waitForTurn();
    yield text.slice(at, at + CHUNK_BYTES);
  }
}

/** The fields of a map, with their columns. */
function listColumns(map: ColumnMap | null): [string, string][] {
  const { properties, ...fields } = map ?? {};
  const named = Object.entries(fields).flatMap(([field, column]): [string, string][] => (column ? [[`column_map.${field}`, column]] : []));
  const custom = Object.entries(properties ?? {}).map(([key, { column }]): [string, string] => [`column_map.properties.${key}`, column]);
  return [...named, ...custom];
}

function listMappings(map: ColumnMap, types: ReadonlyMap<string, PropertyType>): ColumnMapping[] {
  const mappings: ColumnMapping[] = [];
  const add = (column: string | null | undefined, target: ColumnTarget): void => {
    if (column) mappings.push({ column, target });
  };
  add(map.email, { to: "field", field: "email" });
  add(map.first_name, { to: "field", field: "firstName" });
  add(map.last_name, { to: "field", field: "lastName" });
  add(map.unsubscribed, { to: "consent", kind: "opt-out" });
  for (const [key, { column, type }] of Object.entries(map.properties ?? {}))
    add(column, { to: "custom", key, type: toCellType(type ?? types.get(key) ?? "string") });
  return mappings;
}

/** A property that was declared with a type is read as that type. */
function withDeclaredType(target: ColumnTarget, types: ReadonlyMap<string, PropertyType>): ColumnTarget {
  if (target.to !== "custom" || target.type !== undefined) return target;
  return { ...target, type: toCellType(types.get(target.key) ?? "string") };
}

function toCellType(type: PropertyType): "text" | "number" | "boolean" {
  return type === "string" ? "text" : type;
}

function assertReadable(names: readonly string[], targets: readonly ColumnTarget[]): void {
  const unclear = targets.findIndex(({ to }) => to === "unclear");
  if (unclear !== -1) {
    const column = JSON.stringify((names[unclear] ?? "").slice(0, 60));
    throw invalid(
      "column_map",
      "unclear_consent",
      `The column ${column} may say who wants no mail: name it in column_map.unsubscribed or column_map.properties.`,
    );
  }
  if (!targets.some((target) => target.to === "field" && target.field === "email"))
    throw invalid("column_map.email", "required", "file has no column for addresses: name it in column_map.email.");
}
