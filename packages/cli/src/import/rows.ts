import type { Place, Resolver } from "./columns.ts";
import type { CsvRecord } from "./csv.ts";
import { unguard } from "./guard.ts";
import type { Kind } from "./kind.ts";
import type { JsonRecord } from "./ndjson.ts";
import { asType, type Guessed, guessed, type Typed } from "./typed.ts";

/** What is wrong with a row: the column as the file calls it, and the field it stands for. */
export interface RowFault {
  column: string;
  field: string;
  code: string;
  message: string;
}

/** One row of a file, as it would be sent, with what is wrong with it already here. */
export interface Row {
  line: number;
  value: Record<string, unknown>;
  faults: RowFault[];
  /** What stood there, for the file of rows that failed. */
  source: readonly string[] | JsonRecord;
  /** The column a field came from, to name it in errors: `customFields.plan` -> `Plan`. */
  columnOf(field: string): string;
}

/** How cells are read. */
export interface CellFlags {
  /** Kinds of values that may be recognised in custom fields. */
  types: ReadonlySet<Guessed>;
  /** Whether the apostrophe of formula-safe cells is taken away. */
  guarded: boolean;
  /** Values of fields that a row does not give. */
  defaults: Readonly<Record<string, unknown>>;
}
type Draft = ReturnType<typeof rowOf>;

/** Makes rows of a table. An empty cell says nothing: what a contact has stays as it is. */
export function tableReader(kind: Kind, names: readonly string[], places: readonly Place[], flags: CellFlags): (record: CsvRecord) => Row {
  const label = (i: number): string => names[i]?.trim() || `column ${i + 1}`;
  const fields = places.map(fieldOf);
  const columnOf = (field: string): string => {
    const exact = fields.indexOf(field);
    const at = exact === -1 ? fields.findIndex((f) => f !== "" && (field.startsWith(`${f}.`) || field.startsWith(`${f}[`))) : exact;
    return at === -1 ? "" : label(at);
  };
  const read = (draft: Draft, place: Place, cell: string, i: number): void => {
    const text = flags.guarded ? unguard(cell) : cell;
    const take = (made: Typed, put: (value: unknown) => void): void => {
      if ("fault" in made) draft.fault(label(i), fieldOf(place), "invalid_value", made.fault);
      else put(made.value);
    };
    if (place.to === "field") take(kind.cells[place.field]?.(text) ?? { value: text }, (value) => draft.put(place.field, value));
    else if (place.to === "customFields") putObject(draft, json(text), label(i));
    else if (place.to === "custom")
      take(place.type ? asType(text, place.type) : { value: guessed(text, flags.types) }, (value) => draft.putCustom(place.key, value));
  };
  return ({ line, cells, fault }) => {
    const draft = rowOf(line, cells, flags.defaults, columnOf);
    if (fault) {
      draft.fault(label(fault.column - 1), fields[fault.column - 1] ?? "", "invalid_quotes", fault.message);
      return draft.row;
    }
    if (cells.slice(places.length).some((cell) => cell !== ""))
      draft.fault(
        `column ${places.length + 1}`,
        "",
        "too_many_cells",
        `There are ${cells.length} cells, but ${places.length} columns. A value that holds the separator must stand in quotes.`,
      );
    else
      places.forEach((place, i) => {
        const cell = cells[i];
        if (cell !== undefined && cell !== "") read(draft, place, cell, i);
      });
    return draft.row;
  };
}

/** Makes rows of JSON objects: names as in a table, values with the types they have. */
export function objectReader(kind: Kind, resolver: Resolver, flags: CellFlags): (record: JsonRecord) => Row {
  const known = new Map<string, Place>();
  const placeOf = (name: string): Place => {
    let place = known.get(name);
    if (!place) {
      place = resolver.place(name);
      // Names in JSON come from the data, so there may be any number of them.
      if (known.size < 10_000) known.set(name, place);
    }
    return place;
  };
  return (record) => {
    const names = new Map<string, string>();
    const columnOf = (field: string): string => names.get(field) ?? field;
    const draft = rowOf(record.line, record, flags.defaults, columnOf);
    if (record.value === null) {
      draft.fault("", "", "invalid_json", record.fault ?? "This is not JSON.");
      return draft.row;
    }
    for (const [name, value] of Object.entries(record.value)) {
      const place = placeOf(name);
      const field = fieldOf(place);
      if (place.to === "nowhere") continue;
      if (names.has(field) && place.to !== "customFields") {
        draft.fault(name, field, "duplicate_column", `"${names.get(field)}" and "${name}" are the same field; leave one out.`);
        continue;
      }
      names.set(field, name);
      if (place.to === "customFields") putObject(draft, value, name);
      else if (place.to === "custom") draft.putCustom(place.key, value);
      else {
        const made = typeof value === "string" ? (kind.cells[place.field]?.(value) ?? { value }) : { value };
        if ("fault" in made) draft.fault(name, field, "invalid_value", made.fault);
        else draft.put(place.field, made.value);
      }
    }
    return draft.row;
  };
}

function fieldOf(place: Place): string {
  return place.to === "field"
    ? place.field
    : place.to === "custom"
      ? `customFields.${place.key}`
      : place.to === "customFields"
        ? "customFields"
        : "";
}

/** A row under construction. Custom fields have no prototype: a column may be called like one of its members. */
function rowOf(line: number, source: Row["source"], defaults: CellFlags["defaults"], columnOf: Row["columnOf"]) {
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
  else draft.fault(column, "customFields", "invalid_type", 'A JSON object is needed: {"plan": "pro"}');
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
