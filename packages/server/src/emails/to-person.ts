import { parseAnyMailbox } from "@mailsvc/sdk/contract";
import { and, desc, eq, inArray } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import { forgetAddressee } from "../mail/header.ts";
import { type EmailRow, isTest } from "./store.ts";

/** An email to an address. */
export interface EmailCopy {
  id: string;
  contentsId: number;
  /** True for an email of a campaign, whose contents name nobody and stay. */
  ofCampaign: boolean;
  /** The mail whose headers name the address together with other recipients; null if there is none. */
  namedIn: string | null;
  /** The Message-ID that its relay gave it; null for ours. */
  sentAs: string | null;
}

/** All emails to an address. */
export async function findEmailCopies(read: Reader | Tx, workspaceId: string, toKey: string): Promise<EmailCopy[]> {
  const { emails: t } = read.t;
  const emails = await read
    .select({ id: t.id, contentsId: t.contentsId, campaignId: t.campaignId, mailId: t.mailId, kind: t.kind, sentAs: t.sentAs })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.toKey, toKey)));
  return emails.map(({ id, contentsId, campaignId, mailId, kind, sentAs }) => ({
    id,
    contentsId,
    ofCampaign: campaignId !== null,
    namedIn: kind === "bcc" ? null : mailId,
    sentAs,
  }));
}

/** A query for the ids of all emails to an address. */
export function selectIdsTo(q: Reader | Tx, workspaceId: string, toKey: string) {
  const { emails: t } = q.t;
  return q
    .select({ id: t.id })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.toKey, toKey)));
}

/** The last emails to the address of an email that were accepted or given up, newest first, without test mail. */
export function findLastEnded(
  q: Reader | Tx,
  { workspaceId, toKey }: EmailRow,
  limit: number,
): Promise<Pick<EmailRow, "status" | "lastError" | "sentAt" | "createdAt">[]> {
  const { emails: t } = q.t;
  return Promise.resolve(
    q
      .select({ status: t.status, lastError: t.lastError, sentAt: t.sentAt, createdAt: t.createdAt })
      .from(t)
      .where(
        and(
          eq(t.workspaceId, workspaceId),
          // Without the hint, the query would walk all emails of the workspace.
          q.sqlDialect.rarely(eq(t.toKey, toKey)),
          isTest(q, false),
          inArray(t.status, ["sent", "delivered", "bounced", "complained", "failed"]),
        ),
      )
      .orderBy(desc(t.id))
      .limit(limit),
  );
}

/** Deletes emails, but not their contents. Returns how many there were. */
export async function deleteEmails(tx: Tx, workspaceId: string, emails: readonly EmailCopy[]): Promise<number> {
  const { emails: t } = tx.t;
  let deleted = 0;
  for (const chunk of splitIntoChunks(emails)) {
    const ids = chunk.map(({ id }) => id);
    deleted += (
      await tx
        .delete(t)
        .where(and(eq(t.workspaceId, workspaceId), inArray(t.id, ids)))
        .returning({ id: t.id })
    ).length;
  }
  return deleted;
}

/** Takes an address out of the headers of a mail that others get too. Returns how many mails named it. */
export async function eraseAddressee(tx: Tx, contentsId: number, address: string): Promise<number> {
  const { contents: t } = tx.t;
  const [found] = await tx.select({ addressees: t.addressees, asIs: t.asIs }).from(t).where(eq(t.id, contentsId));
  if (!found?.addressees) return 0;
  if (found.asIs === true) await eraseFromMessage(tx, contentsId, address);
  const others = (list: readonly string[]): string[] => list.filter((text) => parseAnyMailbox(text).key !== address);
  const { to, cc } = found.addressees;
  await tx
    .update(t)
    .set({ addressees: { ...found.addressees, to: others(to), cc: others(cc) } })
    .where(eq(t.id, contentsId));
  return 1;
}

/** Takes an address out of the headers of a message that goes out as it came in; they are in its first part. */
async function eraseFromMessage(tx: Tx, contentsId: number, address: string): Promise<void> {
  const { attachments: t } = tx.t;
  const [message] = await tx.select({ content: t.content, size: t.size }).from(t).where(eq(t.contentsId, contentsId));
  if (!message) return;
  const content = await forgetAddressee(Buffer.from(message.content), address);
  const size = message.size - message.content.length + content.length;
  await tx.update(t).set({ content, size }).where(eq(t.contentsId, contentsId));
}
