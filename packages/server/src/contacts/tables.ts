import type { ContactStatus, CustomValue } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../db/columns.ts";

export function contactTables(c: ColumnTypes) {
  return {
    contacts: c.table(
      "contacts",
      {
        /** Names the contact inside the database: in indexes, memberships, the search index. Newer contacts have larger ones. */
        seq: c.counter("seq"),
        id: c.text("id").notNull(),
        workspaceId: c.text("workspace_id").notNull(),
        /** As it was given, the domain in ASCII. */
        email: c.text("email").notNull(),
        /** The address in the form addresses are compared in. */
        emailKey: c.text("email_key").notNull(),
        firstName: c.text("first_name"),
        lastName: c.text("last_name"),
        phone: c.text("phone"),
        status: c.text("status").$type<ContactStatus>().notNull(),
        /** As they were written; `contact_tags` is the index of them. */
        tags: c.json<string[]>("tags").notNull(),
        customFields: c.json<Record<string, CustomValue>>("custom_fields").notNull(),
        /** Address and names in the form they are searched in, a line each. */
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
    /** Which contacts have a tag, newest last. Repeats the status, so that a list by both reads one range. */
    contactTags: c.table(
      "contact_tags",
      {
        workspaceId: c.text("workspace_id").notNull(),
        /** The tag in the form tags are compared in. */
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
     * How many contacts there are: of a tag (`""` counts all contacts), in a status, within a block of `seq`. A change is a row
     * of its own, so that writers never wait for each other; a job folds the rows of one count into one.
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
