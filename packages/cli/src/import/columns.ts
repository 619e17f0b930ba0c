import {
  type ColumnMapping,
  type ColumnResolver,
  type ColumnTarget,
  createColumnResolver,
  type FileColumns,
  findDuplicates,
  findPosition,
  formatTarget,
  parseTarget,
} from "@mailsvc/sdk/contact-files";
import { type CliError, invalidInput, usageError } from "../runtime/errors.ts";
import type { Fault } from "../types.ts";

/** The flags about columns. */
interface ColumnFlags {
  /** `Column=field`, as given. */
  map: readonly string[];
  /** Whether unknown columns become custom fields. */
  keepCustom: boolean;
}

/** Maps the columns of one import, as its flags say. */
export interface FlaggedResolver extends ColumnResolver {
  /** Throws CliError when --map names a column that does not exist. */
  checkMap(names: readonly string[]): void;
}

/** Throws CliError for a --map that cannot be read. */
export function createFlaggedResolver(kind: FileColumns, { map, keepCustom }: ColumnFlags): FlaggedResolver {
  const mapped = map.map((given) => ({ given, ...parseMapping(kind, given) }));
  return {
    ...createColumnResolver(kind, { map: mapped, keepCustom }),
    checkMap: (names) => {
      const there = new Set(names.map((n) => n.trim().toLowerCase()));
      const lost = mapped.find(({ column }) => {
        const position = findPosition(column);
        return position === null ? !there.has(column.toLowerCase()) : position < 1 || position > names.length;
      });
      if (lost)
        throw usageError(`--map "${lost.given}": column ${lost.column} not found.`, {
          hint: `Columns: ${names.map((n) => n.trim()).join(", ")}`,
        });
    },
  };
}

/** Maps a table's columns to targets. Throws CliError when there is no email column or two columns map to one field. */
export function resolveColumns(
  resolver: FlaggedResolver,
  line: number,
  names: readonly string[],
  sample: readonly string[],
): ColumnTarget[] {
  resolver.checkMap(names);
  const targets = names.map((name, i) => resolver.resolve(name, i));
  const twice = findDuplicates(targets).map((found) => describeDuplicate(names, targets, found));
  if (twice.length > 0) throw invalidInput(`Line ${line}: two columns map to the same field.`, twice, { code: "duplicate_column" });
  if (!targets.some((p) => p.to === "field" && p.field === "email")) throw missingEmailError(line, names, sample);
  return targets;
}

function parseMapping(kind: FileColumns, given: string): ColumnMapping {
  const at = given.lastIndexOf("=");
  if (at < 1) throw usageError(`--map "${given}": write --map "Column=field".`);
  const target = parseTarget(kind, given.slice(at + 1));
  if (target === null)
    throw usageError(`--map "${given}": "${given.slice(at + 1).trim()}" is not a field.`, { hint: `Fields: ${listTargets(kind)}` });
  return { column: given.slice(0, at).trim(), target };
}

function listTargets(kind: FileColumns): string {
  return [...kind.fields, ...(kind.custom ? ["custom.NAME"] : []), "- (ignore)"].join(", ");
}

function describeDuplicate(
  names: readonly string[],
  targets: readonly ColumnTarget[],
  { at, first }: ReturnType<typeof findDuplicates>[number],
): Fault {
  const name = (i: number): string => names[i]?.trim() ?? "";
  const target = targets[at];
  return {
    path: `column ${at + 1} (${name(at)})`,
    code: "duplicate_column",
    message: `This is ${target ? formatTarget(target) : ""}, and so is column ${first + 1} (${name(first)}). Ignore one of them: --map "#${at + 1}=-"`,
  };
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
