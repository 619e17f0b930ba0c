import type { Contact } from "../contract/contacts.ts";
import { CONTACT_TEXT_FIELDS } from "../contract/facts.ts";
import { escapeFormula, joinTags } from "./cells.ts";
import { formatLine } from "./csv.ts";
import { formatCustomColumn } from "./names.ts";

/** CSV format of contacts. */
export interface CsvFlags {
  separator: string;
  /** True to escape cells that a spreadsheet would run as formulas. */
  guarded: boolean;
  /** Keys of the custom fields that get a column each; null to put all custom fields into one column as JSON. */
  keys: readonly string[] | null;
}

const FIELDS = ["email", "externalId", ...CONTACT_TEXT_FIELDS, "status"] as const;
// The last columns; an import ignores them.
const READ_ONLY_FIELDS = ["id", "createdAt", "updatedAt"] as const;

/** The names of the columns, in order. */
export function listColumns(keys: readonly string[] | null): string[] {
  return [...FIELDS, "tags", ...(keys === null ? ["customFields"] : keys.map(formatCustomColumn)), ...READ_ONLY_FIELDS];
}

export function formatHeader({ separator, keys }: CsvFlags): string {
  return formatLine(listColumns(keys), separator);
}

/** Formats one contact as a line. Custom fields in their own columns are JSON unless they are strings. */
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
