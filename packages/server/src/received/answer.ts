import { AUTO_REPLY_TO, type contract, type Output, type ReceivedReplyRequest } from "@mailsvc/sdk/contract";
import type { z } from "zod";
import type { Tx } from "../db/db.ts";
import { type DecodedAttachments, findEmail, joinThread, send } from "../emails/emails.ts";
import { ApiError } from "../lib/api-error.ts";
import { isTestMail } from "../lib/ids.ts";
import type { ReceivedDeps } from "./received.ts";
import { splitAddresses } from "./reply-addresses.ts";
import { getReceivedRow, type ReceivedRow } from "./store.ts";

type Request = z.output<typeof ReceivedReplyRequest>;

type Answer = Output<typeof contract.received.reply>;

// A header value has at most 2,000 characters (SEND_LIMITS).
const MAX_REFERENCES = 1900;
const MAX_SUBJECT = 998;

// Prefixes that mail programs put before the subject of an answer.
const RE = /^\s*(?:re|aw|antw|sv|vs|ref|rif|odp|antwort)\s?(?:\[\d+\])?\s?[:：]/i;

/**
 * Answers a received mail: with the headers by which mail programs put it into the same conversation, and in the same thread here. Throws
 * ApiError not_found, invalid_state for a mail that must not be answered, and what `send` throws.
 */
export async function answerReceived(
  tx: Tx,
  deps: ReceivedDeps,
  workspaceId: string,
  id: string,
  { from, subject, text, html }: Request,
  files: DecodedAttachments,
): Promise<Answer> {
  const row = await getReceivedRow(tx, workspaceId, id);
  const [first, ...others] = getAnswerable(row);
  const answered = row.emailId === null ? null : await findEmail(tx, workspaceId, row.emailId);
  const sent = await send(tx, deps, {
    request: {
      to: others.length === 0 ? first : [first, ...others],
      together: others.length > 0,
      // The address the person wrote to: the sender of our email, else the address the mail came to.
      from: from ?? answered?.contents.from ?? row.to,
      subject: subject ?? buildSubject(row.subject),
      ...(text !== undefined && { text }),
      ...(html !== undefined && { html }),
      headers: buildReferences(row),
      ...(deps.config.replyDomain !== null && { replyTo: AUTO_REPLY_TO }),
      bypassUnsubscribe: true,
    },
    // These people have written to us, so it does not matter here that they want no newsletter. Other recipients have not.
    bypassFor: new Set([row.fromKey, answered?.email.toKey].filter((key) => typeof key === "string")),
    workspaceId,
    test: row.emailId !== null && isTestMail(row.emailId),
    files,
  });
  if (!("id" in sent)) throw new Error("An answer is one mail.");
  await joinThread(tx, workspaceId, sent.id, row.threadId);
  return { id: sent.id, status: "queued", threadId: row.threadId, ...("recipients" in sent && { recipients: sent.recipients }) };
}

/** The addresses that an answer goes to. Throws ApiError invalid_state for a mail that must not be answered. */
function getAnswerable({ autoReply, replyTo }: ReceivedRow): [string, ...string[]] {
  // Many mails of one sender may be a person's: who asks for an answer to one of them decides.
  if (autoReply !== null && autoReply !== "too_many")
    throw new ApiError("invalid_state", `This mail was written by a program (${autoReply}), and is not answered.`, {
      hint: "To write to its sender nevertheless, send an email of its own.",
    });
  const [first, ...others] = splitAddresses(replyTo);
  if (first === undefined) throw new ApiError("invalid_state", "This mail has no address that an answer could go to.");
  return [first, ...others];
}

function buildSubject(subject: string): string {
  return (RE.test(subject) ? subject : `Re: ${subject}`).slice(0, MAX_SUBJECT).toWellFormed();
}

/** In-Reply-To and References (RFC 5322 3.6.4). A long conversation is cut to its first mail and its last ones. */
function buildReferences({ messageId, references }: ReceivedRow): Record<string, string> {
  if (messageId === null) return {};
  const [first, ...others] = references;
  const kept = [messageId];
  let length = messageId.length + (first?.length ?? 0) + 1;
  for (const one of others.reverse()) {
    length += one.length + 1;
    if (length > MAX_REFERENCES) break;
    kept.unshift(one);
  }
  if (first !== undefined && first.length + messageId.length < MAX_REFERENCES) kept.unshift(first);
  return { "In-Reply-To": messageId, References: [...new Set(kept)].join(" ") };
}
