import { type CliError, invalidInput, usageError } from "../runtime/errors.ts";
import type { Fault } from "../types.ts";
import { CELL_TYPES, type CellType } from "./cells.ts";
import type { ImportKind } from "./kind.ts";

/** Where what stands in a column goes. */
export type ColumnTarget =
  | { to: "field"; field: string }
  | { to: "custom"; key: string; type: CellType | undefined }
  | { to: "customFields" }
  | { to: "ignored" };

const IGNORED: ColumnTarget = { to: "ignored" };

/** What flags say about columns. */
export interface ColumnFlags {
  /** `Column=field`, as given. */
  map: readonly string[];
  /** Whether columns that are no field become custom fields. */
  keepCustom: boolean;
}

/** The key of a custom field as part of a column's name, `custom.plan`; in JSON where it begins or ends unlike a word. */
export function formatCustomColumn(key: string): string {
  return `custom.${/^["\s]|\s$/u.test(key) ? JSON.stringify(key) : key}`;
}

/** How names of columns become targets, for one import. */
export interface ColumnResolver {
  /** The target of a column by its name and position, from 0. */
  resolve(name: string, index?: number): ColumnTarget;
  /** Throws CliError when --map names columns that there are not. */
  checkMap(names: readonly string[]): void;
}

export function createColumnResolver(kind: ImportKind, flags: ColumnFlags): ColumnResolver {
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
      // What an earlier import wrote beside the rows it could not take, and what nobody can set.
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
        throw usageError(`--map "${lost.given}": there is no column ${lost.column}.`, {
          hint: `Columns: ${names.map((n) => n.trim()).join(", ")}`,
        });
    },
  };
}

/** The targets of a table's columns. Throws CliError: no column for the address, two columns for one field. */
export function resolveColumns(
  resolver: ColumnResolver,
  line: number,
  names: readonly string[],
  sample: readonly string[],
): ColumnTarget[] {
  resolver.checkMap(names);
  const targets = names.map((name, i) => resolver.resolve(name, i));
  const twice = findDuplicates(names, targets);
  if (twice.length > 0) throw invalidInput(`Line ${line}: two columns are the same field.`, twice, { code: "duplicate_column" });
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

function listTargets(kind: ImportKind): string {
  return [...kind.fields, ...(kind.custom ? ["custom.NAME"] : []), "- (leave out)"].join(", ");
}

/** The target a name after = in --map stands for. Throws CliError. */
function parseTarget(kind: ImportKind, text: string, given: string): ColumnTarget {
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
  throw usageError(`--map "${given}": "${target}" is no field.`, { hint: `Fields: ${listTargets(kind)}` });
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
            message: `This is ${formatTarget(target)}, and so is column ${first + 1} (${names[first]?.trim() ?? ""}). Leave one out: --map "#${i + 1}=-"`,
          },
        ];
  });
}

/** What is missing without a column for the address, with the likeliest way to it. `sample` is the first row below. */
function missingEmailError(line: number, names: readonly string[], sample: readonly string[]): CliError {
  const shown = names.map((n) => n.trim() || "(no name)").join(", ");
  if (names.some((n) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(n.trim())))
    return invalidInput(`Line ${line} holds an address where the names of the columns should stand.`, [], {
      code: "no_header",
      hint: 'Put the names on top, or give them: --header "email,firstName"',
    });
  const likely = names[sample.findIndex((cell) => cell.includes("@"))]?.trim();
  return invalidInput(`Line ${line}: no column is called email.`, [], {
    code: "no_email_column",
    hint: `Columns: ${shown}. Say which one holds the address: --map "${likely || names[0]?.trim() || "Column"}=email"`,
  });
}
