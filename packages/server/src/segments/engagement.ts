import { and, eq, getTableColumns, not } from "drizzle-orm";
import type { RowChange, Tx } from "../db/db.ts";
import type { HeldContactSeq } from "../db/held.ts";
import type { Engagement } from "../emails/emails.ts";
import type { SegmentDeps } from "./deps.ts";
import { syncMembershipBy } from "./membership.ts";
import type { SegmentTables } from "./tables.ts";

type EngagementRow = SegmentTables["engagement"]["$inferSelect"];
type Instants = Omit<EngagementRow, "contactSeq">;

const NEVER: Instants = { lastSentAt: null, lastDeliveredAt: null, lastOpenedAt: null, lastClickedAt: null };

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
    const added: (EngagementRow & { readonly contactSeq: HeldContactSeq })[] = [];
    const changed: RowChange<SegmentTables["engagement"]>[] = [];
    for (const contact of contacts) {
      const after = (byAddress.get(contact.email) ?? []).reduce<Instants>(toLatest, contact);
      // Not locked, which would write the contact for each first mail: `clearEngagement` collides with the new row.
      if (contact.contactSeq === null) added.push({ contactSeq: contact.seq as HeldContactSeq, ...after });
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

/**
 * Clears what is known of the engagement of a deleted contact. On Postgres its row stays, or is made, with the number of the contact and nothing
 * else: a delivery at the same time that would store the first engagement collides with it, and runs again without the contact.
 */
export async function clearEngagement(tx: Tx, { seq }: { readonly seq: number }): Promise<void> {
  const { engagement: t } = tx.t;
  await tx.delete(t).where(eq(t.contactSeq, seq));
  await tx.insertAll(t, [{ contactSeq: seq as HeldContactSeq, ...NEVER }]);
  await tx.delete(t).where(and(eq(t.contactSeq, seq), not(tx.sqlDialect.concurrent)));
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
