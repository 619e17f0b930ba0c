import type { EventType } from "@mailsvc/sdk/contract";
import { and, eq, getTableColumns, not } from "drizzle-orm";
import type { Reader, RowChange, Tx } from "../db/db.ts";
import type { HeldContactSeq } from "../db/held.ts";
import { findEmailRows } from "../emails/emails.ts";
import type { EventReader, ReadEvent } from "../events/events.ts";
import { isTestMail } from "../lib/test-mail.ts";
import type { SegmentDeps } from "./deps.ts";
import { syncMembershipBy } from "./membership.ts";
import type { SegmentTables } from "./tables.ts";

type EngagementRow = SegmentTables["engagement"]["$inferSelect"];
type Instants = Omit<EngagementRow, "contactSeq">;

const NEVER: Instants = { lastSentAt: null, lastDeliveredAt: null, lastOpenedAt: null, lastClickedAt: null };

/** The instants that events change; rules ask for them by the same names. */
const INSTANTS = {
  "email.sent": "lastSentAt",
  "email.delivered": "lastDeliveredAt",
  "email.opened": "lastOpenedAt",
  "email.clicked": "lastClickedAt",
} as const satisfies Partial<Record<EventType, keyof Instants>>;

type EngagementType = keyof typeof INSTANTS;

/**
 * Records when contacts were last sent an email, received, opened or clicked one, and updates the segments that ask for it. Test mail says
 * nothing about people, and machines are none.
 */
export function engagementReader(deps: () => SegmentDeps): EventReader {
  return {
    name: "engagement",
    types: Object.keys(INSTANTS) as EngagementType[],
    plan: async (q, workspaceId, events) => {
      const own = events.filter(({ emailId, machine }) => machine !== true && !isTestMail(emailId));
      const byAddress = await groupByAddress(q, workspaceId, own);
      const contacts = await findContacts(q, workspaceId, [...byAddress.keys()]);
      if (contacts.length === 0) return null;
      return (tx) => recordEngagements(tx, deps(), workspaceId, byAddress, contacts);
    },
  };
}

async function groupByAddress(q: Reader | Tx, workspaceId: string, events: readonly ReadEvent[]): Promise<Map<string, ReadEvent[]>> {
  const rows = await findEmailRows(q, workspaceId, [...new Set(events.flatMap(({ emailId }) => emailId ?? []))]);
  const addresses = new Map(rows.map(({ id, toKey }) => [id, toKey]));
  const grouped = Map.groupBy(events, ({ emailId }) => addresses.get(emailId ?? "") ?? "");
  grouped.delete("");
  return grouped;
}

type Contact = Awaited<ReturnType<typeof findContacts>>[number];

async function recordEngagements(
  tx: Tx,
  deps: SegmentDeps,
  workspaceId: string,
  byAddress: ReadonlyMap<string, readonly ReadEvent[]>,
  contacts: readonly Contact[],
): Promise<void> {
  const { engagement: t } = tx.t;
  const added: (EngagementRow & { readonly contactSeq: HeldContactSeq })[] = [];
  const changed: RowChange<SegmentTables["engagement"]>[] = [];
  const fields = new Set<string>();
  for (const contact of contacts) {
    const after: Instants = pickInstants(contact);
    for (const { type, at } of byAddress.get(contact.email) ?? []) {
      const instant = INSTANTS[type as EngagementType];
      fields.add(instant);
      // Reports can arrive late: an earlier instant never replaces a later one.
      if (at > (after[instant] ?? 0)) after[instant] = at;
    }
    // Not locked, which would write the contact for each first mail: `clearEngagement` collides with the new row.
    if (contact.contactSeq === null) added.push({ contactSeq: contact.seq as HeldContactSeq, ...after });
    else changed.push({ where: { contactSeq: contact.seq }, set: after });
  }
  await Promise.all([tx.insertAll(t, added), tx.updateAll(t, changed)]);
  await syncMembershipBy(
    tx,
    deps,
    workspaceId,
    contacts.map(({ seq }) => seq),
    fields,
  );
}

function pickInstants({ lastSentAt, lastDeliveredAt, lastOpenedAt, lastClickedAt }: Instants): Instants {
  return { lastSentAt, lastDeliveredAt, lastOpenedAt, lastClickedAt };
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
function findContacts(q: Reader | Tx, workspaceId: string, emails: readonly string[]) {
  const { sqlDialect } = q;
  return q
    .prepared("engagement_by_emails", (query, { contacts: c, engagement: e }, arg) =>
      query
        .select({ seq: c.seq, email: c.emailKey, ...getTableColumns(e) })
        .from(c)
        .leftJoin(e, eq(e.contactSeq, c.seq))
        .where(and(eq(c.workspaceId, arg("workspaceId")), sqlDialect.among(c.emailKey, arg("emails")))),
    )
    .execute({ workspaceId, emails: JSON.stringify(emails) });
}
