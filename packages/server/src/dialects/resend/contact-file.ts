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
import * as z from "zod";
import { invalid } from "../../lib/api-error.ts";
import { CHUNK_BYTES, waitForTurn } from "../../lib/turn.ts";

/** The columns of a file, by the fields of contacts that they hold. */
export const ColumnMap = z.object({
  email: z.string().nullish(),
  first_name: z.string().nullish(),
  last_name: z.string().nullish(),
  unsubscribed: z.string().nullish(),
  properties: z.record(z.string(), z.object({ column: z.string(), type: z.enum(["string", "number", "boolean"]).nullish() })).nullish(),
});
type ColumnMap = z.output<typeof ColumnMap>;
type PropertyType = "string" | "number" | "boolean";

// Rows by which columns are judged.
const SAMPLE = 1000;

/**
 * The contacts of a CSV file, as rows of an import; null for a row that cannot be read. Without a map, columns are found by their names, and
 * all others become properties; with one, columns that it does not name are left out. A column or a cell that may say who wants no mail is
 * never guessed: the file or the row is refused. Throws ApiError validation_error that names `file` or `column_map`.
 */
export async function readContactFile(
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
