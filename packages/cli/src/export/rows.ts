import type { Contact } from "@mailsvc/sdk/contract";
import { escapeFormula, joinTags } from "../import/cells.ts";
import { formatCustomColumn } from "../import/columns.ts";
import { formatLine } from "../import/csv.ts";

/** How contacts become lines of CSV. */
export interface CsvFlags {
  separator: string;
  /** Whether cells that a spreadsheet would run are defused. */
  guarded: boolean;
  /** A column for each custom field, by these keys; null for all of them as JSON in one. */
  keys: readonly string[] | null;
}

const FIELDS = ["email", "firstName", "lastName", "phone", "status"] as const;
// Nobody can set these; they stand at the end, and an import leaves them out.
const READ_ONLY_FIELDS = ["id", "createdAt", "updatedAt"] as const;

/** The names of the columns, always in this order. */
export function listColumns(keys: readonly string[] | null): string[] {
  return [...FIELDS, "tags", ...(keys === null ? ["customFields"] : keys.map(formatCustomColumn)), ...READ_ONLY_FIELDS];
}

export function formatHeader({ separator, keys }: CsvFlags): string {
  return formatLine(listColumns(keys), separator);
}

/** One contact as a line. In columns of their own, custom fields that are no texts stand as JSON. */
export function formatContact(contact: Contact, { separator, guarded, keys }: CsvFlags): string {
  const safe = guarded ? escapeFormula : (text: string): string => text;
  const fields = contact.customFields;
  const custom = (key: string): string => {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
    return value === undefined || value === null ? "" : typeof value === "string" ? safe(value) : JSON.stringify(value);
  };
  const json = Object.keys(fields).length === 0 ? "" : JSON.stringify(fields);
  return formatLine(
    [
      ...FIELDS.map((field) => safe(contact[field] ?? "")),
      safe(joinTags(contact.tags)),
      ...(keys === null ? [json] : keys.map(custom)),
      ...READ_ONLY_FIELDS.map((field) => contact[field]),
    ],
    separator,
  );
}
