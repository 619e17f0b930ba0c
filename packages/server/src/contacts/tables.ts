import type { ContactStatus, CustomValue } from "@mailsvc/sdk/contract";
import type { Kit } from "../db/postgres/columns.ts";

export function contactTables(k: Kit) {
  return {
    contacts: k.table(
      "contacts",
      {
        /** Names the contact inside the database: in indexes, memberships, the search index. Newer contacts have larger ones. */
        seq: k.counter("seq"),
        id: k.text("id").notNull(),
        workspaceId: k.text("workspace_id").notNull(),
        /** As it was given, the domain in ASCII. */
        email: k.text("email").notNull(),
        /** The address in the form addresses are compared in. */
        emailKey: k.text("email_key").notNull(),
        firstName: k.text("first_name"),
        lastName: k.text("last_name"),
        phone: k.text("phone"),
        status: k.text("status").$type<ContactStatus>().notNull(),
        /** As they were written; `contact_tags` is the index of them. */
        tags: k.json<string[]>("tags").notNull(),
        customFields: k.json<Record<string, CustomValue>>("custom_fields").notNull(),
        /** Address and names in the form they are searched in, a line each. */
        searchText: k.text("search_text").notNull(),
        createdAt: k.instant("created_at").notNull(),
        updatedAt: k.instant("updated_at").notNull(),
      },
      (t) => [
        k.uniqueIndex("contacts_id").on(t.id),
        k.uniqueIndex("contacts_email").on(t.workspaceId, t.emailKey),
        k.index("contacts_list").on(t.workspaceId, t.seq),
        k.index("contacts_status").on(t.workspaceId, t.status, t.seq),
      ],
    ),
    /** Which contacts have a tag, newest last. Repeats the status, so that a list by both reads one range. */
    contactTags: k.table(
      "contact_tags",
      {
        workspaceId: k.text("workspace_id").notNull(),
        /** The tag in the form tags are compared in. */
        tagKey: k.text("tag_key").notNull(),
        contactSeq: k.reference("contact_seq").notNull(),
        status: k.text("status").$type<ContactStatus>().notNull(),
      },
      (t) => [
        k.primaryKey({ columns: [t.workspaceId, t.tagKey, t.contactSeq] }),
        k.index("contact_tags_status").on(t.workspaceId, t.tagKey, t.status, t.contactSeq),
      ],
    ),
    /**
     * How many contacts there are: of a tag (`""` counts all contacts), in a status, within a block of `seq`. A change is a row
     * of its own, so that writers never wait for each other; a job folds the rows of one count into one.
     */
    contactCounts: k.table(
      "contact_counts",
      {
        id: k.counter("id"),
        workspaceId: k.text("workspace_id").notNull(),
        tagKey: k.text("tag_key").notNull(),
        status: k.text("status").$type<ContactStatus>().notNull(),
        block: k.int("block").notNull(),
        delta: k.int("delta").notNull(),
      },
      (t) => [k.index("contact_counts_of").on(t.workspaceId, t.tagKey, t.status, t.block, t.delta)],
    ),
  };
}
