import { EMAIL_STATES, type Email, type EmailDetail, type EmailRecipient, type EmailStatus, parseAnyMailbox } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import { listEventsOfEmails, toEventId } from "../events/events.ts";
import { iso } from "../lib/clock.ts";
import { isTestMail } from "../lib/ids.ts";
import { getMessage } from "./attachments.ts";
import type { MessageReading, MessageTexts } from "./deps.ts";
import { type ContentsRow, type EmailRow, type FullMail, type ListedMail, listAttachmentInfo } from "./store.ts";

/**
 * The Message-ID of a mail: the one it brought, or one made of its id and its sender's domain, so that it is the same at every attempt, for
 * each recipient, and after a restart.
 */
export function buildMessageId(
  { id, mailId }: Pick<EmailRow, "id" | "mailId">,
  { from, messageId }: Pick<ContentsRow, "from" | "messageId">,
): string {
  return messageId ?? `<${mailId ?? id}@${parseAnyMailbox(from).domain}>`;
}

/** Shows a mail as lists do. A mail to several recipients sums up their states. */
export function showEmail({ emails, contents }: ListedMail): Email {
  const [first] = emails;
  if (!first) throw new Error("A mail has a recipient.");
  const instants = (name: "nextAttemptAt" | "sentAt") => emails.flatMap((email) => email[name] ?? []);
  const lastTried = emails.filter(({ attempts }) => attempts > 0).sort((a, b) => b.updatedAt - a.updatedAt)[0];
  const lastFailed = emails.filter(({ lastError }) => lastError !== null).sort((a, b) => b.updatedAt - a.updatedAt)[0];
  return {
    id: first.mailId ?? first.id,
    status: getMailStatus(emails.map(({ status }) => status)),
    to: first.to,
    recipients: emails.map(showRecipient),
    from: contents.from,
    subject: contents.subject,
    test: isTestMail(first.id),
    tags: contents.tags,
    template: parseTemplate(contents.template),
    campaignId: first.campaignId,
    contactId: first.contactId,
    messageId: buildMessageId(first, contents),
    attempts: Math.max(...emails.map(({ attempts }) => attempts)),
    inDoubt: emails.some(({ inDoubt }) => inDoubt),
    relay: lastTried?.relay ?? null,
    lastError: lastFailed?.lastError ?? null,
    createdAt: iso(first.createdAt),
    scheduledAt: instant(first.scheduledAt),
    nextAttemptAt: earliest(instants("nextAttemptAt")),
    sentAt: earliest(instants("sentAt")),
    updatedAt: iso(Math.max(...emails.map(({ updatedAt }) => updatedAt))),
  };
}

/** Mails with their contents and history, in their order. Throws ApiError as `MessageReading` does. */
export async function showDetails(read: Reader, deps: MessageReading, mails: readonly FullMail[]): Promise<EmailDetail[]> {
  const histories = await showHistories(read, mails);
  const files = await listAttachmentInfo(
    read,
    mails.map(({ contents }) => contents),
  );
  const texts: MessageTexts[] = [];
  for (const { contents } of mails) texts.push(await readTexts(read, deps, contents));
  return mails.map(({ emails, contents }, i) => ({
    ...showEmail({ emails, contents }),
    replyTo: contents.replyTo,
    threadId: contents.threadId ?? emails[0]?.mailId ?? emails[0]?.id ?? "",
    ...(texts[i] as MessageTexts),
    headers: contents.headers,
    attachments: (files.get(contents.filesOf ?? contents.id) ?? []).map(({ filename, contentType, contentId, size }) => ({
      filename,
      contentType,
      contentId,
      size,
    })),
    events: histories[i] ?? [],
  }));
}

/** The events of mails, in the order of the mails. */
export async function showHistories(read: Reader, mails: readonly Pick<FullMail, "emails">[]): Promise<EmailDetail["events"][]> {
  const ids = mails.flatMap(({ emails }) => emails.map(({ id }) => id));
  const events = Map.groupBy(await listEventsOfEmails(read, ids), ({ emailId }) => emailId);
  return mails.map(({ emails }) =>
    emails
      .flatMap((email) => (events.get(email.id) ?? []).map((event) => ({ email, event })))
      .sort((a, b) => a.event.sequence - b.event.sequence)
      .map(({ email, event }) => ({
        id: toEventId(event.sequence),
        type: event.type as EmailDetail["events"][number]["type"],
        at: iso(event.at),
        recipient: { id: email.id, email: email.to, kind: email.kind ?? "to" },
        data: event.data ?? {},
      })),
  );
}

/** The status of a mail, from those of its recipients: the one with the lowest rank. */
function getMailStatus(statuses: readonly EmailStatus[]): EmailStatus {
  const [status] = statuses.toSorted((a, b) => EMAIL_STATES[a].rank - EMAIL_STATES[b].rank);
  if (!status) throw new Error("A mail has a recipient.");
  return status;
}

function showRecipient(email: EmailRow): EmailRecipient {
  return {
    id: email.id,
    email: email.to,
    name: email.name,
    kind: email.kind ?? "to",
    status: email.status,
    attempts: email.attempts,
    inDoubt: email.inDoubt,
    relay: email.relay,
    lastError: email.lastError,
    nextAttemptAt: instant(email.nextAttemptAt),
    sentAt: instant(email.sentAt),
    updatedAt: iso(email.updatedAt),
  };
}

function earliest(instants: readonly number[]): string | null {
  return instants.length === 0 ? null : iso(Math.min(...instants));
}

function instant(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}

/** `order-shipped@3`: the template and its version. */
function parseTemplate(name: string | null): Email["template"] {
  if (name === null) return null;
  const at = name.lastIndexOf("@");
  return { slug: name.slice(0, at), version: Number(name.slice(at + 1)) };
}

/** The texts of a mail; those of a message that goes out as it came in are read from it. Throws ApiError as `MessageReading` does. */
async function readTexts(read: Reader, deps: MessageReading, contents: ContentsRow): Promise<MessageTexts> {
  if (contents.asIs !== true) return { html: contents.html, text: contents.text, truncated: false };
  return deps.readMessage(await getMessage(read, contents));
}
