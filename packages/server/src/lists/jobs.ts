import { and, eq, inArray } from "drizzle-orm";
import { ApiError } from "../lib/api-error.ts";
import { clearMembers } from "../memberships/memberships.ts";
import type { JobHandler } from "../queue/queue.ts";
import { invite } from "./confirmation.ts";
import type { ListDeps } from "./deps.ts";
import { pickListTables } from "./lists.ts";

/** Sends confirmation emails to contacts that were just added, except to those that have one or need none any more. */
export function sendConfirmations(deps: ListDeps): JobHandler {
  return async ({ payload }) => ({
    commit: async (tx) => {
      const { listMembers: m, lists: l, contacts: c } = tx.t;
      const found = await tx
        .select({ member: m, list: l, contact: c })
        .from(m)
        .innerJoin(l, eq(l.seq, m.listSeq))
        .innerJoin(c, eq(c.seq, m.contactSeq))
        .where(and(eq(l.id, String(payload.listId)), inArray(m.contactSeq, payload.seqs as number[]), eq(m.status, "PENDING")));
      for (const one of found) {
        if (one.member.tokenHash !== null || one.list.deletedAt !== null) continue;
        try {
          await invite(tx, deps, one, typeof payload.language === "string" ? payload.language : null);
        } catch (error) {
          // Suppressed since, or the sender is no longer verified. The membership stays pending, and can be resent.
          if (!(error instanceof ApiError)) throw error;
          deps.log.warn("confirmation email not sent", { listId: one.list.id, contactId: one.contact.id, code: error.code });
        }
      }
    },
  });
}

/** Deletes the members of a deleted list. */
export function clearList(deps: ListDeps): JobHandler {
  return clearMembers(deps, pickListTables, (tx, workspaceId, contactSeqs) =>
    deps.contactHooks.contactsChanged(tx, workspaceId, contactSeqs),
  );
}
