import { and, desc, eq, isNull } from "drizzle-orm";
import { findContactByEmail } from "../contacts/contacts.ts";
import type { SubscriberLists } from "../unsubscribe/unsubscribe.ts";
import type { ListDeps } from "./deps.ts";
import { removeMembers } from "./members.ts";

/** The lists that people see on their preference page: those they are members of, without private ones. */
export function subscriberLists(deps: ListDeps): SubscriberLists {
  return {
    find: async (q, { workspaceId, email }) => {
      const contact = await findContactByEmail(q, workspaceId, email);
      if (!contact) return [];
      const { lists: t, listMembers: m } = q.t;
      return q
        .select({ id: t.id, name: t.name })
        .from(m)
        .innerJoin(t, eq(t.seq, m.listSeq))
        .where(and(eq(m.contactSeq, contact.seq), eq(m.status, "MEMBER"), isNull(t.deletedAt), eq(t.public, true)))
        .orderBy(desc(t.id));
    },
    leave: async (tx, { workspaceId, email }, listId) =>
      void (await removeMembers(tx, deps, workspaceId, listId, [email], { source: "preferences" })),
  };
}
