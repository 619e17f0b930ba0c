import {
  CONTACT_LIMITS,
  CONTACT_TEXT_FIELDS,
  CONTACT_TEXTS,
  type ContactImport,
  ContactUpsert,
  contract,
  type Endpoint,
  SUPPRESSION_BATCH,
  type SuppressionImport,
  SuppressionRow,
} from "@mailsvc/sdk/contract";
import type { CellValue } from "./cells.ts";
import { splitTags } from "./cells.ts";

/** A fault of a row as the server reports it; `index` counts within the batch. */
interface AnswerFault {
  index: number;
  path: string;
  code: string;
  message: string;
}

/** The server's result for a batch. */
export interface BatchOutcome {
  /** Number of rows by outcome. */
  counts: Readonly<Record<string, number>>;
  faults: readonly AnswerFault[];
}

export interface ImportFlags {
  mode: "upsert" | "skip";
  dryRun: boolean;
}

/** A kind of import: its fields, the column names that files use for them, and its endpoint. */
export interface ImportKind {
  noun: "contacts" | "suppressions";
  fields: readonly string[];
  /** Maps column names to fields; names are in lower case with letters and digits only. */
  aliases: Readonly<Record<string, string>>;
  /** Columns of an export that are read-only. */
  readOnly: ReadonlySet<string>;
  /** Whether unknown columns can become custom fields. */
  custom: boolean;
  /** Converts the text of a cell to the value of a field; fields without an entry take the text. */
  cells: Readonly<Record<string, (cell: string) => CellValue>>;
  schema: typeof ContactUpsert | typeof SuppressionRow;
  endpoint: Endpoint;
  /** Maximum number of rows per request. */
  limit: number;
  /** The outcomes of a row in display order, without `failed`. */
  outcomes: readonly string[];
  body(rows: readonly unknown[], flags: ImportFlags): unknown;
  outcome(answer: unknown): BatchOutcome;
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

export const CONTACTS: ImportKind = {
  noun: "contacts",
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
  schema: ContactUpsert,
  endpoint: contract.contacts.import,
  limit: CONTACT_LIMITS.importRows,
  outcomes: ["created", "updated", "unchanged", "skipped"],
  body: (rows, flags) => ({ rows, ...flags }),
  outcome: (answer) => {
    const { created, updated, unchanged, skipped, suppressed, errors } = answer as ContactImport;
    return { counts: { created, updated, unchanged, skipped, suppressed }, faults: errors };
  },
};

export const SUPPRESSIONS: ImportKind = {
  noun: "suppressions",
  fields: ["email", "reason", "scope", "note"],
  aliases: { ...EMAIL, reason: "reason", type: "reason", scope: "scope", note: "note", comment: "note" },
  readOnly: new Set(["id", "source", "emailId", "createdAt", "updatedAt"]),
  custom: false,
  cells: { reason: toLowerCase, scope: toLowerCase },
  schema: SuppressionRow,
  endpoint: contract.suppressions.import,
  limit: SUPPRESSION_BATCH,
  outcomes: ["created", "widened", "unchanged"],
  body: (entries, { dryRun }) => ({ entries, dryRun }),
  outcome: (answer) => {
    const { created, widened, unchanged, failed } = answer as SuppressionImport;
    return {
      counts: { created, widened, unchanged },
      faults: failed.map(({ index, code, message }) => ({ index, path: "email", code, message })),
    };
  },
};

function parseStatus(cell: string): CellValue {
  const status = STATUS[cell.toLowerCase().replace(/[^a-z0-9]/g, "")];
  return status ? { value: status } : { fault: `"${cell.slice(0, 60)}" is not a status. Use SUBSCRIBED or UNSUBSCRIBED.` };
}

function toLowerCase(cell: string): CellValue {
  return { value: cell.trim().toLowerCase() };
}
