import { CELL_TYPES, type CellType } from "./cells.ts";
import type { FileColumns } from "./file-columns.ts";

/** What a column becomes. */
export type ColumnTarget =
  | { to: "field"; field: string }
  | { to: "custom"; key: string; type: CellType | undefined }
  | { to: "customFields" }
  | { to: "ignored" };

const IGNORED: ColumnTarget = { to: "ignored" };

/** What somebody said a column becomes. */
export interface ColumnMapping {
  /** The name of the column, or its position from 1: `#2`. */
  readonly column: string;
  readonly target: ColumnTarget;
}

/** How columns are mapped. */
interface ColumnRules {
  readonly map: readonly ColumnMapping[];
  /** Whether unknown columns become custom fields. */
  readonly keepCustom: boolean;
}

/** Maps the column names of one file to targets. */
export interface ColumnResolver {
  /** The target of a column by its name and position (from 0). */
  resolve(name: string, index?: number): ColumnTarget;
}

export function createColumnResolver(kind: FileColumns, { map, keepCustom }: ColumnRules): ColumnResolver {
  const byName = (name: string, index: number | undefined): ColumnMapping | undefined =>
    map.find(({ column }) => findPosition(column) === (index ?? Number.NaN) + 1) ??
    map.find(({ column }) => column === name) ??
    map.find(({ column }) => column.toLowerCase() === name.toLowerCase());
  return {
    resolve: (written, index) => {
      const name = written.trim();
      const given = byName(name, index);
      if (given) return given.target;
      // Columns that an errors file adds, and read-only columns of an export.
      if (name === "" || /^import\./i.test(name) || kind.readOnly.has(name)) return IGNORED;
      if (kind.custom && /^custom\./i.test(name) && name.length > 7)
        return { to: "custom", key: parseCustomKey(name.slice(7)), type: undefined };
      if (kind.custom && /^(?:customfields|attributes)$/.test(normalizeName(name))) return { to: "customFields" };
      const field = Object.hasOwn(kind.aliases, normalizeName(name)) ? kind.aliases[normalizeName(name)] : undefined;
      if (field) return { to: "field", field };
      return kind.custom && keepCustom ? { to: "custom", key: name, type: undefined } : IGNORED;
    },
  };
}

/** The position of a column that is named by it, from 1; null for one that is named by its name. */
export function findPosition(column: string): number | null {
  const position = /^#(\d+)$/.exec(column)?.[1];
  return position === undefined ? null : Number(position);
}

/** The column name of a custom field, `custom.plan`. A key that begins or ends with a space or quote is written as JSON. */
export function formatCustomColumn(key: string): string {
  return `custom.${/^["\s]|\s$/u.test(key) ? JSON.stringify(key) : key}`;
}

/** Parses a target: a field, `custom.plan`, `custom.seats:number`, `customFields`, or `-` to ignore the column; null for anything else. */
export function parseTarget(kind: FileColumns, text: string): ColumnTarget | null {
  const target = text.trim();
  if (target === "-") return IGNORED;
  if (kind.custom && target === "customFields") return { to: "customFields" };
  if (kind.custom && target.startsWith("custom.") && target.length > 7) {
    const [, key = "", type] = /^(.*?)(?::(\w+))?$/s.exec(target.slice(7)) ?? [];
    const known = CELL_TYPES.find((t) => t === type);
    return { to: "custom", key: parseCustomKey(known || type === undefined ? key : target.slice(7)), type: known };
  }
  const field = kind.fields.find((f) => normalizeName(f) === normalizeName(target));
  return field === undefined ? null : { to: "field", field };
}

/** A target as `parseTarget` reads it, without the type of a custom field. */
export function formatTarget(target: ColumnTarget): string {
  return target.to === "field" ? target.field : target.to === "custom" ? `custom.${target.key}` : target.to;
}

/** Columns that become the same as an earlier one: the positions of both, from 0. */
export function findDuplicates(targets: readonly ColumnTarget[]): { readonly at: number; readonly first: number }[] {
  return targets.flatMap((target, at) => {
    const first = targets.findIndex((other) => isSameTarget(other, target));
    return first === at || first === -1 ? [] : [{ at, first }];
  });
}

function isSameTarget(a: ColumnTarget, b: ColumnTarget): boolean {
  return a.to !== "ignored" && JSON.stringify(a) === JSON.stringify(b);
}

function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

function parseCustomKey(text: string): string {
  if (!text.startsWith('"')) return text.trim();
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}
