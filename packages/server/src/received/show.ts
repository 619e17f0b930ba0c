import type { ReceivedAttachment, ReceivedMail, ReceivedMailDetail } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import { iso } from "../lib/clock.ts";
import { isTestMail } from "../lib/test-mail.ts";
import { splitAddresses } from "./reply-addresses.ts";
import { listFiles, type ReceivedFileRow, type ReceivedRow } from "./store.ts";

/** Columns of a mail in a list. The other ones may hold megabytes of text. */
type ListedRow = Omit<
  ReceivedRow,
  "references" | "headers" | "replyTo" | "reply" | "text" | "html" | "messageKey" | "contentKey" | "truncated"
>;

/** A mail with its texts. */
export async function toDetail(read: Reader | Tx, row: ReceivedRow): Promise<ReceivedMailDetail> {
  const { text, html, reply, replyTo, references, headers, truncated } = row;
  const attachments = (await listFiles(read, row)).map(toAttachment);
  return { ...toReceivedMail(row), text, html, reply, replyTo: splitAddresses(replyTo), references, headers, attachments, truncated };
}

/** A mail as lists show it. */
export function toReceivedMail(row: ListedRow): ReceivedMail {
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
export function toAttachment({ number, filename, contentType, contentId, size }: ReceivedFileRow): ReceivedAttachment {
  return { number, filename, contentType, contentId, size };
}
