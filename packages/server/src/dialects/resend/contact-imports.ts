import { CONTACT_LIMITS, type ContactImportSummary, contract } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { toIdCursor } from "../../db/pagination.ts";
import type { PreparedCall } from "../../http/contract-calls.ts";
import { ApiError, invalid } from "../../lib/api-error.ts";
import { type Operation, readOperation, type Writes, writeOperation } from "../operation.ts";
import { ColumnMap, readContactFile } from "./contact-file.ts";
import { loadTypes } from "./contact-properties.ts";
import { idOf } from "./ids.ts";
import { answerList, listQuery } from "./lists.ts";
import { chooseTopics, TopicChoices } from "./topics.ts";

// All rows of a file are stored in one transaction.
const MAX_ROWS = 5000;
const NOTE = "files of up to 5,000 rows, which are stored when the answer comes; found for 7 days";

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
    // What was the same already counts as updated, so that the sum is the number of rows.
    counts: { total: created + updated + unchanged + skipped + failed, created, updated: updated + unchanged, skipped, failed },
  };
}
