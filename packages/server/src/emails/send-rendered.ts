import { parseMailbox } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import type { HeldContact } from "../db/held.ts";
import { assertVerified } from "../senders/senders.ts";
import { findSuppressed } from "../suppressions/suppressions.ts";
import type { MessageContent } from "./accept.ts";
import type { EmailDeps } from "./deps.ts";
import { insertLabels } from "./labels.ts";
import { announceEmails, measureMessage } from "./schedule.ts";
import { insertContents, insertEmails } from "./store.ts";
import { BULK } from "./tables.ts";

/** Fields shared by mails that go out together. */
interface RenderedMails {
  readonly from: string;
  readonly replyTo: string | string[] | null;
  /** The template they were rendered from, as `slug@version`. */
  readonly template: string;
  /** The automation that sends them. */
  readonly automationId: string;
}

/** A rendered mail to a contact. */
interface RenderedMail {
  readonly contact: HeldContact & { readonly email: string; readonly emailKey: string };
  readonly content: MessageContent;
}

/**
 * Queues mails that were rendered for contacts, each with its own content, as bulk mail. Returns their ids in the order of the mails;
 * null for a suppressed address, to which nothing is sent. Throws ApiError sender_not_verified.
 */
export async function sendRendered(
  tx: Tx,
  deps: EmailDeps,
  workspaceId: string,
  { from, replyTo, template, automationId }: RenderedMails,
  mails: readonly RenderedMail[],
): Promise<(string | null)[]> {
  await assertVerified(tx, deps, workspaceId, parseMailbox(from));
  const keys = mails.map(({ contact }) => contact.emailKey);
  const suppressed = await findSuppressed(tx, workspaceId, keys);
  const accepted = mails.filter(({ contact }) => !suppressed.has(contact.emailKey));
  const contents = accepted.map(({ content: { subject, html = null, text = null } }) => ({
    workspaceId,
    from,
    replyTo,
    subject,
    html,
    text,
    template,
    automationId,
    traceparent: deps.tracing?.current() ?? null,
  }));
  const contentsIds = await insertContents(tx, contents);
  const now = deps.clock.now();
  const emails = accepted.map(({ contact, content }, i) => ({
    workspaceId,
    id: deps.ids("em"),
    contentsId: contentsIds[i] as number,
    to: contact.email,
    toKey: contact.emailKey,
    createdAt: now,
    nextAttemptAt: now,
    lane: BULK,
    bytes: measureMessage(content, []),
    contactId: contact.id,
  }));
  await announceEmails(tx, deps, await insertEmails(tx, emails));
  await insertLabels(tx, [{ emails, contents: { tags: {}, template, automationId } }]);
  const ids = new Map(accepted.map((mail, i) => [mail, emails[i]?.id ?? null]));
  return mails.map((mail) => ids.get(mail) ?? null);
}
