import type { ListMemberStatus } from "@mailsvc/sdk/contract";
import type { Kit } from "../db/postgres/columns.ts";

export function listTables(k: Kit) {
  return {
    lists: k.table(
      "lists",
      {
        /** Names the list inside the database. */
        seq: k.counter("seq"),
        id: k.text("id").notNull(),
        workspaceId: k.text("workspace_id").notNull(),
        name: k.text("name").notNull(),
        description: k.text("description"),
        doubleOptIn: k.flag("double_opt_in").notNull(),
        /** Who the confirmation mail comes from, and what it is called. */
        confirmationFrom: k.text("confirmation_from"),
        confirmationSubject: k.text("confirmation_subject"),
        createdAt: k.instant("created_at").notNull(),
        updatedAt: k.instant("updated_at").notNull(),
        /** Set once it is deleted; a job takes its members away. */
        deletedAt: k.instant("deleted_at"),
      },
      (t) => [k.uniqueIndex("lists_id").on(t.id), k.index("lists_workspace").on(t.workspaceId, t.id)],
    ),
    listMembers: k.table(
      "list_members",
      {
        listSeq: k.reference("list_seq").notNull(),
        contactSeq: k.reference("contact_seq").notNull(),
        status: k.text("status").$type<ListMemberStatus>().notNull(),
        addedAt: k.instant("added_at").notNull(),
        joinedAt: k.instant("joined_at"),
        /** SHA-256 of what stands at the end of the link in the confirmation mail. */
        tokenHash: k.text("token_hash"),
        /** When the link ends to work. */
        expiresAt: k.instant("expires_at"),
      },
      (t) => [
        k.primaryKey({ columns: [t.listSeq, t.contactSeq] }),
        k.index("list_members_status").on(t.listSeq, t.status, t.contactSeq),
        k.index("list_members_contact").on(t.contactSeq),
        k.uniqueIndex("list_members_token").on(t.tokenHash),
      ],
    ),
  };
}
