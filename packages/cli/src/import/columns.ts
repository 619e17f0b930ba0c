import { type CliError, invalidInput, usageError } from "../runtime/errors.ts";
import type { Fault } from "../types.ts";
import { CELL_TYPES, type CellType } from "./cells.ts";
import type { FileColumns } from "./file-columns.ts";

/** What a column maps to. */
export type ColumnTarget =
  | { to: "field"; field: string }
  | { to: "custom"; key: string; type: CellType | undefined }
  | { to: "customFields" }
  | { to: "ignored" };

const IGNORED: ColumnTarget = { to: "ignored" };

/** The flags about columns. */
interface ColumnFlags {
  /** `Column=field`, as given. */
  map: readonly string[];
  /** Whether unknown columns become custom fields. */
  keepCustom: boolean;
}

/** The column name of a custom field, `custom.plan`. A key that begins or ends with a space or quote is written as JSON. */
export function formatCustomColumn(key: string): string {
  return `custom.${/^["\s]|\s$/u.test(key) ? JSON.stringify(key) : key}`;
}

/** Maps the column names of one import to targets. */
export interface ColumnResolver {
  /** The target of a column by its name and position (from 0). */
  resolve(name: string, index?: number): ColumnTarget;
  /** Throws CliError when --map names a column that does not exist. */
  checkMap(names: readonly string[]): void;
}

export function createColumnResolver(kind: FileColumns, flags: ColumnFlags): ColumnResolver {
  const mapped = flags.map.map((given) => {
    const [column, target] = splitMapping(given);
    return { column, given, target: parseTarget(kind, target, given), at: /^#(\d+)$/.exec(column)?.[1] };
  });
  const byName = (name: string, index: number | undefined) =>
    mapped.find((m) => m.at !== undefined && Number(m.at) - 1 === index) ??
    mapped.find((m) => m.column === name) ??
    mapped.find((m) => m.column.toLowerCase() === name.toLowerCase());
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
      return kind.custom && flags.keepCustom ? { to: "custom", key: name, type: undefined } : IGNORED;
    },
    checkMap: (names) => {
      const there = new Set(names.map((n) => n.trim().toLowerCase()));
      const lost = mapped.find((m) =>
        m.at === undefined ? !there.has(m.column.toLowerCase()) : Number(m.at) < 1 || Number(m.at) > names.length,
      );
      if (lost)
        throw usageError(`--map "${lost.given}": column ${lost.column} not found.`, {
          hint: `Columns: ${names.map((n) => n.trim()).join(", ")}`,
        });
    },
  };
}

/** Maps a table's columns to targets. Throws CliError when there is no email column or two columns map to one field. */
export function resolveColumns(
  resolver: ColumnResolver,
  line: number,
  names: readonly string[],
  sample: readonly string[],
): ColumnTarget[] {
  resolver.checkMap(names);
  const targets = names.map((name, i) => resolver.resolve(name, i));
  const twice = findDuplicates(names, targets);
  if (twice.length > 0) throw invalidInput(`Line ${line}: two columns map to the same field.`, twice, { code: "duplicate_column" });
  if (!targets.some((p) => p.to === "field" && p.field === "email")) throw missingEmailError(line, names, sample);
  return targets;
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

function listTargets(kind: FileColumns): string {
  return [...kind.fields, ...(kind.custom ? ["custom.NAME"] : []), "- (ignore)"].join(", ");
}

/** Parses what follows `=` in --map. Throws CliError. */
function parseTarget(kind: FileColumns, text: string, given: string): ColumnTarget {
  const target = text.trim();
  if (target === "-") return IGNORED;
  if (kind.custom && target === "customFields") return { to: "customFields" };
  if (kind.custom && target.startsWith("custom.") && target.length > 7) {
    const [, key = "", type] = /^(.*?)(?::(\w+))?$/s.exec(target.slice(7)) ?? [];
    const known = CELL_TYPES.find((t) => t === type);
    return { to: "custom", key: parseCustomKey(known || type === undefined ? key : target.slice(7)), type: known };
  }
  const field = kind.fields.find((f) => normalizeName(f) === normalizeName(target));
  if (field) return { to: "field", field };
  throw usageError(`--map "${given}": "${target}" is not a field.`, { hint: `Fields: ${listTargets(kind)}` });
}

function splitMapping(given: string): [string, string] {
  const at = given.lastIndexOf("=");
  if (at < 1) throw usageError(`--map "${given}": write --map "Column=field".`);
  return [given.slice(0, at).trim(), given.slice(at + 1)];
}

function isSameTarget(a: ColumnTarget, b: ColumnTarget): boolean {
  return a.to !== "ignored" && JSON.stringify(a) === JSON.stringify(b);
}

function formatTarget(target: ColumnTarget): string {
  return target.to === "field" ? target.field : target.to === "custom" ? `custom.${target.key}` : target.to;
}

function findDuplicates(names: readonly string[], targets: readonly ColumnTarget[]): Fault[] {
  return targets.flatMap((target, i) => {
    const first = targets.findIndex((other) => isSameTarget(other, target));
    return first === i || first === -1
      ? []
      : [
          {
            path: `column ${i + 1} (${names[i]?.trim() ?? ""})`,
            code: "duplicate_column",
            message: `This is ${formatTarget(target)}, and so is column ${first + 1} (${names[first]?.trim() ?? ""}). Ignore one of them: --map "#${i + 1}=-"`,
          },
        ];
  });
}

/** The error for a table without an email column, with the likeliest fix. `sample` is the first row. */
function missingEmailError(line: number, names: readonly string[], sample: readonly string[]): CliError {
  const shown = names.map((n) => n.trim() || "(no name)").join(", ");
  if (names.some((n) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(n.trim())))
    return invalidInput(`Line ${line} has an address where the column names should be.`, [], {
      code: "no_header",
      hint: 'Add a header line, or give the names: --header "email,firstName"',
    });
  const likely = names[sample.findIndex((cell) => cell.includes("@"))]?.trim();
  return invalidInput(`Line ${line}: no email column found.`, [], {
    code: "no_email_column",
    hint: `Columns: ${shown}. Name the one with the address: --map "${likely || names[0]?.trim() || "Column"}=email"`,
  });
}
