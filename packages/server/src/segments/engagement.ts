import { and, eq, sql } from "drizzle-orm";
import type { Engagement } from "../contacts/contacts.ts";
import type { Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { syncMembership } from "./membership.ts";

const ph = sql.placeholder;

/** Records when a contact was last sent an email, received, opened or clicked one. An address without a contact costs one index lookup. */
export async function recordEngagement(tx: Tx, deps: Deps, engagement: Engagement): Promise<void> {
  const { workspaceId, email } = engagement;
  const [contact] = await tx
    .prepared("contact_seq_by_email", (q, { contacts: t }) =>
      q
        .select({ seq: t.seq })
        .from(t)
        .where(and(eq(t.workspaceId, ph("workspaceId")), eq(t.emailKey, ph("email"))))
        .prepare("contact_seq_by_email"),
    )
    .execute({ workspaceId, email });
  if (!contact) return;
  await tx
    .prepared("record_engagement", (q, { engagement: t }) =>
      q
        .insert(t)
        .values({
          contactSeq: ph("seq"),
          lastSentAt: ph("sentAt"),
          lastDeliveredAt: ph("deliveredAt"),
          lastOpenedAt: ph("openedAt"),
          lastClickedAt: ph("clickedAt"),
        })
        .onConflictDoUpdate({
          target: t.contactSeq,
          // Reports can arrive late: an earlier instant never replaces a later one.
          set: {
            lastSentAt: sql`case when excluded.last_sent_at > coalesce(${t.lastSentAt}, 0) then excluded.last_sent_at else ${t.lastSentAt} end`,
            lastDeliveredAt: sql`case when excluded.last_delivered_at > coalesce(${t.lastDeliveredAt}, 0) then excluded.last_delivered_at else ${t.lastDeliveredAt} end`,
            lastOpenedAt: sql`case when excluded.last_opened_at > coalesce(${t.lastOpenedAt}, 0) then excluded.last_opened_at else ${t.lastOpenedAt} end`,
            lastClickedAt: sql`case when excluded.last_clicked_at > coalesce(${t.lastClickedAt}, 0) then excluded.last_clicked_at else ${t.lastClickedAt} end`,
          },
        })
        .prepare("record_engagement"),
    )
    .execute({
      seq: contact.seq,
      sentAt: engagement.sentAt ?? null,
      deliveredAt: engagement.deliveredAt ?? null,
      openedAt: engagement.openedAt ?? null,
      clickedAt: engagement.clickedAt ?? null,
    });
  await syncMembership(tx, deps, workspaceId, [contact.seq]);
}
