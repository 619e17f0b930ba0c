import { and, eq, sql } from "drizzle-orm";
import type { Engagement } from "../contacts/contacts.ts";
import type { Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { syncMembershipBy } from "./membership.ts";

const ph = sql.placeholder;

type Instants = Pick<Engagement, "sentAt" | "deliveredAt" | "openedAt" | "clickedAt">;

/** The fields by which rules ask for these instants. */
const RULE_FIELDS = [
  ["sentAt", "lastSentAt"],
  ["deliveredAt", "lastDeliveredAt"],
  ["openedAt", "lastOpenedAt"],
  ["clickedAt", "lastClickedAt"],
] as const satisfies readonly [keyof Instants, string][];

/**
 * Records when contacts were last sent an email, received, opened or clicked one. Addresses without a contact cost one index
 * lookup each.
 */
export async function recordEngagements(tx: Tx, deps: Deps, engagements: readonly Engagement[]): Promise<void> {
  for (const [workspaceId, own] of Map.groupBy(engagements, (engagement) => engagement.workspaceId)) {
    const byAddress = mergeByAddress(own);
    const contacts = await findContactSeqs(tx, workspaceId, [...byAddress.keys()]);
    if (contacts.length === 0) continue;
    const { engagement: t } = tx.t;
    const rows = contacts.map(({ seq, email }) => toRow(seq, byAddress.get(email) ?? {}));
    await tx
      .insert(t)
      .values(rows)
      .onConflictDoUpdate({
        target: t.contactSeq,
        // Reports can arrive late: an earlier instant never replaces a later one.
        set: {
          lastSentAt: sql`case when excluded.last_sent_at > coalesce(${t.lastSentAt}, 0) then excluded.last_sent_at else ${t.lastSentAt} end`,
          lastDeliveredAt: sql`case when excluded.last_delivered_at > coalesce(${t.lastDeliveredAt}, 0) then excluded.last_delivered_at else ${t.lastDeliveredAt} end`,
          lastOpenedAt: sql`case when excluded.last_opened_at > coalesce(${t.lastOpenedAt}, 0) then excluded.last_opened_at else ${t.lastOpenedAt} end`,
          lastClickedAt: sql`case when excluded.last_clicked_at > coalesce(${t.lastClickedAt}, 0) then excluded.last_clicked_at else ${t.lastClickedAt} end`,
        },
      });
    const changed = new Set(own.flatMap((one) => RULE_FIELDS.filter(([instant]) => one[instant] !== undefined).map(([, field]) => field)));
    await syncMembershipBy(
      tx,
      deps,
      workspaceId,
      contacts.map(({ seq }) => seq),
      changed,
    );
  }
}

/** The latest instants of each address. */
function mergeByAddress(engagements: readonly Engagement[]): Map<string, Instants> {
  const merged = new Map<string, Instants>();
  for (const { email, sentAt, deliveredAt, openedAt, clickedAt } of engagements) {
    const before = merged.get(email) ?? {};
    merged.set(email, {
      ...latest("sentAt", before.sentAt, sentAt),
      ...latest("deliveredAt", before.deliveredAt, deliveredAt),
      ...latest("openedAt", before.openedAt, openedAt),
      ...latest("clickedAt", before.clickedAt, clickedAt),
    });
  }
  return merged;
}

function latest(name: keyof Instants, one = 0, other = 0): Instants {
  const at = Math.max(one, other);
  return at === 0 ? {} : { [name]: at };
}

function findContactSeqs(tx: Tx, workspaceId: string, emails: readonly string[]): Promise<{ seq: number; email: string }[]> {
  const { sqlDialect } = tx;
  return Promise.resolve(
    tx
      .prepared("contact_seqs_by_emails", (q, { contacts: t }) =>
        q
          .select({ seq: t.seq, email: t.emailKey })
          .from(t)
          .where(and(eq(t.workspaceId, ph("workspaceId")), sqlDialect.among(t.emailKey, ph("emails"))))
          .prepare("contact_seqs_by_emails"),
      )
      .execute({ workspaceId, emails: JSON.stringify(emails) }),
  );
}

function toRow(contactSeq: number, { sentAt, deliveredAt, openedAt, clickedAt }: Instants) {
  return {
    contactSeq,
    lastSentAt: sentAt ?? null,
    lastDeliveredAt: deliveredAt ?? null,
    lastOpenedAt: openedAt ?? null,
    lastClickedAt: clickedAt ?? null,
  };
}
