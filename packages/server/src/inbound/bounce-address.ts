import { AUTO_REPLY_TO } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import type { PendingMail } from "../delivery/delivery.ts";
import { findLiving } from "../workspaces/workspaces.ts";
import type { InboundDeps } from "./deps.ts";
import { filterConnected } from "./providers/connections.ts";

// The header by which Postmark keeps our id, because it replaces the Message-ID.
const POSTMARK_HEADER = "X-PM-Metadata-mailsvc-id";

/**
 * Gives mails the address for replies, if these are received, and the marks by which reports about them are recognised: their return path
 * at the inbound domain, if there is one, and with Postmark a header, because it replaces the Message-ID.
 */
export async function setBounceAddresses(read: Reader, { returnPath }: InboundDeps, mails: readonly PendingMail[]): Promise<void> {
  const [usePostmark, workspaces] = await Promise.all([
    filterConnected(read, listWorkspaces(mails), "postmark"),
    findLiving(read, listWorkspaces(mails.filter(({ receivesReplies }) => receivesReplies === undefined))),
  ]);
  for (const mail of mails) {
    const { replyTo, asIs } = mail.contents;
    // A message that goes out as it came in has its Reply-To, or none, in its own headers.
    const unnamed = replyTo === null && asIs !== true;
    const receivesReplies = mail.receivesReplies ?? workspaces.get(mail.email.workspaceId)?.receivesReplies ?? false;
    if (replyTo === AUTO_REPLY_TO || (unnamed && receivesReplies)) mail.replyTo = returnPath.replyAddress(mail.email.id) ?? null;
    mail.envelopeFrom = returnPath.bounceAddress(mail.email.id) ?? mail.envelopeFrom;
    if (usePostmark.has(mail.email.workspaceId)) mail.headers = { ...mail.headers, [POSTMARK_HEADER]: mail.email.id };
  }
}

function listWorkspaces(mails: readonly PendingMail[]): string[] {
  return [...new Set(mails.map(({ email }) => email.workspaceId))];
}
