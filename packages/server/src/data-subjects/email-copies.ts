import { and, count, eq, inArray, or, type SQL } from "drizzle-orm";
import { forgetRecipients } from "../campaigns/campaigns.ts";
import type { Reader, Tx } from "../db/db.ts";
import { forgetDeliveries } from "../developer-webhooks/developer-webhooks.ts";
import { isTo } from "../emails/emails.ts";
import { deleteEvents } from "../events/events.ts";
import { splitIntoChunks } from "../lib/chunks.ts";
import { deleteEngagements } from "../tracking/tracking.ts";
import type { DataSubjectDeps } from "./deps.ts";

/** An email to an address. */
export interface EmailCopy {
  id: string;
  contentsId: number;
  /** True if other emails have the same contents. */
  shared: boolean;
}

/**
 * All emails to an address. **Invariant:** no email joins an existing contents row after its send was accepted, so `shared` stays
 * right until the transaction that erases. The contents of a campaign always count as shared: they name nobody.
 */
export async function findEmailCopies(read: Reader, workspaceId: string, toKey: string): Promise<EmailCopy[]> {
  const { emails: t } = read.t;
  const emails = await read
    .select({ id: t.id, contentsId: t.contentsId, campaignId: t.campaignId })
    .from(t)
    .where(isTo(read.t, workspaceId, toKey));
  const uses = new Map<number, number>();
  const own = emails.filter((e) => e.campaignId === null);
  for (const chunk of splitIntoChunks([...new Set(own.map((e) => e.contentsId))]))
    for (const { contentsId, n } of await read
      .select({ contentsId: t.contentsId, n: count() })
      .from(t)
      .where(and(eq(t.workspaceId, workspaceId), inArray(t.contentsId, chunk)))
      .groupBy(t.contentsId))
      uses.set(contentsId, n);
  return emails.map(({ id, contentsId, campaignId }) => ({
    id,
    contentsId,
    shared: campaignId !== null || (uses.get(contentsId) ?? 1) > 1,
  }));
}

/** Deletes emails with their events, and their contents unless other emails share them. */
export async function deleteEmailCopies(
  tx: Tx,
  deps: DataSubjectDeps,
  workspaceId: string,
  copies: readonly EmailCopy[],
): Promise<{ emails: number; events: number }> {
  const { emails, events, contents, attachments, attachmentParts } = tx.t;
  const deleted = { emails: 0, events: 0 };
  for (const chunk of splitIntoChunks(copies)) {
    const ids = chunk.map((copy) => copy.id);
    await forgetRecipients(tx, deps, workspaceId, ids);
    const rows = await tx
      .delete(emails)
      .where(and(eq(emails.workspaceId, workspaceId), inArray(emails.id, ids)))
      .returning({ id: emails.id });
    deleted.emails += rows.length;
    await deleteEngagements(tx, workspaceId, ids);
    deleted.events += await deleteWithDeliveries(tx, inArray(events.emailId, ids));
    const unshared = chunk.filter((copy) => !copy.shared).map((copy) => copy.contentsId);
    if (unshared.length === 0) continue;
    await tx.delete(attachmentParts).where(inArray(attachmentParts.contentsId, unshared));
    await tx.delete(attachments).where(inArray(attachments.contentsId, unshared));
    await tx.delete(contents).where(and(eq(contents.workspaceId, workspaceId), inArray(contents.id, unshared)));
  }
  return deleted;
}

/** Deletes captured emails to an address. */
export async function deleteCapturedEmails(tx: Tx, workspaceId: string, toKey: string): Promise<number> {
  const { inbox: t, inboxParts } = tx.t;
  const own = and(eq(t.workspaceId, workspaceId), eq(t.to, toKey));
  await tx.delete(inboxParts).where(inArray(inboxParts.mailId, tx.select({ id: t.id }).from(t).where(own)));
  return (await tx.delete(t).where(own).returning({ id: t.id })).length;
}

export async function deleteContactEvents(tx: Tx, contactId: string): Promise<number> {
  const { events: t } = tx.t;
  return deleteWithDeliveries(tx, eq(t.contactId, contactId));
}

/** Deletes events, and what receivers of webhooks answered to them. Returns how many events there were. */
async function deleteWithDeliveries(tx: Tx, which: SQL): Promise<number> {
  const deleted = await deleteEvents(tx, which);
  await forgetDeliveries(tx, deleted);
  return deleted.length;
}

/** Deletes stored responses of idempotent requests that contain one of these texts. */
export async function deleteIdempotentResponses(tx: Tx, workspaceId: string, texts: readonly string[]): Promise<number> {
  const { idempotency: t, keys } = tx.t;
  const keysOfWorkspace = tx.select({ id: keys.id }).from(keys).where(eq(keys.workspaceId, workspaceId));
  return (
    await tx
      .delete(t)
      .where(and(inArray(t.keyId, keysOfWorkspace), or(...texts.map((text) => tx.sqlDialect.holds(t.answer, text)))))
      .returning({ keyId: t.keyId })
  ).length;
}
