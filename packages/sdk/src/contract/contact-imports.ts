import { CONTACT_LIMITS } from "./contact-fields.ts";
import { endpoint } from "./endpoint.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import * as z from "./zod.ts";

/** Days for which an import can be undone. */
export const UNDO_DAYS = 7;

/** The states of an import: it takes rows, it is being undone, or it was undone. */
export const CONTACT_IMPORT_STATES = ["OPEN", "UNDOING", "UNDONE"] as const;
export type ContactImportState = (typeof CONTACT_IMPORT_STATES)[number];

/** An import of the last week. */
export const ContactImportSummary = z
  .object({
    id: z.string(),
    /** The day on which it began, in UTC, and its number on that day. */
    name: z.string(),
    /** The tag that its people have; null for none. */
    tag: z.string().nullable(),
    /** The name of the file. */
    file: z.string().nullable(),
    state: z.enum(CONTACT_IMPORT_STATES),
    /** Results of the rows that were sent for it. */
    rows: z.object({ created: z.int(), updated: z.int(), unchanged: z.int(), skipped: z.int(), failed: z.int() }),
    /** Contacts that it created and that were not taken back. */
    created: z.int(),
    /** Contacts that were there before it and that were not restored. */
    existing: z.int(),
    /** Memberships of a list that it made and that were not taken back. */
    memberships: z.int(),
    /** Contacts that it created and that undoing it left, because they came in another way as well. */
    kept: z.int(),
    createdAt: Instant,
    undoableUntil: Instant,
    undoneAt: Instant.nullable(),
  })
  .meta({ id: "ContactImportSummary" });
export type ContactImportSummary = z.infer<typeof ContactImportSummary>;

const which = { id: "import:2026-11-28-1" };

export const contactImports = {
  startImport: endpoint({
    method: "POST",
    path: "/api/v1/contacts/imports",
    access: { permission: "contacts:write" },
    mailsTo: "nobody",
    summary: "Begin an import that can be undone",
    description: `Name its id as \`import\` in the requests of \`contacts.import\`. Its people get the tag, by default \`import:\` with the day and a number. It can be undone for ${UNDO_DAYS} days. None begins with the tag of one that is being undone.`,
    body: z.strictObject({
      file: z.string().max(255).optional().meta({ description: "Name of the file" }),
      tag: z
        .string()
        .trim()
        .min(1)
        .max(CONTACT_LIMITS.tag)
        .nullable()
        .optional()
        .meta({ description: "Tag of its people; null for none, and by default import: with the day and a number" }),
    }),
    status: 201,
    output: ContactImportSummary,
    errors: ["invalid_state"],
    examples: [{ summary: "With its own tag", body: { file: "people.csv", tag: "trade fair" } }],
  }),
  imports: endpoint({
    method: "GET",
    path: "/api/v1/contacts/imports",
    access: { permission: "contacts:read" },
    summary: `List the imports of the last ${UNDO_DAYS} days, newest first`,
    query: z.object({ ...pageQuery }),
    output: pageSchema(ContactImportSummary),
    examples: [{ summary: "The newest", query: { limit: 10 } }],
  }),
  getImport: endpoint({
    method: "GET",
    path: "/api/v1/contacts/imports/:id",
    access: { permission: "contacts:read" },
    summary: "Get an import by its id, its name or its tag",
    output: ContactImportSummary,
    errors: ["not_found"],
    examples: [{ summary: "Get", params: which }],
  }),
  undoImport: endpoint({
    method: "POST",
    path: "/api/v1/contacts/imports/:id/undo",
    access: { permission: "contacts:write" },
    mailsTo: "nobody",
    summary: `Undo an import of the last ${UNDO_DAYS} days, by its id, its name or its tag`,
    description:
      "Contacts that it created are deleted, and others get their former fields, tags, status and memberships back, except for what was changed again since. Contacts that another import brought as well stay. Who unsubscribed since then stays unsubscribed. Nobody enters an automation by it. Large imports are undone in the background: until then the state is UNDOING. Undoing again changes nothing.",
    output: ContactImportSummary,
    errors: ["not_found"],
    examples: [{ summary: "By its tag", params: which }],
  }),
};
