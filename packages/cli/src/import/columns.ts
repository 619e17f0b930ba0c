import { type CliError, type Fault, invalidInput, usageError } from "../errors.ts";
import type { Kind } from "./kind.ts";
import { CELL_TYPES, type CellType } from "./typed.ts";

/** Where what stands in a column goes. */
export type Place =
  | { to: "field"; field: string }
  | { to: "custom"; key: string; type: CellType | undefined }
  | { to: "customFields" }
  | { to: "nowhere" };

const NOWHERE: Place = { to: "nowhere" };

/** What flags say about columns. */
export interface ColumnFlags {
  /** `Column=field`, as given. */
  map: readonly string[];
  /** Whether columns that are no field become custom fields. */
  keepCustom: boolean;
}

/** The key of a custom field as part of a column's name, `custom.plan`; in JSON where it begins or ends unlike a word. */
export function customColumn(key: string): string {
  return `custom.${/^["\s]|\s$/u.test(key) ? JSON.stringify(key) : key}`;
}

/** How names of columns become places, for one import. */
export interface Resolver {
  /** The place of a column by its name and position, from 0. */
  place(name: string, index?: number): Place;
  /** Throws CliError when --map names columns that there are not. */
  checkMap(names: readonly string[]): void;
}

export function resolverOf(kind: Kind, flags: ColumnFlags): Resolver {
  const mapped = flags.map.map((given) => {
    const [column, target] = split(given);
    return { column, given, place: placeOf(kind, target, given), at: /^#(\d+)$/.exec(column)?.[1] };
  });
  const byName = (name: string, index: number | undefined) =>
    mapped.find((m) => m.at !== undefined && Number(m.at) - 1 === index) ??
    mapped.find((m) => m.column === name) ??
    mapped.find((m) => m.column.toLowerCase() === name.toLowerCase());
  return {
    place: (written, index) => {
      const name = written.trim();
      const given = byName(name, index);
      if (given) return given.place;
      // What an earlier import wrote beside the rows it could not take, and what nobody can set.
      if (name === "" || /^import\./i.test(name) || kind.readOnly.has(name)) return NOWHERE;
      if (kind.custom && /^custom\./i.test(name) && name.length > 7)
        return { to: "custom", key: customKey(name.slice(7)), type: undefined };
      if (kind.custom && /^(?:customfields|attributes)$/.test(plain(name))) return { to: "customFields" };
      const field = Object.hasOwn(kind.aliases, plain(name)) ? kind.aliases[plain(name)] : undefined;
      if (field) return { to: "field", field };
      return kind.custom && flags.keepCustom ? { to: "custom", key: name, type: undefined } : NOWHERE;
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

/** The places of a table's columns. Throws CliError: no column for the address, two columns for one field. */
export function columnsOf(resolver: Resolver, line: number, names: readonly string[], sample: readonly string[]): Place[] {
  resolver.checkMap(names);
  const places = names.map((name, i) => resolver.place(name, i));
  const twice = duplicates(names, places);
  if (twice.length > 0) throw invalidInput(`Line ${line}: two columns are the same field.`, twice, { code: "duplicate_column" });
  if (!places.some((p) => p.to === "field" && p.field === "email")) throw noEmail(line, names, sample);
  return places;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

function customKey(text: string): string {
  if (!text.startsWith('"')) return text.trim();
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

function targetsOf(kind: Kind): string {
  return [...kind.fields, ...(kind.custom ? ["custom.NAME"] : []), "- (leave out)"].join(", ");
}

/** The place a name after = in --map stands for. Throws CliError. */
function placeOf(kind: Kind, text: string, given: string): Place {
  const target = text.trim();
  if (target === "-") return NOWHERE;
  if (kind.custom && target === "customFields") return { to: "customFields" };
  if (kind.custom && target.startsWith("custom.") && target.length > 7) {
    const [, key = "", type] = /^(.*?)(?::(\w+))?$/s.exec(target.slice(7)) ?? [];
    const known = CELL_TYPES.find((t) => t === type);
    return { to: "custom", key: customKey(known || type === undefined ? key : target.slice(7)), type: known };
  }
  const field = kind.fields.find((f) => plain(f) === plain(target));
  if (field) return { to: "field", field };
  throw usageError(`--map "${given}": "${target}" is no field.`, { hint: `Fields: ${targetsOf(kind)}` });
}

function split(given: string): [string, string] {
  const at = given.lastIndexOf("=");
  if (at < 1) throw usageError(`--map "${given}": write --map "Column=field".`);
  return [given.slice(0, at).trim(), given.slice(at + 1)];
}

function sameTarget(a: Place, b: Place): boolean {
  return a.to !== "nowhere" && JSON.stringify(a) === JSON.stringify(b);
}

function nameOf(place: Place): string {
  return place.to === "field" ? place.field : place.to === "custom" ? `custom.${place.key}` : place.to;
}

function duplicates(names: readonly string[], places: readonly Place[]): Fault[] {
  return places.flatMap((place, i) => {
    const first = places.findIndex((other) => sameTarget(other, place));
    return first === i || first === -1
      ? []
      : [
          {
            path: `column ${i + 1} (${names[i]?.trim() ?? ""})`,
            code: "duplicate_column",
            message: `This is ${nameOf(place)}, and so is column ${first + 1} (${names[first]?.trim() ?? ""}). Leave one out: --map "#${i + 1}=-"`,
          },
        ];
  });
}

/** What is missing without a column for the address, with the likeliest way to it. `sample` is the first row below. */
function noEmail(line: number, names: readonly string[], sample: readonly string[]): CliError {
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
