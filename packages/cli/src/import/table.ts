import { extname } from "node:path";
import {
  type CellFlags,
  type ColumnTarget,
  type CsvRecord,
  createObjectReader,
  createTableReader,
  detectSeparator,
  parseCsv,
  parseFirstRecord,
  parseNdjson,
  type Row,
  SEPARATOR_LINE,
} from "@mailsvc/sdk/contact-files";
import { invalidInput } from "../runtime/errors.ts";
import { assertClear, type FlaggedResolver, resolveColumns } from "./columns.ts";
import { decode, type Encoding } from "./decode.ts";
import type { ImportKind } from "./kind.ts";
import type { Source } from "./source.ts";

export const FORMATS = ["csv", "ndjson"] as const;
export type Format = (typeof FORMATS)[number];

/** The flags about the text of a file; undefined to detect. */
export interface TextFlags {
  format: Format | undefined;
  encoding: Encoding | undefined;
  separator: string | undefined;
  /** Column names, for a file without a header line. */
  header: string | undefined;
}

/** A stream of rows, with what was detected about its format. */
export interface Table {
  format: Format;
  /** CSV only. */
  separator: string;
  names: readonly string[];
  targets: readonly ColumnTarget[];
  rows(): AsyncGenerator<Row[]>;
}

const HEAD = 64 * 1024;

// Rows by which columns are judged.
const SAMPLE = 1000;

/** Detects the format of a source and opens it as rows. Reads only its first lines. Throws CliError that names line and column. */
export async function openTable(
  source: Source,
  kind: ImportKind,
  resolver: FlaggedResolver,
  text: TextFlags,
  cells: CellFlags,
): Promise<Table> {
  const decoded = decode(source.name, source.bytes(), text.encoding);
  let head = "";
  for (let next = await decoded.next(); !next.done; next = await decoded.next()) {
    head += next.value;
    if (head.length >= HEAD) break;
  }
  if (head.trim() === "") throw emptyFileError(source.name);
  const format = text.format ?? detectFormat(source.name, head);
  if (format === "ndjson") {
    const read = createObjectReader(kind, resolver, cells);
    await assertObjectsClear(resolver, head);
    return { format, separator: "", names: [], targets: [], rows: () => mapBatches(parseNdjson(prepend(head, decoded)), [], read) };
  }
  // Excel reads and writes a first line such as `sep=;`.
  const [line = "", named] = SEPARATOR_LINE.exec(head) ?? [];
  head = head.slice(line.length);
  const separator = text.separator ?? named ?? detectSeparator(head.trimStart(), resolver);
  const records = parseCsv(prepend(head, decoded), separator, line === "" ? 1 : 2);
  let first: CsvRecord[] = [];
  // Two records: the header, and the first row.
  while (first.length < 2) {
    const next = await records.next();
    if (next.done) break;
    first = first.concat(next.value);
  }
  const fault = text.header === undefined ? first[0]?.fault : null;
  if (fault)
    throw invalidInput(`Line ${first[0]?.line}, column ${fault.column}: ${fault.message}`, [], {
      code: "invalid_quotes",
      hint: "The first line names the columns; correct it and try again.",
    });
  const names = text.header === undefined ? first[0]?.cells : parseFirstRecord(text.header, detectSeparator(text.header, resolver));
  if (names === undefined) throw emptyFileError(source.name);
  const below = text.header === undefined ? first.slice(1) : first;
  const targets = resolveColumns(
    resolver,
    first[0]?.line ?? 1,
    names,
    below.slice(0, SAMPLE).map((record) => record.cells),
  );
  return { format, separator, names, targets, rows: () => mapBatches(records, below, createTableReader(kind, names, targets, cells)) };
}

function detectFormat(name: string, head: string): Format {
  if (/^\.(?:ndjson|jsonl)$/i.test(extname(name))) return "ndjson";
  const first = head.trimStart()[0];
  if (first === "[" && !/^\.(?:csv|tsv|txt)$/i.test(extname(name)))
    throw invalidInput(`${name} is a JSON array.`, [], {
      code: "json_array",
      hint: `One object on each line is needed: jq -c '.[]' ${name} | mailsvc … import -`,
    });
  return first === "{" ? "ndjson" : "csv";
}

async function* textOf(text: string): AsyncGenerator<string> {
  yield text;
}

async function* prepend(head: string, rest: AsyncIterator<string>): AsyncGenerator<string> {
  if (head !== "") yield head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

/** Throws CliError when names of the first objects may be about consent and do not tell which way. */
async function assertObjectsClear(resolver: FlaggedResolver, head: string): Promise<void> {
  const whole = head.slice(0, head.lastIndexOf("\n") + 1) || head;
  const objects: Readonly<Record<string, unknown>>[] = [];
  for await (const some of parseNdjson(textOf(whole)))
    for (const { value } of some) if (value !== null && objects.length < SAMPLE) objects.push(value);
  const names = [...new Set(objects.flatMap((one) => Object.keys(one)))];
  const rows = objects.map((one) => names.map((name) => toText(one[name])));
  const targets = names.map((name, i) =>
    resolver.resolve(
      name,
      undefined,
      rows.map((cells) => cells[i] ?? ""),
    ),
  );
  assertClear(names, targets, rows);
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : value === null || typeof value === "object" || value === undefined ? "" : String(value);
}

function emptyFileError(name: string) {
  return invalidInput(`${name} is empty.`, [], { code: "empty_file", hint: "The first line names the columns: email,firstName,lastName" });
}

async function* mapBatches<T>(batches: AsyncIterable<T[]>, first: readonly T[], read: (record: T) => Row): AsyncGenerator<Row[]> {
  if (first.length > 0) yield first.map(read);
  for await (const records of batches) yield records.map(read);
}
