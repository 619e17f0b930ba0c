import type { Contact, ContactImportState, ContactStatus, ContactTextField, CustomValue } from "@mailsvc/sdk/contract";
import { isNotNull } from "drizzle-orm";
import type { ColumnTypes } from "../db/columns.ts";

export function contactTables(c: ColumnTypes) {
  return {
    contacts: c.table(
      "contacts",
      {
        /** The key inside the database: in indexes, memberships and the search index. Newer contacts have larger ones. */
        seq: c.counter("seq"),
        id: c.text("id").notNull(),
        workspaceId: c.text("workspace_id").notNull(),
        /** In its canonical spelling, with upper case as it was given. */
        email: c.text("email").notNull(),
        /** The address as `addressKey` returns it. */
        emailKey: c.text("email_key").notNull(),
        /** Its id in the system of the workspace's owner. */
        externalId: c.text("external_id"),
        firstName: c.text("first_name"),
        lastName: c.text("last_name"),
        phone: c.text("phone"),
        /** A tag of BCP 47, in its usual spelling. */
        language: c.text("language"),
        status: c.text("status").$type<ContactStatus>().notNull(),
        /** As they were given; `contact_tags` indexes them. */
        tags: c.json<string[]>("tags").notNull(),
        customFields: c.json<Record<string, CustomValue>>("custom_fields").notNull(),
        /** Text that search reads; see `toSearchText`. */
        searchText: c.text("search_text").notNull(),
        createdAt: c.instant("created_at").notNull(),
        updatedAt: c.instant("updated_at").notNull(),
      },
      (t) => [
        c.uniqueIndex("contacts_id").on(t.id),
        c.uniqueIndex("contacts_email").on(t.workspaceId, t.emailKey),
        c.uniqueIndex("contacts_external_id").on(t.workspaceId, t.externalId).where(isNotNull(t.externalId)),
        c.index("contacts_list").on(t.workspaceId, t.seq),
        c.index("contacts_status").on(t.workspaceId, t.status, t.seq),
      ],
    ),
    /** Index of contacts by tag. Repeats the status, so that a list by tag and status reads one range. */
    contactTags: c.table(
      "contact_tags",
      {
        workspaceId: c.text("workspace_id").notNull(),
        /** The tag as `tagKey` returns it. */
        tagKey: c.text("tag_key").notNull(),
        contactSeq: c.reference("contact_seq").notNull(),
        status: c.text("status").$type<ContactStatus>().notNull(),
      },
      (t) => [
        c.primaryKey({ columns: [t.workspaceId, t.tagKey, t.contactSeq] }),
        c.index("contact_tags_status").on(t.workspaceId, t.tagKey, t.status, t.contactSeq),
      ],
    ),
    /**
     * Counters of contacts by tag (`""` counts all contacts), status and block of `seq`. Every change inserts a row, so that writers
     * never wait for each other; a job merges the rows of a counter.
     */
    contactCounts: c.table(
      "contact_counts",
      {
        id: c.counter("id"),
        workspaceId: c.text("workspace_id").notNull(),
        tagKey: c.text("tag_key").notNull(),
        status: c.text("status").$type<ContactStatus>().notNull(),
        block: c.int("block").notNull(),
        delta: c.int("delta").notNull(),
      },
      (t) => [c.index("contact_counts_of").on(t.workspaceId, t.tagKey, t.status, t.block, t.delta)],
    ),
    ...importTables(c),
  };
}

/** Some fields of a contact. A custom field that it does not have is null. */
export type ContactValues = Partial<Pick<Contact, ContactTextField | "email" | "externalId" | "tags" | "status">> & {
  readonly customFields?: Readonly<Record<string, CustomValue>>;
};

function importTables(c: ColumnTypes) {
  return {
    /** Imports that can be undone, until a week after they began. */
    contactImports: c.table(
      "contact_imports",
      {
        seq: c.counter("seq"),
        id: c.text("id").notNull(),
        workspaceId: c.text("workspace_id").notNull(),
        /** The day it began and its number on that day: `2026-11-28-1`. */
        name: c.text("name").notNull(),
        /** The tag that its people get; null for none. */
        tag: c.text("tag"),
        file: c.text("file"),
        state: c.text("state").$type<ContactImportState>().notNull(),
        /** Contacts that undoing it left as they are. */
        kept: c.int("kept").notNull(),
        createdAt: c.instant("created_at").notNull(),
        undoneAt: c.instant("undone_at"),
      },
      (t) => [c.uniqueIndex("contact_imports_id").on(t.id), c.uniqueIndex("contact_imports_name").on(t.workspaceId, t.name)],
    ),
    /** Results of the rows of an import, one line for each request, so that requests of one import never wait for each other. */
    contactImportResults: c.table(
      "contact_import_results",
      {
        id: c.counter("id"),
        importSeq: c.reference("import_seq").notNull(),
        created: c.int("created").notNull(),
        updated: c.int("updated").notNull(),
        unchanged: c.int("unchanged").notNull(),
        skipped: c.int("skipped").notNull(),
        failed: c.int("failed").notNull(),
      },
      (t) => [c.index("contact_import_results_of").on(t.importSeq)],
    ),
    /** The contacts of an import with the values that they had before. */
    contactImportRows: c.table(
      "contact_import_rows",
      {
        importSeq: c.reference("import_seq").notNull(),
        contactSeq: c.reference("contact_seq").notNull(),
        /** True if the import created the contact. */
        created: c.flag("created").notNull(),
        /** Values of the fields that the import changed, before it and after it. */
        before: c.json<ContactValues>("before_values").notNull(),
        after: c.json<ContactValues>("after_values").notNull(),
        /** True if the file said that the person wants no mail. */
        saidNo: c.flag("said_no").notNull(),
        /** The suppression that the import added. */
        suppressionId: c.text("suppression_id"),
        /** The list that the contact joined by the import. */
        listId: c.text("list_id"),
      },
      (t) => [c.primaryKey({ columns: [t.importSeq, t.contactSeq] }), c.index("contact_import_rows_of").on(t.contactSeq)],
    ),
  };
}

export type ContactTables = ReturnType<typeof contactTables>;

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly con: "contacts";
    readonly imp: "contactImports";
  }
}
