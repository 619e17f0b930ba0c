import { and, eq, sql } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { follow } from "./follow.ts";

/** What happened to a mail, as far as it says something about who it went to. */
export interface Engaged {
  workspaceId: string;
  /** The recipient in the form addresses are compared in. */
  email: string;
  sentAt?: number;
  deliveredAt?: number;
  openedAt?: number;
  clickedAt?: number;
}

const ph = sql.placeholder;

/** Notes when a contact was last sent a mail, got, opened or clicked one. Addresses of no contact are passed over: one look at an index. */
export async function noteEngagement(tx: Tx, deps: Deps, what: Engaged): Promise<void> {
  const { workspaceId, email } = what;
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
    .prepared("note_engagement", (q, { engagement: t }) =>
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
          // A late report of something earlier changes nothing.
          set: {
            lastSentAt: sql`case when excluded.last_sent_at > coalesce(${t.lastSentAt}, 0) then excluded.last_sent_at else ${t.lastSentAt} end`,
            lastDeliveredAt: sql`case when excluded.last_delivered_at > coalesce(${t.lastDeliveredAt}, 0) then excluded.last_delivered_at else ${t.lastDeliveredAt} end`,
            lastOpenedAt: sql`case when excluded.last_opened_at > coalesce(${t.lastOpenedAt}, 0) then excluded.last_opened_at else ${t.lastOpenedAt} end`,
            lastClickedAt: sql`case when excluded.last_clicked_at > coalesce(${t.lastClickedAt}, 0) then excluded.last_clicked_at else ${t.lastClickedAt} end`,
          },
        })
        .prepare("note_engagement"),
    )
    .execute({
      seq: contact.seq,
      sentAt: what.sentAt ?? null,
      deliveredAt: what.deliveredAt ?? null,
      openedAt: what.openedAt ?? null,
      clickedAt: what.clickedAt ?? null,
    });
  await follow(tx, deps, workspaceId, [contact.seq]);
}
