import type { EventType } from "@mailsvc/sdk/contract";
import { and, eq, getTableColumns, not } from "drizzle-orm";
import type { Reader, RowChange, Tx } from "../db/db.ts";
import type { HeldContactSeq } from "../db/held.ts";
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
      const own = Map.groupBy(
        events.filter(({ emailId, machine }) => emailId !== null && machine !== true && !isTestMail(emailId)),
        ({ emailId }) => emailId ?? "",
      );
      const recipients = own.size === 0 ? [] : await findRecipients(q, workspaceId, [...own.keys()]);
      return recipients.length === 0 ? null : (tx) => recordEngagements(tx, deps(), workspaceId, own, recipients);
    },
  };
}

async function recordEngagements(
  tx: Tx,
  deps: SegmentDeps,
  workspaceId: string,
  events: ReadonlyMap<string, readonly ReadEvent[]>,
  recipients: readonly Recipient[],
): Promise<void> {
  const { engagement: t } = tx.t;
  const added: (EngagementRow & { readonly contactSeq: HeldContactSeq })[] = [];
  const changed: RowChange<SegmentTables["engagement"]>[] = [];
  const fields = new Set<string>();
  const contacts = Map.groupBy(recipients, ({ seq }) => seq);
  for (const [seq, own] of contacts) {
    const [known] = own as [Recipient];
    const after: Instants = pickInstants(known);
    for (const { type, at } of own.flatMap(({ emailId }) => events.get(emailId) ?? [])) {
      const instant = INSTANTS[type as EngagementType];
      fields.add(instant);
      // Reports can arrive late: an earlier instant never replaces a later one.
      if (at > (after[instant] ?? 0)) after[instant] = at;
    }
    // Not locked, which would write the contact for each first mail: `clearEngagement` collides with the new row.
    if (known.contactSeq === null) added.push({ contactSeq: seq as HeldContactSeq, ...after });
    else changed.push({ where: { contactSeq: seq }, set: after });
  }
  await Promise.all([tx.insertAll(t, added), tx.updateAll(t, changed)]);
  await syncMembershipBy(tx, deps, workspaceId, [...contacts.keys()], fields);
}

function pickInstants({ lastSentAt, lastDeliveredAt, lastOpenedAt, lastClickedAt }: Instants): Instants {
  return { lastSentAt, lastDeliveredAt, lastOpenedAt, lastClickedAt };
}

/**
 * Clears what is known of the engagement of a deleted contact. On Postgres its row stays, or is made, with the number of the contact and
 * nothing else: a delivery at the same time that would store the first engagement collides with it, and runs again without the contact.
 */
export async function clearEngagement(tx: Tx, { seq }: { readonly seq: number }): Promise<void> {
  const { engagement: t } = tx.t;
  await tx.delete(t).where(eq(t.contactSeq, seq));
  await tx.insertAll(t, [{ contactSeq: seq as HeldContactSeq, ...NEVER }]);
  await tx.delete(t).where(and(eq(t.contactSeq, seq), not(tx.sqlDialect.concurrent)));
}

type Recipient = Awaited<ReturnType<typeof findRecipients>>[number];

/** The contacts with the addresses of emails, and what is known of their engagement; `contactSeq` is null when nothing is. */
function findRecipients(q: Reader | Tx, workspaceId: string, emailIds: readonly string[]) {
  const { sqlDialect } = q;
  return q
    .prepared("engagement_by_emails", (query, { emails: m, contacts: c, engagement: e }, arg) =>
      query
        .select({ emailId: m.id, seq: c.seq, ...getTableColumns(e) })
        .from(m)
        .innerJoin(c, and(eq(c.workspaceId, m.workspaceId), eq(c.emailKey, m.toKey)))
        .leftJoin(e, eq(e.contactSeq, c.seq))
        .where(and(eq(m.workspaceId, arg("workspaceId")), sqlDialect.among(m.id, arg("emailIds")))),
    )
    .execute({ workspaceId, emailIds: JSON.stringify(emailIds) });
}
