import { parseAnyMailbox, type ReceivedMail } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import type { PendingMail } from "../delivery/delivery.ts";
import { ApiError } from "../lib/api-error.ts";
import { mailDate } from "../mail/header.ts";
import type { MailAttachment } from "../mail/mailer.ts";
import { composeMime } from "../mail/mime.ts";
import { getReceivedByMessageId } from "../received/received.ts";
import { applyReports } from "./apply.ts";
import type { InboundDeps } from "./deps.ts";
import { findRecipient, receiveMail } from "./receive.ts";
import type { Report } from "./report.ts";

/** A mail as its recipient sees it. */
export interface MailToAnswer {
  readonly from: string;
  /** The recipient, who answers. */
  readonly to: string;
  readonly replyTo: string | readonly string[] | null;
  readonly subject: string;
  readonly messageId: string;
  readonly references: string | null;
  readonly text: string | null;
  /** Time it was sent, ms. */
  readonly date: number;
}

const NO_SUCH_MAILBOX = {
  error: { message: "550 5.1.1 The mailbox does not exist (simulated)", smtpCode: 550, enhancedCode: "5.1.1" },
  type: "PERMANENT",
  invalidRecipient: true,
} as const;

/** Reply of the recipient. */
interface SimulatedAnswer {
  readonly text: string;
  readonly html?: string | undefined;
  readonly attachments?: readonly MailAttachment[] | undefined;
  /** Write it as a program that says that it does, such as a notice of absence. */
  readonly automatic?: boolean | undefined;
  /** Its own Message-ID: the same answer twice is received once. */
  readonly messageId: string;
}

/**
 * Answers a mail as a recipient's mail program would, and receives the answer as if it came over SMTP. Throws ApiError invalid_state if the
 * mail has no address that is received here, and limit_reached.
 */
export async function simulateReply(deps: InboundDeps, mail: MailToAnswer, answer: SimulatedAnswer): Promise<ReceivedMail> {
  const addresses = listReplyAddresses(mail);
  const received = await findReceived(deps, addresses);
  if (received === null)
    throw new ApiError(
      "invalid_state",
      `Replies to this mail go to ${addresses.join(" and ")}, which ${addresses.length === 1 ? "is" : "are"} not received here.`,
      { hint: "Send it with replyTo auto, or add its domain: mailsvc inbound-domains create" },
    );
  const { address, recipient } = received;
  const { mailbox } = recipient;
  const raw = await composeMime({
    ...answer,
    envelopeFrom: parseAnyMailbox(mail.to).address,
    envelopeTo: address,
    from: mail.to,
    to: [{ name: "", address }],
    cc: [],
    replyTo: null,
    subject: /^re:/i.test(mail.subject) ? mail.subject : `Re: ${mail.subject}`,
    text: quote(mail, answer.text),
    html: answer.html ?? null,
    headers: {
      "In-Reply-To": mail.messageId,
      References: [mail.references, mail.messageId].filter((one) => one !== null).join(" "),
      ...(answer.automatic && { "Auto-Submitted": "auto-replied" }),
    },
    attachments: answer.attachments ?? [],
    date: deps.clock.now(),
    attempt: 1,
  });
  const message = { recipients: [recipient], envelopeFrom: parseAnyMailbox(mail.to).address, raw: new Uint8Array(raw), peer: null };
  const result = await receiveMail(deps, message);
  if (result === "over-quota")
    throw new ApiError("limit_reached", "The workspace has received as much mail today as is stored for it in a day.", {
      hint: "It takes mail again at midnight (UTC).",
    });
  if (result !== "applied") throw new Error("A simulated reply was not received.");
  return getReceivedByMessageId(deps.db.read, mailbox, answer.messageId);
}

function listReplyAddresses({ replyTo, from }: Pick<MailToAnswer, "replyTo" | "from">): string[] {
  return [replyTo ?? from].flat().map((text) => parseAnyMailbox(text).address);
}

/** The first of the addresses that replies go to whose mail is received here; null if there is none. */
async function findReceived(deps: InboundDeps, addresses: readonly string[]) {
  for (const address of addresses) {
    const recipient = await findRecipient(deps, address);
    if (recipient !== null && "mailbox" in recipient) return { address, recipient };
  }
  return null;
}

/**
 * Reports a delivered email as its recipient's mail server would, and applies the report as if it came from there. Throws ApiError
 * invalid_state if the email has not been delivered, or has ended in another way.
 */
export async function simulateReport(
  tx: Tx,
  deps: InboundDeps,
  { emailId, to }: { readonly emailId: string; readonly to: string },
  outcome: "bounced" | "complained",
): Promise<void> {
  const report: Report = {
    emailId,
    recipient: to,
    source: outcome === "bounced" ? "dsn" : "arf",
    key: `simulated ${emailId} ${to} ${outcome}`,
    outcome: outcome === "bounced" ? { kind: outcome, ...NO_SUCH_MAILBOX } : { kind: outcome, feedbackType: "abuse" },
  };
  const [applied] = await applyReports(tx, deps, [report], null);
  if (applied !== "applied")
    throw new ApiError("invalid_state", "This mail cannot be reported: it is not delivered yet, has bounced, or was sent with a test key.");
}

/** Answers an email as a simulated recipient does; one whose replies are not received here stays without an answer. */
export async function answerSimulated(deps: InboundDeps, mail: PendingMail): Promise<void> {
  const { email, contents, replyTo, subject, messageId, text } = mail;
  if (replyTo === null || (await findReceived(deps, listReplyAddresses({ replyTo, from: contents.from }))) === null) return;
  const references = mail.headers["References"] ?? null;
  const toAnswer = { from: contents.from, to: email.to, replyTo, subject, messageId, references, text, date: email.createdAt };
  try {
    await simulateReply(deps, toAnswer, { text: "Thank you, this is a reply.", messageId: `<reply-${messageId.slice(1)}` });
  } catch (error) {
    // Their mail server would try again for a while; nobody waits for this one.
    if (!(error instanceof ApiError && error.code === "limit_reached")) throw error;
  }
}

/** The answer above the mail, as most programs write it. */
function quote({ from, text, date }: MailToAnswer, answer: string): string {
  if (text === null) return answer;
  const quoted = text
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => `> ${line}`.trimEnd());
  return [answer, "", `On ${mailDate(date)}, ${from} wrote:`, ...quoted, ""].join("\n");
}
