import {
  CONSENT_TARGETS,
  type ColumnMapping,
  type ColumnResolver,
  type ColumnTarget,
  createColumnResolver,
  type FileColumns,
  findPosition,
  mapColumns,
  parseTarget,
} from "@mailsvc/sdk/contact-files";
import { type CliError, invalidInput, usageError } from "../runtime/errors.ts";
import type { Fault } from "../types.ts";

/** The flags about columns. */
interface ColumnFlags {
  /** `Column=field`, as given. */
  map: readonly string[];
  /** True if unknown columns become custom fields. */
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

/**
 * Maps a table's columns to targets, with its first rows. Throws CliError when there is no email column, or when a column may be about
 * consent and nobody said how.
 */
export function resolveColumns(
  resolver: FlaggedResolver,
  line: number,
  names: readonly string[],
  rows: readonly (readonly string[])[],
): ColumnTarget[] {
  resolver.checkMap(names);
  const targets = mapColumns(resolver, names, rows);
  assertClear(names, targets, rows);
  const email = targets.findIndex((target) => target.to === "field" && target.field === "email");
  if (email === -1) throw missingEmailError(line, names, rows[0] ?? []);
  // Cells that are all addresses name their column, also where the first of them was taken for its name.
  if (isAddress(names[email] ?? "")) throw missingHeaderError(line);
  return targets;
}

/** Throws CliError for columns that may say who opted in or out, in words or cells that do not tell which. */
export function assertClear(names: readonly string[], targets: readonly ColumnTarget[], rows: readonly (readonly string[])[]): void {
  const faults = targets.flatMap((target, i): Fault[] => {
    if (target.to !== "unclear") return [];
    const cells = [...new Set(rows.map((cells) => cells[i]?.trim() ?? ""))].filter((cell) => cell !== "");
    const shown = cells.slice(0, 3).map((cell) => JSON.stringify(cell.slice(0, 40)));
    return [{ path: `column ${i + 1} (${names[i]?.trim()})`, code: "unclear_consent", message: `Has cells such as ${shown.join(", ")}.` }];
  });
  if (faults.length === 0) return;
  const name = names[targets.findIndex(({ to }) => to === "unclear")]?.trim() ?? "";
  const say = (target: string): string => `--map "${name}=${target}"`;
  throw invalidInput("These columns may say who wants mail and who does not.", faults, {
    code: "unclear_consent",
    hint: `Say for each what it is: ${say("opt-out")} if yes means no mail, ${say("opt-in")} if yes means mail, ${say("status")} for words such as unsubscribed, ${say(`custom.${name}`)} to keep it as a custom field, ${say("-")} to ignore it.`,
  });
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
  return [...kind.fields, ...(kind.consent ? CONSENT_TARGETS : []), ...(kind.custom ? ["custom.NAME"] : []), "- (ignore)"].join(", ");
}

/** The error for a table without an email column, with the likeliest fix. `sample` is the first row. */
function missingEmailError(line: number, names: readonly string[], sample: readonly string[]): CliError {
  const shown = names.map((n) => n.trim() || "(no name)").join(", ");
  if (names.some(isAddress)) return missingHeaderError(line);
  const likely = names[sample.findIndex((cell) => cell.includes("@"))]?.trim();
  return invalidInput(`Line ${line}: no email column found.`, [], {
    code: "no_email_column",
    hint: `Columns: ${shown}. Name the one with the address: --map "${likely || names[0]?.trim() || "Column"}=email"`,
  });
}

function isAddress(name: string): boolean {
  return /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(name.trim());
}

/** The error for a table whose first line is a row. */
function missingHeaderError(line: number): CliError {
  return invalidInput(`Line ${line} has an address where the column names should be.`, [], {
    code: "no_header",
    hint: 'Add a header line, or give the names: --header "email,firstName"',
  });
}
