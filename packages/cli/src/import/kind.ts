import { CONTACT_COLUMNS, type FileColumns, SUPPRESSION_COLUMNS } from "@mailsvc/sdk/contact-files";
import {
  type AutomationStart,
  CONTACT_LIMITS,
  type ContactImport,
  ContactImportRow,
  contract,
  type Endpoint,
  SUPPRESSION_BATCH,
  type SuppressionImport,
  SuppressionRow,
} from "@mailsvc/sdk/contract";

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
  /** The automations that its contacts enter, or would. */
  automations: readonly AutomationStart[];
}

export interface ImportFlags {
  mode: "upsert" | "skip";
  dryRun: boolean;
  startAutomations: boolean;
  list: string | undefined;
}

/** A kind of import: what its files contain, and its endpoint. */
export interface ImportKind extends FileColumns {
  noun: "contacts" | "suppressions";
  schema: typeof ContactImportRow | typeof SuppressionRow;
  endpoint: Endpoint;
  /** Maximum number of rows per request. */
  limit: number;
  /** The outcomes of a row in display order, without `failed`. */
  outcomes: readonly string[];
  body(rows: readonly unknown[], flags: ImportFlags, importId: string | null): unknown;
  outcome(answer: unknown): BatchOutcome;
}

export const CONTACTS: ImportKind = {
  noun: "contacts",
  ...CONTACT_COLUMNS,
  schema: ContactImportRow,
  endpoint: contract.contacts.import,
  limit: CONTACT_LIMITS.importRows,
  outcomes: ["created", "updated", "unchanged", "skipped"],
  body: (rows, flags, importId) => ({ rows, ...flags, ...(importId !== null && { import: importId }) }),
  outcome: (answer) => {
    const { created, updated, unchanged, skipped, suppressed, joined, asked, errors, automations } = answer as ContactImport;
    const onList = { ...(joined > 0 && { joined }), ...(asked > 0 && { asked }) };
    return { counts: { created, updated, unchanged, skipped, suppressed, ...onList }, faults: errors, automations };
  },
};

export const SUPPRESSIONS: ImportKind = {
  noun: "suppressions",
  ...SUPPRESSION_COLUMNS,
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
      automations: [],
    };
  },
};
