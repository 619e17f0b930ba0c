import { CELL_TYPES, type CellType } from "./cells.ts";
import { type ConsentKind, isPlainOptOut, looksLikeConsent, readConsent, readConsentName } from "./consent.ts";
import type { FileColumns } from "./file-columns.ts";
import { normalizeName, parseCustomKey } from "./names.ts";

/**
 * Cells that stop a row because they may be about consent, in a column that nobody mapped: `plain`, those that say plainly that mail is
 * not wanted; `any`, also those that look like yes, no, or a time. A tag that says so is taken at its word: the person is not subscribed.
 */
export type ConsentWatch = "plain" | "any";

/** Target of a column. `unclear` may be about consent: a person has to decide. */
export type ColumnTarget =
  | { to: "field"; field: string; watch?: ConsentWatch }
  | { to: "consent"; kind: ConsentKind }
  | { to: "unclear" }
  | { to: "custom"; key: string; type: CellType | undefined; watch?: ConsentWatch }
  | { to: "customFields"; watch?: ConsentWatch }
  | { to: "ignored"; watch?: ConsentWatch };

const IGNORED: ColumnTarget = { to: "ignored" };

/** Target that a person chose for a column. */
export interface ColumnMapping {
  /** The name of the column, or its position from 1: `#2`. */
  readonly column: string;
  readonly target: ColumnTarget;
}

/** Rules for mapping columns. */
interface ColumnRules {
  readonly map: readonly ColumnMapping[];
  /** True if unknown columns become custom fields. */
  readonly keepCustom: boolean;
}

/** Maps the column names of one file to targets. */
export interface ColumnResolver {
  /** The target of a column by its name and position (from 0), and by some of its cells. */
  resolve(name: string, index?: number, sample?: readonly string[]): ColumnTarget;
}

/** Consent targets that a person can choose for a column in place of a field. */
export const CONSENT_TARGETS = ["opt-out", "opt-in"] as const;

export function createColumnResolver(kind: FileColumns, { map, keepCustom }: ColumnRules): ColumnResolver {
  const byName = (name: string, index: number | undefined): ColumnMapping | undefined =>
    map.find(({ column }) => findPosition(column) === (index ?? Number.NaN) + 1) ??
    map.find(({ column }) => column === name) ??
    map.find(({ column }) => column.toLowerCase() === name.toLowerCase());
  return {
    resolve: (written, index, sample = []) => {
      const name = written.trim();
      const given = byName(name, index);
      if (given) return given.target;
      // Columns that an errors file adds, and read-only columns of an export.
      if (name === "" || /^import\./i.test(name) || kind.readOnly.has(name)) return IGNORED;
      if (kind.custom && /^custom\./i.test(name) && name.length > 7)
        return { to: "custom", key: parseCustomKey(name.slice(7)), type: undefined };
      if (kind.custom && name === "customFields") return { to: "customFields" };
      if (kind.custom && /^(?:customfields|attributes)$/.test(normalizeName(name))) return { to: "customFields", watch: "any" };
      const cells = sample.filter((cell) => cell.trim() !== "");
      const consent = kind.consent && !isAddressColumn(cells) ? readConsentName(name) : null;
      if (consent !== null && consent !== "unclear" && consent !== "other")
        return consent === "status" || cells.length === 0 || cells.some((cell) => readConsent(consent, cell) !== undefined)
          ? { to: "consent", kind: consent }
          : { to: "unclear" };
      const field = Object.hasOwn(kind.aliases, normalizeName(name)) ? kind.aliases[normalizeName(name)] : undefined;
      if (field) return { to: "field", field, ...(kind.consent && field === "tags" && { watch: "plain" as const }) };
      if (!kind.consent) return IGNORED;
      if (consent === "other") return keepCustom ? { to: "custom", key: name, type: undefined } : IGNORED;
      if (cells.some((cell) => isPlainOptOut(cell) || (consent === "unclear" && looksLikeConsent(cell)))) return { to: "unclear" };
      const watch = consent === "unclear" ? "any" : "plain";
      return keepCustom ? { to: "custom", key: name, type: undefined, watch } : { to: "ignored", watch };
    },
  };
}

/**
 * Maps all columns of a table, with some of its rows. If no name tells the address, it is the one unmapped column in which every cell
 * looks like one.
 */
export function mapColumns(resolver: ColumnResolver, names: readonly string[], rows: readonly (readonly string[])[]): ColumnTarget[] {
  const samples = names.map((_, i) => rows.map((cells) => cells[i] ?? ""));
  const targets = names.map((name, i) => resolver.resolve(name, i, samples[i]));
  if (targets.some((target) => target.to === "field" && target.field === "email")) return targets;
  const found = targets.flatMap((target, i) =>
    "watch" in target && isAddressColumn((samples[i] ?? []).filter((cell) => cell.trim() !== "")) ? [i] : [],
  );
  return found.length === 1 ? targets.map((target, i) => (i === found[0] ? { to: "field", field: "email" } : target)) : targets;
}

function isAddressColumn(cells: readonly string[]): boolean {
  return cells.length > 0 && cells.every((cell) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(cell.trim()));
}

/** The position of a column that is named by it, from 1; null for one that is named by its name. */
export function findPosition(column: string): number | null {
  const position = /^#(\d+)$/.exec(column)?.[1];
  return position === undefined ? null : Number(position);
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
  const consent = CONSENT_TARGETS.find((one) => normalizeName(one) === normalizeName(target));
  if (kind.consent && consent) return { to: "consent", kind: consent };
  if (kind.consent && normalizeName(target) === "status") return { to: "consent", kind: "status" };
  const field = kind.fields.find((f) => normalizeName(f) === normalizeName(target));
  return field === undefined ? null : { to: "field", field };
}

/** A target as `parseTarget` reads it, without the type of a custom field. */
export function formatTarget(target: ColumnTarget): string {
  if (target.to === "field") return target.field;
  if (target.to === "consent") return target.kind === "opt-out-detail" ? "opt-out" : target.kind;
  return target.to === "custom" ? `custom.${target.key}` : target.to;
}

/** A column and the field that it becomes, as `formatTarget` names it; null for one that is ignored. */
interface MappedColumn {
  readonly name: string;
  readonly field: string | null;
}

/** Fields that several columns fill, with these columns in their order: the first that is not empty counts. */
export function listShared(columns: readonly MappedColumn[]): { readonly field: string; readonly names: string[] }[] {
  const single = columns.filter(({ field }) => field !== null && !["tags", "customFields", "status", ...CONSENT_TARGETS].includes(field));
  return [...Map.groupBy(single, ({ field }) => field ?? "")].flatMap(([field, own]) =>
    own.length > 1 ? [{ field, names: own.map(({ name }) => name) }] : [],
  );
}
