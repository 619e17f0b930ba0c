import { addressKey, type Page, type ReceivedAttachment, type ReceivedMail, type ReceivedMailDetail } from "@mailsvc/sdk/contract";
import { and, eq, getTableColumns, gte, isNotNull, isNull, lt } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { chooseFilter, type Filter, listPage, type PageInput } from "../db/pagination.ts";
import { notFound } from "../lib/api-error.ts";
import { firstIdAt } from "../lib/ids.ts";
import type { Mailbox } from "./mailboxes.ts";
import { toAttachment, toDetail, toReceivedMail } from "./show.ts";
import { deleteReceivedRows, getReceivedRow, getRowByMessageId, isTest, listFiles, readFile } from "./store.ts";

export { eraseReceived, exportReceived } from "./data-subject.ts";
export { findInboundDomain } from "./domains.ts";
export { type IncomingFile, type IncomingMail, storeIncoming } from "./incoming.ts";
export { findDomainMailbox, findReplyMailbox, type Mailbox } from "./mailboxes.ts";
export { DailyQuotaReached, isQuotaReached } from "./quota.ts";
export { deleteReceivedRows } from "./store.ts";

interface ReceivedQuery extends PageInput {
  from?: string | undefined;
  to?: string | undefined;
  thread?: string | undefined;
  email?: string | undefined;
  autoReply?: boolean | undefined;
  since?: string | undefined;
  until?: string | undefined;
  /** Answers to test mail, instead of all other mail. */
  test: boolean;
}

/** A page of received mail, newest first. Each filter by an address, a conversation or an email reads few rows among a million. */
export async function listReceived(read: Reader, workspaceId: string, input: ReceivedQuery): Promise<Page<ReceivedMail>> {
  const { received: t } = read.t;
  const { from, to, thread, email, autoReply, since, until, test } = input;
  // Ids rise with time, so that every index serves a period too.
  const scope = and(
    eq(t.workspaceId, workspaceId),
    since === undefined ? undefined : gte(t.id, firstIdAt("rcv", Date.parse(since))),
    until === undefined ? undefined : lt(t.id, firstIdAt("rcv", Date.parse(until))),
    // Nearly all mail is no test mail: without another filter it is read on the way down.
    test ? undefined : isTest(read, false),
  );
  const filters: Filter[] = [];
  if (email !== undefined) filters.push({ scope, condition: eq(t.emailId, email) });
  if (thread !== undefined) filters.push({ scope, condition: eq(t.threadId, thread) });
  if (from !== undefined) filters.push({ scope, condition: eq(t.fromKey, addressKey(from)) });
  if (to !== undefined) filters.push({ scope, condition: eq(t.toKey, addressKey(to)) });
  const chosen = filters.length === 0 ? { where: scope, unindexed: undefined } : await chooseFilter(read, t, filters);
  const isAutomatic = autoReply === undefined ? undefined : autoReply ? isNotNull(t.autoReply) : isNull(t.autoReply);
  const { references, headers, replyTo, reply, text, html, messageKey, contentKey, truncated, ...columns } = getTableColumns(t);
  const others = [chosen.unindexed, isAutomatic, test ? isTest(read, true) : undefined].filter((one) => one !== undefined);
  const unindexed = others.length === 0 ? undefined : and(...others);
  return listPage(read, input, { table: t, columns, where: chosen.where, unindexed, toItem: toReceivedMail });
}

/** One received mail with its texts. Throws ApiError not_found. */
export async function getReceived(read: Reader, workspaceId: string, id: string): Promise<ReceivedMailDetail> {
  return toDetail(read, await getReceivedRow(read, workspaceId, id));
}

/** The files of a received mail. Throws ApiError not_found. */
export async function listAttachments(read: Reader, workspaceId: string, id: string): Promise<{ data: ReceivedAttachment[] }> {
  return { data: (await listFiles(read, await getReceivedRow(read, workspaceId, id))).map(toAttachment) };
}

/** The bytes of a file, by its number from 1. Throws ApiError not_found. */
export async function readAttachment(read: Reader, workspaceId: string, id: string, number: string): Promise<Uint8Array> {
  const files = await listFiles(read, await getReceivedRow(read, workspaceId, id));
  const file = files.find((one) => String(one.number) === number);
  if (!file) throw notFound("file", number);
  return readFile(read, file);
}

/** The newest mail of a mailbox with a Message-ID. Throws ApiError not_found. */
export async function getReceivedByMessageId(read: Reader, mailbox: Mailbox, messageId: string): Promise<ReceivedMail> {
  return toReceivedMail(await getRowByMessageId(read, mailbox, messageId));
}

/** Deletes a received mail. Throws ApiError not_found. */
export async function deleteReceived(tx: Tx, workspaceId: string, id: string): Promise<ReceivedMail> {
  const row = await getReceivedRow(tx, workspaceId, id);
  await deleteReceivedRows(tx, [id]);
  return toReceivedMail(row);
}
