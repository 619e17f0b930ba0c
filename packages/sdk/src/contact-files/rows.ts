import { type CellValue, convertCell, type DetectableType, detectType, unescapeFormula } from "./cells.ts";
import { type ColumnResolver, type ColumnTarget, type ConsentWatch, formatTarget } from "./columns.ts";
import { type Consent, isPlainOptOut, looksLikeConsent, readConsent, readConsentName } from "./consent.ts";
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

/** Options for reading cells. */
export interface CellFlags {
  /** Types to detect in custom fields. */
  types: ReadonlySet<DetectableType>;
  /** True to remove the apostrophe that keeps cells from being formulas. */
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
    if ("watch" in target && target.to !== "customFields" && target.to !== "field" && isWatched(target.watch, text))
      draft.fault(label(i), "status", "unclear_consent", explainWatched(text, label(i)));
    if (target.to === "field") take(kind.cells[target.field]?.(text) ?? { value: text }, (value) => putField(draft, target, value));
    else if (target.to === "customFields") putObject(draft, parseJson(text), label(i), target.watch);
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
        if (target.to === "consent") putConsent(draft, target, flags.guarded ? unescapeFormula(cell ?? "") : (cell ?? ""), label(i));
        else if (cell !== undefined && cell !== "") read(draft, target, cell, i);
      });
    return draft.end();
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
      if (target.to === "ignored" && target.watch === undefined) continue;
      if (!names.has(field)) names.set(field, name);
      if ("watch" in target && target.to !== "customFields" && target.to !== "field" && isWatchedValue(target.watch, value))
        draft.fault(name, "status", "unclear_consent", explainWatched(formatValue(value), name));
      if (target.to === "customFields") putObject(draft, value, name, target.watch);
      else if (target.to === "custom") draft.putCustom(target.key, value);
      else if (target.to === "consent") putConsent(draft, target, formatValue(value), name);
      else if (target.to === "field") {
        const made = typeof value === "string" ? (kind.cells[target.field]?.(value) ?? { value }) : { value };
        if ("fault" in made) draft.fault(name, field, "invalid_value", made.fault);
        else putField(draft, target, made.value);
      }
    }
    return draft.end();
  };
}

function getFieldPath(target: ColumnTarget): string {
  return target.to === "field"
    ? target.field
    : target.to === "consent"
      ? "status"
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
  const given = new Set<string>();
  const said = new Set<Consent>();
  return {
    row,
    /** Sets a field. If several columns have one field, the first that is not empty counts; their tags are put together. */
    put: (field: string, value: unknown): void => {
      const before = row.value[field];
      if (field === "tags" && given.has(field) && Array.isArray(before) && Array.isArray(value))
        row.value[field] = [...new Set([...before, ...value])];
      else if (!given.has(field) || before === null || before === "") row.value[field] = value;
      given.add(field);
    },
    putCustom: (key: string, value: unknown): void => {
      custom ??= row.value["customFields"] = Object.create(null) as Record<string, unknown>;
      custom[key] ??= value;
    },
    say: (consent: Consent): void => void said.add(consent),
    fault: (column: string, field: string, code: string, message: string): void => {
      row.faults.push({ column, field, code, message });
    },
    /** The row with what all its columns say about consent: a no wins, and where nobody said yes, a new contact is not subscribed. */
    end: (): Row => {
      if (said.has("out")) row.value["status"] = "UNSUBSCRIBED";
      else if (said.has("in")) row.value["status"] = "SUBSCRIBED";
      else if (said.has("absent")) row.value["initialStatus"] = "UNSUBSCRIBED";
      return row;
    },
  };
}

/** Sets a field. A tag such as `unsubscribed` says no to mail, as a column of that name would. */
function putField(draft: Draft, { field, watch }: ColumnTarget & { to: "field" }, value: unknown): void {
  draft.put(field, value);
  if (watch !== undefined && [value].flat().some((one) => typeof one === "string" && isPlainOptOut(one))) draft.say("out");
}

function putConsent(draft: Draft, target: ColumnTarget & { to: "consent" }, text: string, column: string): void {
  const consent = readConsent(target.kind, text);
  if (consent !== undefined) {
    draft.say(consent);
    return;
  }
  const shown = text.trim().slice(0, 60);
  draft.fault(
    column,
    "status",
    "unclear_consent",
    target.kind === "status"
      ? `"${shown}" is not a status. Use SUBSCRIBED or UNSUBSCRIBED.`
      : `"${shown}" does not say who wants mail, in a column read as ${formatTarget(target)}. Use yes or no, or map "${column}" to a custom field.`,
  );
}

function isWatched(watch: ConsentWatch | undefined, text: string): boolean {
  return watch !== undefined && (watch === "any" ? looksLikeConsent(text) : isPlainOptOut(text));
}

/** The same of a JSON value; one with parts is asked for a part whose name and value say no. */
function isWatchedValue(watch: ConsentWatch | undefined, value: unknown): boolean {
  if (watch === undefined) return false;
  if (typeof value !== "object" || value === null) return isWatched(watch, formatValue(value));
  if (Array.isArray(value)) return value.some((one) => isWatchedValue("plain", one));
  return Object.entries(value).some(([name, part]) => {
    const kind = readConsentName(name);
    if (kind === "other") return false;
    if (kind === null || kind === "unclear" || (typeof part === "object" && part !== null)) return isWatchedValue("plain", part);
    const consent = readConsent(kind, formatValue(part));
    return consent === "out" || consent === undefined;
  });
}

function explainWatched(text: string, column: string): string {
  return `"${text.trim().slice(0, 60)}" may say that this person wants no mail. Map "${column}" to opt-out, opt-in, status or a custom field.`;
}

function formatValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(formatValue).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function putObject(draft: Draft, value: unknown, column: string, watch: ConsentWatch | undefined): void {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    for (const [key, v] of Object.entries(value)) {
      const kind = watch === undefined ? null : readConsentName(key);
      if (kind !== null && kind !== "unclear" && kind !== "other") putConsent(draft, { to: "consent", kind }, formatValue(v), column);
      draft.putCustom(key, v);
    }
  else draft.fault(column, "customFields", "invalid_type", 'Use a JSON object: {"plan": "pro"}');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
