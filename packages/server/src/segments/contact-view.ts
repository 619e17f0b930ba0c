import { mapContactTexts, type SegmentRule } from "@mailsvc/sdk/contract";
import { and, eq, isNull } from "drizzle-orm";
import { type ContactRow, tagKey } from "../contacts/contacts.ts";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { countNothing, loadCounts } from "./actions.ts";
import type { ContactView } from "./evaluate.ts";

/** A contact with its view for rules. */
interface LoadedContact {
  contact: ContactRow;
  view: ContactView;
}

/**
 * Loads contacts with what these rules ask about them at an instant (ms), by `seq`; a thousand at most. Contacts of other workspaces are
 * skipped.
 */
export async function loadContactViews(
  q: Tx | Reader,
  workspaceId: string,
  seqs: readonly number[],
  rules: readonly SegmentRule[],
  now: number,
): Promise<Map<number, LoadedContact>> {
  if (seqs.length === 0) return new Map();
  const [contacts, engagements, memberships, countsOf] = await Promise.all([
    findRows(q, q.t.contacts, { workspaceId, seq: seqs }),
    findRows(q, q.t.engagement, { contactSeq: seqs }),
    selectLists(q).execute({ seqs: JSON.stringify(seqs) }),
    loadCounts({ q, workspaceId, now }, seqs, rules),
  ]);
  const lists = new Map<number, string[]>();
  for (const { seq, id } of memberships) lists.set(seq, [...(lists.get(seq) ?? []), id]);
  const engagementOf = new Map(engagements.map((row) => [row.contactSeq, row]));
  return new Map(
    contacts.map((contact) => {
      const engagement = engagementOf.get(contact.seq);
      return [
        contact.seq,
        {
          contact,
          view: toView(contact, { ...NO_ENGAGEMENT, ...engagement, lists: lists.get(contact.seq) ?? [], counts: countsOf(contact.seq) }),
        },
      ];
    }),
  );
}

const NO_ENGAGEMENT = { lastSentAt: null, lastDeliveredAt: null, lastOpenedAt: null, lastClickedAt: null };

type Behaviour = Pick<ContactView, keyof typeof NO_ENGAGEMENT | "lists" | "counts">;

/** A contact as rules see it, with what is known about it besides its own row. */
export function toView(contact: ContactRow, behaviour: Behaviour): ContactView {
  return {
    email: contact.emailKey,
    externalId: contact.externalId,
    ...mapContactTexts((field) => contact[field]),
    status: contact.status,
    createdAt: contact.createdAt,
    updatedAt: contact.updatedAt,
    lastSentAt: behaviour.lastSentAt,
    lastDeliveredAt: behaviour.lastDeliveredAt,
    lastOpenedAt: behaviour.lastOpenedAt,
    lastClickedAt: behaviour.lastClickedAt,
    tags: contact.tags.map(tagKey),
    lists: behaviour.lists,
    customFields: contact.customFields,
    counts: behaviour.counts,
  };
}

/** The behaviour of a contact that is not stored yet. */
export function behaveAsNew(rules: readonly SegmentRule[]): Behaviour {
  return { ...NO_ENGAGEMENT, lists: [], counts: countNothing(rules) };
}

function selectLists(q: Tx | Reader) {
  return q.prepared("lists_of_views", (build, { listMembers: m, lists: l }, arg) =>
    build
      .select({ seq: m.contactSeq, id: l.id })
      .from(m)
      .innerJoin(l, eq(l.seq, m.listSeq))
      .where(and(q.sqlDialect.amongNumbers(m.contactSeq, arg("seqs")), eq(m.status, "MEMBER"), isNull(l.deletedAt))),
  );
}
