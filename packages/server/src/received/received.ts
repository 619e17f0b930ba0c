import { addressKey, type Page, type ReceivedAttachment, type ReceivedMail, type ReceivedMailDetail } from "@mailsvc/sdk/contract";
import { and, desc, eq, getTableColumns, gte, inArray, isNotNull, isNull, lt, type SQL } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { chooseFilter, type Filter, listPage, type PageInput } from "../db/pagination.ts";
import type { EmailDeps } from "../emails/deps.ts";
import { selectIdsTo } from "../emails/emails.ts";
import { notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import type { DomainRecords } from "../lib/domain-records.ts";
import { firstIdAt, isTestMail } from "../lib/ids.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import { MB } from "../lib/units.ts";
import type { AgentDeps } from "../marketplace/agent-access.ts";
import type { DeleteOld } from "../retention/retention.ts";
import { splitAddresses } from "./reply-addresses.ts";
import {
  deleteReceivedRows,
  getReceivedRow,
  getRowByMessageId,
  isTest,
  listFiles,
  type Mailbox,
  type ReceivedFileRow,
  type ReceivedRow,
  readFile,
} from "./store.ts";

export { findInboundDomain } from "./domains.ts";
export { type IncomingFile, type IncomingMail, storeIncoming } from "./incoming.ts";
export { DailyQuotaReached, isQuotaReached } from "./quota.ts";
export { findDomainMailbox, findReplyMailbox, type Mailbox } from "./store.ts";

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

// A page holds at most this many mails, and ends after one with which its texts are longer than this: a mail may have megabytes.
const PAGE = 50;
const MAX_CHARACTERS = 2 * MB;

/** The person whose mail is meant: what came from the address, or answers an email to it, from whatever address. */
interface Writer {
  readonly workspaceId: string;
  /** Address as `addressKey` returns it. */
  readonly address: string;
}

/** A page of the mails that a person wrote, newest first, and the id behind which the next one begins; null after the last. */
export async function exportReceived(
  read: Reader,
  { workspaceId, address, before }: Writer & { readonly before: string | null },
): Promise<{ readonly received: ReceivedMailDetail[]; readonly last: string | null }> {
  const { received: t } = read.t;
  const find = (which: SQL) =>
    read
      .select({ id: t.id })
      .from(t)
      .where(and(eq(t.workspaceId, workspaceId), which, before === null ? undefined : lt(t.id, before)))
      .orderBy(desc(t.id))
      .limit(PAGE + 1);
  const found = [...(await find(eq(t.fromKey, address))), ...(await find(inArray(t.emailId, selectIdsTo(read, workspaceId, address))))];
  const ids = [...new Set(found.map(({ id }) => id))]
    .sort()
    .reverse()
    .slice(0, PAGE + 1);
  const received: ReceivedMailDetail[] = [];
  let characters = 0;
  let last: string | null = null;
  for (const id of ids.slice(0, PAGE)) {
    last = id;
    const [row] = await findRows(read, t, { id });
    if (!row) continue;
    const mail = await toDetail(read, row);
    received.push(mail);
    characters += mail.text.length + mail.reply.length + (mail.html?.length ?? 0);
    if (characters > MAX_CHARACTERS) break;
  }
  return { received, last: last !== null && last !== ids.at(-1) ? last : null };
}

/** Deletes what a person wrote: from the address, or as an answer to one of these emails. */
export async function eraseReceived(
  tx: Tx,
  { workspaceId, address, emails }: Writer & { readonly emails: readonly { id: string }[] },
): Promise<number> {
  const { received: t } = tx.t;
  const ofWorkspace = eq(t.workspaceId, workspaceId);
  const find = (which: SQL) => tx.select({ id: t.id }).from(t).where(and(ofWorkspace, which));
  const ids = (await find(eq(t.fromKey, address))).map(({ id }) => id);
  for (const chunk of splitIntoChunks(emails.map(({ id }) => id))) ids.push(...(await find(inArray(t.emailId, chunk))).map(({ id }) => id));
  return deleteReceivedRows(tx, [...new Set(ids)]);
}

/** Columns of a mail in a list. The other ones may hold megabytes of text. */
type ListedRow = Omit<
  ReceivedRow,
  "references" | "headers" | "replyTo" | "reply" | "text" | "html" | "messageKey" | "contentKey" | "truncated"
>;

/** A mail with its texts. */
async function toDetail(read: Reader | Tx, row: ReceivedRow): Promise<ReceivedMailDetail> {
  const { text, html, reply, replyTo, references, headers, truncated } = row;
  const attachments = (await listFiles(read, row)).map(toAttachment);
  return { ...toReceivedMail(row), text, html, reply, replyTo: splitAddresses(replyTo), references, headers, attachments, truncated };
}

/** A mail as lists show it. */
function toReceivedMail(row: ListedRow): ReceivedMail {
  return {
    id: row.id,
    threadId: row.threadId,
    emailId: row.emailId,
    contactId: row.contactId,
    campaignId: row.campaignId,
    to: row.to,
    from: row.from,
    fromName: row.fromName,
    subject: row.subject,
    messageId: row.messageId,
    autoReply: row.autoReply,
    attachmentCount: row.files,
    authentication: row.authentication,
    size: row.size,
    test: isTestMail(row.emailId),
    receivedAt: iso(row.receivedAt),
  };
}

/** A file as the API shows it. */
function toAttachment({ number, filename, contentType, contentId, size }: ReceivedFileRow): ReceivedAttachment {
  return { number, filename, contentType, contentId, size };
}

export interface ReceivedDeps extends EmailDeps, Pick<AgentDeps, "runClock" | "deliverySignal" | "webhooks" | "seal" | "staging"> {
  readonly dns: Pick<DomainRecords, "txt" | "mx" | "addresses">;
  readonly config: EmailDeps["config"] &
    AgentDeps["config"] & {
      readonly inboundDomain: string | null;
    };
}

// Mails deleted at once: each may have 50 MB.
const OLD_MAILS = 10;

/** Deletes old received mail. */
export const deleteOldReceived: DeleteOld = async (tx, keys, before) => {
  const { received: m } = tx.t;
  const old = await tx
    .select({ id: m.id })
    .from(m)
    .where(and(inArray(m.id, keys.map(String)), lt(m.receivedAt, before)))
    .limit(OLD_MAILS);
  await deleteReceivedRows(
    tx,
    old.map(({ id }) => id),
  );
  return old.length === OLD_MAILS ? "more" : undefined;
};
