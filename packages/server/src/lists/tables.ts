import type { ListMemberStatus } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../db/columns.ts";

export function listTables(c: ColumnTypes) {
  return {
    lists: c.table(
      "lists",
      {
        /** The key inside the database. */
        seq: c.counter("seq"),
        id: c.text("id").notNull(),
        workspaceId: c.text("workspace_id").notNull(),
        name: c.text("name").notNull(),
        description: c.text("description"),
        doubleOptIn: c.flag("double_opt_in").notNull(),
        /** Sender and subject of the confirmation email. */
        confirmationFrom: c.text("confirmation_from"),
        confirmationSubject: c.text("confirmation_subject"),
        /** Members see its name on their preference page. */
        public: c.flag("public").notNull().default(true),
        /** The language of its confirmation emails and pages, for contacts that have none. */
        language: c.text("language"),
        createdAt: c.instant("created_at").notNull(),
        updatedAt: c.instant("updated_at").notNull(),
        /** Set when the list is deleted; a job deletes its members. */
        deletedAt: c.instant("deleted_at"),
      },
      (t) => [c.uniqueIndex("lists_id").on(t.id), c.index("lists_workspace").on(t.workspaceId, t.id)],
    ),
    listMembers: c.table(
      "list_members",
      {
        listSeq: c.reference("list_seq").notNull(),
        contactSeq: c.reference("contact_seq").notNull(),
        status: c.text("status").$type<ListMemberStatus>().notNull(),
        addedAt: c.instant("added_at").notNull(),
        joinedAt: c.instant("joined_at"),
        /** SHA-256 of the token in the link of the confirmation email. */
        tokenHash: c.text("token_hash"),
        /** Time at which the link expires. */
        expiresAt: c.instant("expires_at"),
      },
      (t) => [
        c.primaryKey({ columns: [t.listSeq, t.contactSeq] }),
        c.index("list_members_status").on(t.listSeq, t.status, t.contactSeq),
        c.index("list_members_contact").on(t.contactSeq),
        c.uniqueIndex("list_members_token").on(t.tokenHash),
      ],
    ),
  };
}

export type ListTables = ReturnType<typeof listTables>;

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly list: "lists";
  }
}
