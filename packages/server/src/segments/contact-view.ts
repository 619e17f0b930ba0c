import { mapContactTexts } from "@mailsvc/sdk/contract";
import { and, eq, inArray, isNull } from "drizzle-orm";
import { type ContactRow, tagKey } from "../contacts/contacts.ts";
import type { Reader, Tx } from "../db/db.ts";
import type { ContactView } from "./evaluate.ts";

/** A contact with its view for rules. */
export interface LoadedContact {
  contact: ContactRow;
  view: ContactView;
}

/** Loads contacts with what rules can ask about them, by `seq`; a thousand at most. Contacts of other workspaces are skipped. */
export async function loadContactViews(q: Tx | Reader, workspaceId: string, seqs: readonly number[]): Promise<Map<number, LoadedContact>> {
  if (seqs.length === 0) return new Map();
  const { contacts: c, engagement: e, listMembers: m, lists: l } = q.t;
  const rows = await q
    .select({ contact: c, engagement: e })
    .from(c)
    .leftJoin(e, eq(e.contactSeq, c.seq))
    .where(and(eq(c.workspaceId, workspaceId), inArray(c.seq, [...seqs])));
  const memberships = await q
    .select({ seq: m.contactSeq, id: l.id })
    .from(m)
    .innerJoin(l, eq(l.seq, m.listSeq))
    .where(and(inArray(m.contactSeq, [...seqs]), eq(m.status, "MEMBER"), isNull(l.deletedAt)));
  const lists = new Map<number, string[]>();
  for (const { seq, id } of memberships) lists.set(seq, [...(lists.get(seq) ?? []), id]);
  return new Map(
    rows.map(({ contact, engagement }) => [
      contact.seq,
      {
        contact,
        view: {
          email: contact.emailKey,
          ...mapContactTexts((field) => contact[field]),
          status: contact.status,
          createdAt: contact.createdAt,
          updatedAt: contact.updatedAt,
          lastSentAt: engagement?.lastSentAt ?? null,
          lastDeliveredAt: engagement?.lastDeliveredAt ?? null,
          lastOpenedAt: engagement?.lastOpenedAt ?? null,
          lastClickedAt: engagement?.lastClickedAt ?? null,
          tags: contact.tags.map(tagKey),
          lists: lists.get(contact.seq) ?? [],
          customFields: contact.customFields,
        },
      },
    ]),
  );
}
