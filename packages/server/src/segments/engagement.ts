import { and, eq, getTableColumns } from "drizzle-orm";
import type { RowChange, Tx } from "../db/db.ts";
import type { Engagement } from "../emails/emails.ts";
import type { SegmentDeps } from "./deps.ts";
import { syncMembershipBy } from "./membership.ts";
import type { SegmentTables } from "./tables.ts";

type EngagementRow = SegmentTables["engagement"]["$inferSelect"];
type Instants = Omit<EngagementRow, "contactSeq">;

/** The fields by which rules ask for these instants. */
const RULE_FIELDS = [
  ["sentAt", "lastSentAt"],
  ["deliveredAt", "lastDeliveredAt"],
  ["openedAt", "lastOpenedAt"],
  ["clickedAt", "lastClickedAt"],
] as const satisfies readonly [keyof Engagement, keyof Instants][];

/**
 * Records when contacts were last sent an email, received, opened or clicked one. Addresses without a contact cost one index
 * lookup each.
 */
export async function recordEngagements(tx: Tx, deps: SegmentDeps, engagements: readonly Engagement[]): Promise<void> {
  const { engagement: t } = tx.t;
  for (const [workspaceId, own] of Map.groupBy(engagements, (engagement) => engagement.workspaceId)) {
    const byAddress = Map.groupBy(own, ({ email }) => email);
    const contacts = await findContacts(tx, workspaceId, [...byAddress.keys()]);
    if (contacts.length === 0) continue;
    const added: EngagementRow[] = [];
    const changed: RowChange<SegmentTables["engagement"]>[] = [];
    for (const contact of contacts) {
      const after = (byAddress.get(contact.email) ?? []).reduce<Instants>(toLatest, contact);
      if (contact.contactSeq === null) added.push({ contactSeq: contact.seq, ...after });
      else changed.push({ where: { contactSeq: contact.seq }, set: after });
    }
    await Promise.all([tx.insertAll(t, added), tx.updateAll(t, changed)]);
    const fields = RULE_FIELDS.filter(([instant]) => own.some((one) => one[instant] !== undefined)).map(([, field]) => field);
    await syncMembershipBy(
      tx,
      deps,
      workspaceId,
      contacts.map(({ seq }) => seq),
      new Set<string>(fields),
    );
  }
}

/** The contacts with these addresses, and what is known of their engagement; `contactSeq` is null when nothing is. */
function findContacts(tx: Tx, workspaceId: string, emails: readonly string[]) {
  const { sqlDialect } = tx;
  return tx
    .prepared("engagement_by_emails", (q, { contacts: c, engagement: e }, arg) =>
      q
        .select({ seq: c.seq, email: c.emailKey, ...getTableColumns(e) })
        .from(c)
        .leftJoin(e, eq(e.contactSeq, c.seq))
        .where(and(eq(c.workspaceId, arg("workspaceId")), sqlDialect.among(c.emailKey, arg("emails")))),
    )
    .execute({ workspaceId, emails: JSON.stringify(emails) });
}

/** Reports can arrive late: an earlier instant never replaces a later one. */
function toLatest(before: Instants, { sentAt, deliveredAt, openedAt, clickedAt }: Engagement): Instants {
  return {
    lastSentAt: later(before.lastSentAt, sentAt),
    lastDeliveredAt: later(before.lastDeliveredAt, deliveredAt),
    lastOpenedAt: later(before.lastOpenedAt, openedAt),
    lastClickedAt: later(before.lastClickedAt, clickedAt),
  };
}

function later(before: number | null, at = 0): number | null {
  return at > (before ?? 0) ? at : before;
}
