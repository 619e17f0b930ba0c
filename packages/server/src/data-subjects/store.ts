import { and, count, desc, eq, inArray, lt, or } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";

/** Ids of emails to an address, newest first. */
export async function emailIdsTo(
  read: Reader,
  workspaceId: string,
  toKey: string,
  { before, limit }: { before: string | null; limit: number },
): Promise<string[]> {
  const { emails: t } = read.t;
  const rows = await read
    .select({ id: t.id })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.toKey, toKey), before === null ? undefined : lt(t.id, before)))
    .orderBy(desc(t.id))
    .limit(limit);
  return rows.map((row) => row.id);
}

/** An email to an address, and what it says; whether it said so to others as well. */
export interface Trace {
  id: string;
  contentsId: number;
  shared: boolean;
}

// Far below what either database takes as parameters of one statement.
const CHUNK = 500;

/** All emails to an address. Emails that share what they say are accepted together, so none is added to them later. */
export async function tracesOf(read: Reader, workspaceId: string, toKey: string): Promise<Trace[]> {
  const { emails: t } = read.t;
  const mine = await read
    .select({ id: t.id, contentsId: t.contentsId })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.toKey, toKey)));
  const uses = new Map<number, number>();
  for (const chunk of chunks([...new Set(mine.map((e) => e.contentsId))]))
    for (const { contentsId, n } of await read
      .select({ contentsId: t.contentsId, n: count() })
      .from(t)
      .where(and(eq(t.workspaceId, workspaceId), inArray(t.contentsId, chunk)))
      .groupBy(t.contentsId))
      uses.set(contentsId, n);
  return mine.map((email) => ({ ...email, shared: (uses.get(email.contentsId) ?? 1) > 1 }));
}

/** Deletes emails with their events, and what they say unless others were told the same. */
export async function deleteTraces(tx: Tx, workspaceId: string, traces: readonly Trace[]): Promise<{ emails: number; events: number }> {
  const { emails, events, contents, attachments } = tx.t;
  const gone = { emails: 0, events: 0 };
  for (const chunk of chunks(traces)) {
    const ids = chunk.map((trace) => trace.id);
    const deleted = await tx
      .delete(emails)
      .where(and(eq(emails.workspaceId, workspaceId), inArray(emails.id, ids)))
      .returning({ id: emails.id });
    gone.emails += deleted.length;
    gone.events += (await tx.delete(events).where(inArray(events.emailId, ids)).returning({ sequence: events.sequence })).length;
    const own = chunk.filter((trace) => !trace.shared).map((trace) => trace.contentsId);
    if (own.length === 0) continue;
    await tx.delete(attachments).where(inArray(attachments.contentsId, own));
    await tx.delete(contents).where(and(eq(contents.workspaceId, workspaceId), inArray(contents.id, own)));
  }
  return gone;
}

/** Deletes captured mail to an address. */
export async function deleteCaptured(tx: Tx, workspaceId: string, toKey: string): Promise<number> {
  const { inbox: t } = tx.t;
  return (
    await tx
      .delete(t)
      .where(and(eq(t.workspaceId, workspaceId), eq(t.to, toKey)))
      .returning({ id: t.id })
  ).length;
}

export async function deleteContactEvents(tx: Tx, contactId: string): Promise<number> {
  const { events: t } = tx.t;
  return (await tx.delete(t).where(eq(t.contactId, contactId)).returning({ sequence: t.sequence })).length;
}

/** Deletes answers kept for an Idempotency-Key in which one of these texts stands. */
export async function deleteAnswers(tx: Tx, workspaceId: string, texts: readonly string[]): Promise<number> {
  const { idempotency: t, keys } = tx.t;
  const mine = tx.select({ id: keys.id }).from(keys).where(eq(keys.workspaceId, workspaceId));
  return (
    await tx
      .delete(t)
      .where(and(inArray(t.keyId, mine), or(...texts.map((text) => tx.sqlDialect.holds(t.answer, text)))))
      .returning({ keyId: t.keyId })
  ).length;
}

function chunks<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, i) => items.slice(i * CHUNK, (i + 1) * CHUNK));
}
