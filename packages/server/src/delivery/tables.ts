import type { ColumnTypes } from "../db/columns.ts";

export function deliveryTables(c: ColumnTypes) {
  return {
    /** Domains to which an operator lets no email go. */
    heldDomains: c.table("held_domains", {
      domain: c.text("domain").primaryKey(),
      reason: c.text("reason"),
      heldAt: c.instant("held_at").notNull(),
    }),
    /** Emails that wait for the release of a domain. */
    heldEmails: c.table(
      "held_emails",
      {
        domain: c.text("domain").notNull(),
        workspaceId: c.text("workspace_id").notNull(),
        emailId: c.text("email_id").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.domain, t.workspaceId, t.emailId] })],
    ),
  };
}
