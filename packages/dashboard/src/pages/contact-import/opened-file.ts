import { DETECTABLE_TYPES } from "../../../../sdk/src/contact-files/cells.ts";
import { type ColumnResolver, type ColumnTarget, createColumnResolver, mapColumns } from "../../../../sdk/src/contact-files/columns.ts";
import { type CsvRecord, parseCsv } from "../../../../sdk/src/contact-files/csv.ts";
import { CONTACT_COLUMNS } from "../../../../sdk/src/contact-files/file-columns.ts";
import { type JsonRecord, parseNdjson } from "../../../../sdk/src/contact-files/ndjson.ts";
import { createObjectReader, createTableReader, type Row } from "../../../../sdk/src/contact-files/rows.ts";
import { detectSeparator, SEPARATOR_LINE } from "../../../../sdk/src/contact-files/separator.ts";
import { detectEncoding, type Encoding, fileError, readText } from "./file-text.ts";

/** Encoding and format of a file. */
interface TextForm {
  readonly encoding: Encoding;
  readonly format: "csv" | "ndjson";
  /** CSV only. */
  readonly separator: string;
  /** The first line names the columns. */
  readonly hasHeader: boolean;
  /** The line of the first record. */
  readonly firstLine: number;
}

/** A file that was looked into. */
export interface OpenFile extends TextForm {
  readonly names: readonly string[];
  /** The first rows, as text. */
  readonly sample: readonly (readonly string[])[];
  /** The targets of the columns, by their names and some of their cells. */
  readonly guessed: readonly ColumnTarget[];
}

const SAMPLE = 5;
const HEAD = 64 * 1024;

const resolver = createColumnResolver(CONTACT_COLUMNS, { map: [], keepCustom: true });

/** Looks into a file: its encoding, format, columns and first rows. Throws RequestError for what cannot be imported. */
export async function openFile(file: File, given: Partial<Pick<TextForm, "encoding" | "hasHeader">> = {}): Promise<OpenFile> {
  const encoding = given.encoding ?? (await detectEncoding(file));
  let head = "";
  for await (const { text } of readText(file, encoding)) {
    head += text;
    if (head.length >= HEAD) break;
  }
  if (head.trim() === "") throw fileError(`${file.name} is empty.`, "The first line names the columns: email,firstName,lastName");
  const first = head.trimStart()[0];
  if (first === "[" && !/\.(?:csv|tsv|txt)$/i.test(file.name))
    throw fileError(`${file.name} is a JSON array.`, "One object on each line is needed, without commas and brackets around them.");
  if (/\.(?:ndjson|jsonl)$/i.test(file.name) || first === "{") return openObjects(head, encoding);
  const [line = "", named] = SEPARATOR_LINE.exec(head) ?? [];
  const text = head.slice(line.length);
  const separator = named ?? detectSeparator(text.trimStart(), resolver);
  const firstLine = line === "" ? 1 : 2;
  const records: CsvRecord[] = [];
  for await (const some of parseCsv(pieces(text), separator, firstLine)) records.push(...some);
  const [top] = records;
  if (top === undefined) throw fileError(`${file.name} is empty.`, "The first line names the columns: email,firstName,lastName");
  if (top.fault)
    throw fileError(`Line ${top.line}, column ${top.fault.column}: ${top.fault.message}`, "Correct the first line and try again.");
  const hasHeader = given.hasHeader ?? !top.cells.some((cell) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(cell));
  const names = hasHeader
    ? top.cells.map((cell) => cell.trim())
    : top.cells.map((cell, i) => (cell.includes("@") ? "email" : `Column ${i + 1}`));
  const rows = records.slice(hasHeader ? 1 : 0).map(({ cells }) => cells);
  const guessed = mapColumns(resolver, names, rows);
  return { encoding, format: "csv", separator, hasHeader, firstLine, names, sample: rows.slice(0, SAMPLE), guessed };
}

async function openObjects(head: string, encoding: Encoding): Promise<OpenFile> {
  const records: JsonRecord[] = [];
  for await (const some of parseNdjson(pieces(head))) records.push(...some);
  const objects = records.flatMap(({ value }) => (value === null ? [] : [value])).slice(0, 100);
  const names = [...new Set(objects.flatMap((one) => Object.keys(one)))];
  const toText = (value: unknown): string => (value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value));
  const rows = objects.map((one) => names.map((name) => toText(one[name])));
  const guessed = mapColumns(resolver, names, rows);
  return { encoding, format: "ndjson", separator: "", hasHeader: true, firstLine: 1, names, sample: rows.slice(0, SAMPLE), guessed };
}

/** Mapping of a file's rows to contacts. */
export interface RowPlan extends TextForm {
  readonly names: readonly string[];
  readonly targets: readonly ColumnTarget[];
  /** Numbers, dates, and true and false in custom fields are stored as such. */
  readonly detectTypes: boolean;
}

/** The rows of a file as contacts, and up to which byte they go. */
export async function* readRows(file: File, plan: RowPlan): AsyncGenerator<{ readonly rows: readonly Row[]; readonly bytes: number }> {
  const { encoding, format, separator, hasHeader, firstLine, names, targets, detectTypes } = plan;
  let bytes = 0;
  let skip = firstLine > 1;
  async function* text(): AsyncGenerator<string> {
    for await (const piece of readText(file, encoding)) {
      bytes = piece.bytes;
      yield skip ? piece.text.replace(SEPARATOR_LINE, "") : piece.text;
      skip = false;
    }
  }
  const flags = { types: new Set(detectTypes ? DETECTABLE_TYPES : []), guarded: true, defaults: {} };
  if (format === "ndjson") {
    const read = createObjectReader(CONTACT_COLUMNS, toResolver(names, targets), flags);
    for await (const records of parseNdjson(text())) yield { rows: records.map(read), bytes };
    return;
  }
  const read = createTableReader(CONTACT_COLUMNS, names, targets, flags);
  let header = hasHeader;
  for await (const records of parseCsv(text(), separator, firstLine)) {
    const below = header && records.length > 0 ? records.slice(1) : records;
    if (records.length > 0) header = false;
    yield { rows: below.map(read), bytes };
  }
}

/** The fields of objects as they were mapped; names that the first lines do not have, by what they are called. */
function toResolver(names: readonly string[], targets: readonly ColumnTarget[]): ColumnResolver {
  return {
    resolve: (name, index) => targets[names.indexOf(name)] ?? resolver.resolve(name, index),
  };
}

async function* pieces(text: string): AsyncGenerator<string> {
  yield text;
}
