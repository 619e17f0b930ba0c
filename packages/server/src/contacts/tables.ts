import type { ContactStatus, CustomValue } from "@mailsvc/sdk/contract";
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
        firstName: c.text("first_name"),
        lastName: c.text("last_name"),
        phone: c.text("phone"),
        status: c.text("status").$type<ContactStatus>().notNull(),
        /** As they were given; `contact_tags` indexes them. */
        tags: c.json<string[]>("tags").notNull(),
        customFields: c.json<Record<string, CustomValue>>("custom_fields").notNull(),
        /** What search looks in; see `toSearchText`. */
        searchText: c.text("search_text").notNull(),
        createdAt: c.instant("created_at").notNull(),
        updatedAt: c.instant("updated_at").notNull(),
      },
      (t) => [
        c.uniqueIndex("contacts_id").on(t.id),
        c.uniqueIndex("contacts_email").on(t.workspaceId, t.emailKey),
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
  };
}

export type ContactTables = ReturnType<typeof contactTables>;
