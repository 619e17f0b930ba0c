import { CONTACT_TEXT_FIELDS, CONTACT_TEXTS } from "../contract/facts.ts";
import { type CellValue, splitTags } from "./cells.ts";

/** What a kind of file contains: its fields, the column names that files use for them, and how cells are read. */
export interface FileColumns {
  fields: readonly string[];
  /** Maps column names to fields; names are in lower case with letters and digits only. */
  aliases: Readonly<Record<string, string>>;
  /** Columns of an export that are read-only. */
  readOnly: ReadonlySet<string>;
  /** Whether unknown columns can become custom fields. */
  custom: boolean;
  /** Converts the text of a cell to the value of a field; fields without an entry take the text. */
  cells: Readonly<Record<string, (cell: string) => CellValue>>;
}

const EMAIL = {
  email: "email",
  emailaddress: "email",
  emailaddr: "email",
  mail: "email",
  mailaddress: "email",
  contactemail: "email",
  subscriberemail: "email",
  primaryemail: "email",
  recipient: "email",
  email1value: "email",
};

// Words that other services export. A contact that bounced or complained there must not be subscribed here. BOUNCED is only
// for mail that bounced here, so such contacts are imported as UNSUBSCRIBED.
const STATUS: Readonly<Record<string, string>> = {
  subscribed: "SUBSCRIBED",
  active: "SUBSCRIBED",
  enabled: "SUBSCRIBED",
  confirmed: "SUBSCRIBED",
  true: "SUBSCRIBED",
  yes: "SUBSCRIBED",
  "1": "SUBSCRIBED",
  unsubscribed: "UNSUBSCRIBED",
  inactive: "UNSUBSCRIBED",
  disabled: "UNSUBSCRIBED",
  blocklisted: "UNSUBSCRIBED",
  suppressed: "UNSUBSCRIBED",
  optedout: "UNSUBSCRIBED",
  cleaned: "UNSUBSCRIBED",
  bounced: "UNSUBSCRIBED",
  complained: "UNSUBSCRIBED",
  spam: "UNSUBSCRIBED",
  false: "UNSUBSCRIBED",
  no: "UNSUBSCRIBED",
  "0": "UNSUBSCRIBED",
};

const TEXT_ALIASES = Object.fromEntries(
  CONTACT_TEXT_FIELDS.flatMap((field) => [field.toLowerCase(), ...CONTACT_TEXTS[field].aliases].map((name) => [name, field])),
);

export const CONTACT_COLUMNS: FileColumns = {
  fields: ["email", ...CONTACT_TEXT_FIELDS, "tags", "status"],
  aliases: {
    ...EMAIL,
    ...TEXT_ALIASES,
    tags: "tags",
    tag: "tags",
    labels: "tags",
    label: "tags",
    status: "status",
    subscribed: "status",
    subscriptionstatus: "status",
  },
  readOnly: new Set(["id", "createdAt", "updatedAt", "lists", "segments"]),
  custom: true,
  cells: { tags: (cell) => ({ value: splitTags(cell) }), status: parseStatus },
};

export const SUPPRESSION_COLUMNS: FileColumns = {
  fields: ["email", "reason", "scope", "note"],
  aliases: { ...EMAIL, reason: "reason", type: "reason", scope: "scope", note: "note", comment: "note" },
  readOnly: new Set(["id", "source", "emailId", "createdAt", "updatedAt"]),
  custom: false,
  cells: { reason: toLowerCase, scope: toLowerCase },
};

function parseStatus(cell: string): CellValue {
  const status = STATUS[cell.toLowerCase().replace(/[^a-z0-9]/g, "")];
  return status ? { value: status } : { fault: `"${cell.slice(0, 60)}" is not a status. Use SUBSCRIBED or UNSUBSCRIBED.` };
}

function toLowerCase(cell: string): CellValue {
  return { value: cell.trim().toLowerCase() };
}
