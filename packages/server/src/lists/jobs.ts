import { and, asc, eq, inArray } from "drizzle-orm";
import { deleteCounters } from "../counters/counters.ts";
import type { Deps } from "../deps.ts";
import { ApiError } from "../lib/api-error.ts";
import type { JobHandler } from "../queue/queue.ts";
import { invite } from "./confirmation.ts";

/** Sends the confirmation mails of contacts that have just been added; who has one, or needs none any more, gets none. */
export function inviteMembers(deps: Deps): JobHandler {
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
          await invite(tx, deps, one);
        } catch (error) {
          // Suppressed since it was added, or the sender lost: it stays pending, and can be asked again.
          if (!(error instanceof ApiError)) throw error;
          deps.log.warn("a confirmation mail was not sent", { listId: one.list.id, contactId: one.contact.id, code: error.code });
        }
      }
    },
  });
}

// Members taken away in one transaction.
const CHUNK = 500;

/** Takes the members of a deleted list away, some at a time, and lets segments follow. */
export function clearList(deps: Deps): JobHandler {
  return async ({ payload }) => {
    const seq = Number(payload.seq);
    const { listMembers: t } = deps.db.read.t;
    const rows = await deps.db.read.select({ seq: t.contactSeq }).from(t).where(eq(t.listSeq, seq)).orderBy(asc(t.contactSeq)).limit(CHUNK);
    const seqs = rows.map((row) => row.seq);
    return {
      ...(seqs.length === CHUNK && { again: deps.clock.now() }),
      commit: async (tx) => {
        if (seqs.length > 0) await tx.delete(t).where(and(eq(t.listSeq, seq), inArray(t.contactSeq, seqs)));
        if (seqs.length < CHUNK) await deleteCounters(tx, String(payload.listId));
        await deps.audience.contactsChanged(tx, deps, String(payload.workspaceId), seqs);
      },
    };
  };
}
