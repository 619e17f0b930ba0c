import { type AutoReplyReason, type Explanation, type MailAuthentication, RECEIVED_LIMITS } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import { findEmailById } from "../emails/emails.ts";
import { type Action, buildExplanation, count, joinSentences, type Moment, type Present, quote } from "../lib/explanation.ts";
import { readMessageId } from "../lib/message-id.ts";
import { listPassedOn } from "../marketplace/messages/messages.ts";
import { isSenderCredible } from "./incoming.ts";
import { getReceivedRow, type ReceivedRow } from "./store.ts";

/** Context of an explanation of a received mail. */
interface ReceivedPresent extends Present {
  /** True if an address is the reply address of an email. */
  isReplyAddress(address: string): boolean;
}

const AUTOMATIC: Readonly<Record<AutoReplyReason, string>> = {
  null_sender: "Its envelope has no sender, as mail of mail servers has.",
  program_address: "Its sender has an address that programs use.",
  auto_submitted: "The header Auto-Submitted, or one like it, says so.",
  precedence: "The header Precedence says so.",
  mailing_list: "It came through a mailing list.",
  loop: "It goes in circles: X-Loop, a mail of ours that came back, or too many servers on its way.",
  too_many: `Its sender wrote ${RECEIVED_LIMITS.personalPerHour} other mails within the hour.`,
};

/** Explains a received mail: whose answer it is and why, what reacted to it, and how to answer. Throws ApiError not_found. */
export async function explainReceived(read: Reader, present: ReceivedPresent, workspaceId: string, id: string): Promise<Explanation> {
  const row = await getReceivedRow(read, workspaceId, id);
  const email = row.emailId === null ? null : await findEmailById(read, row.emailId);
  const passed = await listPassedOn(read, id);
  const moments: Moment[] = [
    ...(email === null ? [] : [{ at: email.createdAt, what: `The email that it answers was accepted: ${email.id}` }]),
    { at: row.receivedAt, what: `Received for ${row.to}`, why: describeConversation(row) },
    ...passed.map(({ activationId, createdAt }) => ({
      at: createdAt,
      what: `Passed on to an agent: ${activationId}`,
      why: "Somebody of the workspace did it. The agent got the text, without addresses and names.",
    })),
  ];
  return buildExplanation(
    {
      id,
      kind: "received",
      title: `Mail from ${row.from ?? "an unknown sender"}: ${quote(row.subject)}`,
      status: row.autoReply === null ? "personal" : "automatic",
      summary: joinSentences(
        describeAnswer(row, present),
        describeAuthor(row),
        describeSender(row.authentication),
        row.truncated ? "Only the raw mail is complete." : null,
      ),
      moments,
      actions: listActions(row),
      related: [row.emailId, row.contactId, row.campaignId, ...passed.map(({ activationId }) => activationId)],
    },
    present,
  );
}

function describeAnswer(row: ReceivedRow, { isReplyAddress }: ReceivedPresent): string {
  if (row.emailId !== null)
    return isReplyAddress(row.to)
      ? `It answers ${row.emailId}: it came to the reply address of that email.`
      : `It answers ${row.emailId}: it names that email, which went to its sender.`;
  const named = row.references.filter((reference) => readMessageId(reference) !== null).length;
  if (named === 0) return "It answers no email of yours.";
  return isSenderCredible(row.authentication, row.fromKey ?? undefined)
    ? `It names ${count(named, "email")} of yours that did not go to its sender, so it does not count as an answer.`
    : `It names ${count(named, "email")} of yours, but who sent it is not proven, so it does not count as an answer.`;
}

function describeAuthor({ autoReply }: ReceivedRow): string {
  return autoReply === null
    ? "It counts as written by a person."
    : joinSentences(
        "It counts as written by a program, so that automations, agents and received reply leave it alone.",
        AUTOMATIC[autoReply],
      );
}

/** Tells if the address in From is proven. */
function describeSender(authentication: MailAuthentication | null): string {
  if (authentication === null) return "Its sender was not checked: it did not come over SMTP.";
  const { dmarc, policy, reason } = authentication;
  const results = listResults(authentication);
  if (dmarc === "pass") return `Its sender is proven: DMARC passes (${results}).`;
  if (dmarc === "none") return `Its sender is not proven: the domain in From has no DMARC record (${results}).`;
  if (dmarc === "fail")
    return joinSentences(
      `Its sender is not proven: DMARC fails (${results}).`,
      policy === null || policy === "none" ? null : `The domain in From asks to ${policy} such mail.`,
    );
  return joinSentences(`Whether its sender is who it says is not known (${results}).`, reason);
}

function listResults({ spf, dkim, signers }: MailAuthentication): string {
  return `SPF ${spf ?? "not checked"}, DKIM ${dkim}${signers.length > 0 ? ` by ${signers.join(", ")}` : ""}`;
}

function describeConversation({ threadId, id }: ReceivedRow): string {
  return threadId === id ? "It began a conversation." : `It joined the conversation ${threadId}.`;
}

function listActions({ id, autoReply, replyTo, threadId }: ReceivedRow): Action[] {
  return [
    ...(autoReply === null && replyTo !== null ? [{ what: "Answer it", command: `mailsvc received reply ${id} --text "…"` }] : []),
    { what: "See its conversation", command: `mailsvc received list --thread ${threadId}` },
    { what: "See it as it came", command: `mailsvc received raw ${id}` },
  ];
}
