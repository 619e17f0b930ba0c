import { type CellValue, convertCell, type DetectableType, detectType, unescapeFormula } from "./cells.ts";
import type { ColumnResolver, ColumnTarget } from "./columns.ts";
import type { CsvRecord } from "./csv.ts";
import type { FileColumns } from "./file-columns.ts";
import type { JsonRecord } from "./ndjson.ts";

/** A fault of a row: the column's name in the file, and the field it maps to. */
export interface RowFault {
  column: string;
  field: string;
  code: string;
  message: string;
}

/** One parsed row as it would be sent, with the faults found while parsing. */
export interface Row {
  line: number;
  value: Record<string, unknown>;
  faults: RowFault[];
  /** The original row, for the errors file. */
  source: readonly string[] | JsonRecord;
  /** Returns the column of a field, to name it in errors: `customFields.plan` -> `Plan`. */
  columnOf(field: string): string;
}

/** How to read cells. */
export interface CellFlags {
  /** Types to detect in custom fields. */
  types: ReadonlySet<DetectableType>;
  /** Whether to remove the apostrophe that protects cells from being formulas. */
  guarded: boolean;
  /** Values of fields that a row does not set. */
  defaults: Readonly<Record<string, unknown>>;
}
type Draft = ReturnType<typeof createDraft>;

/** Parses rows of a table. An empty cell leaves a contact's field unchanged. */
export function createTableReader(
  kind: FileColumns,
  names: readonly string[],
  targets: readonly ColumnTarget[],
  flags: CellFlags,
): (record: CsvRecord) => Row {
  const label = (i: number): string => names[i]?.trim() || `column ${i + 1}`;
  const fields = targets.map(getFieldPath);
  const columnOf = (field: string): string => {
    const exact = fields.indexOf(field);
    const at = exact === -1 ? fields.findIndex((f) => f !== "" && (field.startsWith(`${f}.`) || field.startsWith(`${f}[`))) : exact;
    return at === -1 ? "" : label(at);
  };
  const read = (draft: Draft, target: ColumnTarget, cell: string, i: number): void => {
    const text = flags.guarded ? unescapeFormula(cell) : cell;
    const take = (made: CellValue, put: (value: unknown) => void): void => {
      if ("fault" in made) draft.fault(label(i), getFieldPath(target), "invalid_value", made.fault);
      else put(made.value);
    };
    if (target.to === "field") take(kind.cells[target.field]?.(text) ?? { value: text }, (value) => draft.put(target.field, value));
    else if (target.to === "customFields") putObject(draft, parseJson(text), label(i));
    else if (target.to === "custom")
      take(target.type ? convertCell(text, target.type) : { value: detectType(text, flags.types) }, (value) =>
        draft.putCustom(target.key, value),
      );
  };
  return ({ line, cells, fault }) => {
    const draft = createDraft(line, cells, flags.defaults, columnOf);
    if (fault) {
      draft.fault(label(fault.column - 1), fields[fault.column - 1] ?? "", "invalid_quotes", fault.message);
      return draft.row;
    }
    if (cells.slice(targets.length).some((cell) => cell !== ""))
      draft.fault(
        `column ${targets.length + 1}`,
        "",
        "too_many_cells",
        `This row has ${cells.length} cells, but the header has ${targets.length}. Quote values that contain the separator.`,
      );
    else
      targets.forEach((target, i) => {
        const cell = cells[i];
        if (cell !== undefined && cell !== "") read(draft, target, cell, i);
      });
    return draft.row;
  };
}

/** Parses JSON objects. Names are mapped as column names are; values keep their types. */
export function createObjectReader(kind: FileColumns, resolver: ColumnResolver, flags: CellFlags): (record: JsonRecord) => Row {
  const known = new Map<string, ColumnTarget>();
  const getTarget = (name: string): ColumnTarget => {
    let target = known.get(name);
    if (!target) {
      target = resolver.resolve(name);
      // Names come from the data, so their number is unbounded: stop caching at some point.
      if (known.size < 10_000) known.set(name, target);
    }
    return target;
  };
  return (record) => {
    const names = new Map<string, string>();
    const columnOf = (field: string): string => names.get(field) ?? field;
    const draft = createDraft(record.line, record, flags.defaults, columnOf);
    if (record.value === null) {
      draft.fault("", "", "invalid_json", record.fault ?? "This line is not JSON.");
      return draft.row;
    }
    for (const [name, value] of Object.entries(record.value)) {
      const target = getTarget(name);
      const field = getFieldPath(target);
      if (target.to === "ignored") continue;
      if (names.has(field) && target.to !== "customFields") {
        draft.fault(name, field, "duplicate_column", `"${names.get(field)}" and "${name}" are the same field. Remove one.`);
        continue;
      }
      names.set(field, name);
      if (target.to === "customFields") putObject(draft, value, name);
      else if (target.to === "custom") draft.putCustom(target.key, value);
      else {
        const made = typeof value === "string" ? (kind.cells[target.field]?.(value) ?? { value }) : { value };
        if ("fault" in made) draft.fault(name, field, "invalid_value", made.fault);
        else draft.put(target.field, made.value);
      }
    }
    return draft.row;
  };
}

function getFieldPath(target: ColumnTarget): string {
  return target.to === "field"
    ? target.field
    : target.to === "custom"
      ? `customFields.${target.key}`
      : target.to === "customFields"
        ? "customFields"
        : "";
}

/** A row under construction. Custom fields have no prototype, because a column may be called `constructor`. */
function createDraft(line: number, source: Row["source"], defaults: CellFlags["defaults"], columnOf: Row["columnOf"]) {
  const row: Row = { line, value: { ...defaults }, faults: [], source, columnOf };
  let custom: Record<string, unknown> | undefined;
  return {
    row,
    put: (field: string, value: unknown): void => {
      row.value[field] = value;
    },
    putCustom: (key: string, value: unknown): void => {
      custom ??= row.value["customFields"] = Object.create(null) as Record<string, unknown>;
      custom[key] = value;
    },
    fault: (column: string, field: string, code: string, message: string): void => {
      row.faults.push({ column, field, code, message });
    },
  };
}

function putObject(draft: Draft, value: unknown, column: string): void {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    for (const [key, v] of Object.entries(value)) draft.putCustom(key, v);
  else draft.fault(column, "customFields", "invalid_type", 'Use a JSON object: {"plan": "pro"}');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
