import { and, desc, eq, inArray } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { assumeEmailHeld } from "../db/held.ts";
import {
  type EmailLabel,
  readMessageId,
  toAutomationLabel,
  toLabelOfTag,
  toMessageLabel,
  toTemplateLabel,
  toThreadLabel,
} from "../lib/message-id.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import { type ContentsRow, type EmailRow, type FullMail, findMail } from "./store.ts";

/** Puts a mail whose contents are its own into a conversation, by which it is found: each of its recipients. */
export async function joinThread(tx: Tx, workspaceId: string, mailId: string, threadId: string): Promise<void> {
  const { contents, emailLabels } = tx.t;
  const mail = await findMail(tx, workspaceId, mailId);
  if (mail === null) return;
  await tx.update(contents).set({ threadId }).where(eq(contents.id, mail.contents.id));
  const label = toThreadLabel(threadId);
  await tx.insertAll(
    emailLabels,
    mail.emails.map(({ id }) => ({ workspaceId, label, emailId: assumeEmailHeld(id) })),
  );
}

/**
 * Finds a mail by its Message-ID: ours, which has its id, or that of a program that submitted the message. A program may submit a message
 * once for each recipient, which makes as many mails: returns the one to the recipient `toKey`, else the newest.
 */
export async function findMailByMessageId(
  q: Tx | Reader,
  workspaceId: string,
  messageId: string,
  toKey?: string,
): Promise<FullMail | null> {
  const id =
    readMessageId(messageId) ??
    (toKey === undefined ? null : await findSubmittedTo(q, workspaceId, messageId, toKey)) ??
    (await findSubmitted(q, workspaceId, messageId));
  return id === null ? null : findMail(q, workspaceId, id);
}

async function findSubmittedTo(q: Tx | Reader, workspaceId: string, messageId: string, toKey: string): Promise<string | null> {
  const { emails: e, emailLabels: t } = q.t;
  const [newest] = await q
    .select({ id: t.emailId })
    .from(t)
    .innerJoin(e, and(eq(e.workspaceId, t.workspaceId), eq(e.id, t.emailId)))
    .where(and(eq(t.workspaceId, workspaceId), eq(t.label, toMessageLabel(messageId)), eq(e.toKey, toKey)))
    .orderBy(desc(t.emailId))
    .limit(1);
  return newest?.id ?? null;
}

async function findSubmitted(q: Tx | Reader, workspaceId: string, messageId: string): Promise<string | null> {
  const { emailLabels: t } = q.t;
  const [newest] = await q
    .select({ id: t.emailId })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.label, toMessageLabel(messageId))))
    .orderBy(desc(t.emailId))
    .limit(1);
  return newest?.id ?? null;
}

/** Emails that were accepted by the next mail server, as they were before and with the Message-ID that it gave them, if any. */
type Renamed = Pick<EmailRow, "workspaceId" | "id" | "sentAs"> & { readonly newName: string | null | undefined };

/** Lets emails be found by the Message-ID under which they were sent on. */
export async function labelSent(tx: Tx, emails: readonly Renamed[]): Promise<void> {
  const { emailLabels: t } = tx.t;
  for (const { workspaceId, id, sentAs, newName } of emails) {
    if (!newName || newName === sentAs) continue;
    // Sent again, it has another one.
    if (sentAs !== null)
      await tx.delete(t).where(and(eq(t.workspaceId, workspaceId), eq(t.label, toMessageLabel(sentAs)), eq(t.emailId, id)));
    await tx
      .insert(t)
      // Moved in this transaction.
      .values({ workspaceId, label: toMessageLabel(newName), emailId: assumeEmailHeld(id) })
      .onConflictDoNothing();
  }
}

/** Fields that determine the labels of an email. */
type Labelled = Pick<ContentsRow, "tags" | "template"> & Partial<Pick<ContentsRow, "automationId" | "threadId" | "messageId">>;

/** Emails that share contents, with what their labels follow from. */
interface LabelledEmails {
  readonly emails: readonly Pick<EmailRow, "workspaceId" | "id">[];
  readonly contents: Labelled;
}

/**
 * Stores the labels of emails. They are rows of a table of their own, so that an email without any pays nothing for them. Emails of
 * campaigns have none: they are found by their campaign.
 */
export async function insertLabels(tx: Tx, labelled: readonly LabelledEmails[]): Promise<void> {
  const rows = labelled.flatMap(({ emails, contents }) => {
    const labels = listLabels(contents);
    return emails.flatMap(({ workspaceId, id }) => labels.map((label) => ({ workspaceId, label, emailId: assumeEmailHeld(id) })));
  });
  if (rows.length > 0) await tx.insertAll(tx.t.emailLabels, rows, { newKeys: true });
}

/**
 * Deletes the labels of emails whose contents still exist, and returns how many there were. The labels follow from the contents and the
 * name that a relay gave the email, so they need no index by email: it took a seventh of SQLite's work for a send with two tags.
 */
export async function deleteLabels(
  tx: Tx,
  workspaceId: string,
  emails: readonly Pick<EmailRow, "id" | "contentsId" | "sentAs">[],
): Promise<number> {
  const { contents: c, emailLabels: t } = tx.t;
  const labelsOf = new Map<number, EmailLabel[]>();
  for (const ids of splitIntoChunks([...new Set(emails.map(({ contentsId }) => contentsId))])) {
    const { id, tags, template, automationId, threadId, messageId } = c;
    const found = await tx.select({ id, tags, template, automationId, threadId, messageId }).from(c).where(inArray(id, ids));
    for (const contents of found) labelsOf.set(contents.id, listLabels(contents));
  }
  const labelled = emails.flatMap(({ id, contentsId, sentAs }) => {
    const labels = [...(labelsOf.get(contentsId) ?? []), ...(sentAs === null ? [] : [toMessageLabel(sentAs)])];
    return labels.map((label) => ({ label, id }));
  });
  let deleted = 0;
  for (const [label, own] of Map.groupBy(labelled, (one) => one.label))
    for (const chunk of splitIntoChunks(own.map(({ id }) => id))) {
      const rows = and(eq(t.workspaceId, workspaceId), eq(t.label, label), inArray(t.emailId, chunk));
      deleted += (await tx.delete(t).where(rows).returning({ id: t.emailId })).length;
    }
  return deleted;
}

function listLabels({ tags, template, automationId, threadId, messageId }: Labelled): EmailLabel[] {
  const labels: EmailLabel[] = Object.entries(tags).map(([name, value]) => toLabelOfTag(`${name}=${value}`));
  // A stored name is `slug@version`.
  if (template !== null) labels.push(toTemplateLabel(template.slice(0, template.lastIndexOf("@"))));
  if (automationId) labels.push(toAutomationLabel(automationId));
  if (threadId) labels.push(toThreadLabel(threadId));
  if (messageId && readMessageId(messageId) === null) labels.push(toMessageLabel(messageId));
  return labels;
}
