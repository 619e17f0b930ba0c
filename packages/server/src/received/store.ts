import { addressKey } from "@mailsvc/sdk/contract";
import { and, eq, gte, inArray, isNull, lt, or, type SQL } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { findEmailById } from "../emails/emails.ts";
import { notFound } from "../lib/api-error.ts";
import { TEST_MAIL_FROM } from "../lib/ids.ts";
import { hashMessageId } from "../lib/message-id.ts";
import { joinParts, splitIntoChunks, splitIntoParts } from "../lib/parts.ts";
import { withdrawPassedOn } from "../marketplace/messages/messages.ts";
import type { IncomingFile } from "./incoming.ts";
import { IS_VERIFIED, type ReceivedTables } from "./tables.ts";

export type ReceivedRow = ReceivedTables["received"]["$inferSelect"];
export type ReceivedFileRow = ReceivedTables["receivedFiles"]["$inferSelect"];

// The number under which the message itself is stored; files count from 1.
const RAW = 0;

/** A received mail. Throws ApiError not_found. */
export async function getReceivedRow(q: Tx | Reader, workspaceId: string, id: string): Promise<ReceivedRow> {
  const [row] = await findRows(q, q.t.received, { id });
  if (row?.workspaceId !== workspaceId) throw notFound("received mail", id);
  return row;
}

/** Condition: the mail answers test mail, or does not. */
export function isTest({ t: { received } }: Pick<Reader, "t">, test: boolean): SQL | undefined {
  return test ? gte(received.emailId, TEST_MAIL_FROM) : or(isNull(received.emailId), lt(received.emailId, TEST_MAIL_FROM));
}

/** The files of a mail in their order, without their bytes. */
export async function listFiles(q: Tx | Reader, { id, files }: Pick<ReceivedRow, "id" | "files">): Promise<ReceivedFileRow[]> {
  if (files === 0) return [];
  return (await findRows(q, q.t.receivedFiles, { receivedId: id })).sort((one, other) => one.number - other.number);
}

/** The bytes of a mail as it came. */
export function readRaw(read: Reader, { id, size }: ReceivedRow): Promise<Uint8Array> {
  return readParts(read, id, RAW, size);
}

/** The bytes of a file of a mail. */
export function readFile(read: Reader, { receivedId, number, size }: ReceivedFileRow): Promise<Uint8Array> {
  return readParts(read, receivedId, number, size);
}

/** Inserts the bytes of a mail and its files, in parts. */
export async function insertFiles(tx: Tx, receivedId: string, raw: Uint8Array, files: readonly IncomingFile[]): Promise<void> {
  const { receivedFiles, receivedParts } = tx.t;
  await tx.insertAll(
    receivedFiles,
    files.map(({ content, ...file }, i) => ({ ...file, receivedId, number: i + 1, size: content.length })),
    { newKeys: true },
  );
  const parts = [raw, ...files.map(({ content }) => content)].flatMap((bytes, file) => {
    const { first, others } = splitIntoParts(bytes);
    return [first, ...others].map((content, part) => ({ receivedId, file, part, content }));
  });
  await tx.insertAll(receivedParts, parts, { newKeys: true });
}

async function readParts(read: Reader, receivedId: string, file: number, size: number): Promise<Uint8Array> {
  const readPart = async (part: number): Promise<Uint8Array> => {
    const [found] = await findRows(read, read.t.receivedParts, { receivedId, file, part });
    if (!found) throw notFound("received mail", receivedId);
    return found.content;
  };
  return joinParts(await readPart(0), size, readPart);
}

/** Deletes mails with their files, and what agents see of them. Returns how many there were. */
export async function deleteReceivedRows(tx: Tx, ids: readonly string[]): Promise<number> {
  const { received, receivedFiles, receivedParts } = tx.t;
  let deleted = 0;
  for (const chunk of splitIntoChunks(ids)) {
    await withdrawPassedOn(tx, chunk);
    await tx.delete(receivedParts).where(inArray(receivedParts.receivedId, chunk));
    await tx.delete(receivedFiles).where(inArray(receivedFiles.receivedId, chunk));
    deleted += (await tx.delete(received).where(inArray(received.id, chunk)).returning({ id: received.id })).length;
  }
  return deleted;
}

/** The newest mail of a mailbox with a Message-ID. Throws ApiError not_found. */
export async function getRowByMessageId(q: Reader, { workspaceId, address }: Mailbox, messageId: string): Promise<ReceivedRow> {
  const rows = await findRows(q, q.t.received, { workspaceId, messageKey: hashMessageId(messageId), toKey: addressKey(address) });
  const row = rows.reduce<ReceivedRow | null>((newest, one) => (newest === null || one.id > newest.id ? one : newest), null);
  if (row === null) throw notFound("received mail", messageId);
  return row;
}

/** An address whose mail a workspace receives. */
export interface Mailbox {
  readonly workspaceId: string;
  readonly address: string;
  /** The email that an answer to this address is about; null for an address of an inbound domain. */
  readonly emailId: string | null;
}

/** The mailbox of the reply address of an email; null once the email is gone. */
export async function findReplyMailbox(read: Reader, emailId: string, address: string): Promise<Mailbox | null> {
  const email = await findEmailById(read, emailId);
  return email && { workspaceId: email.workspaceId, address, emailId };
}

/** The mailbox of an address at a verified inbound domain; null for all others. */
export async function findDomainMailbox(read: Reader, address: string, domain: string): Promise<Mailbox | null> {
  const { inboundDomains: t } = read.t;
  const [found] = await read
    .select({ workspaceId: t.workspaceId })
    .from(t)
    .where(and(eq(t.domain, domain), IS_VERIFIED));
  return found ? { workspaceId: found.workspaceId, address, emailId: null } : null;
}
