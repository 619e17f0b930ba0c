import type { AutomationStep } from "@mailsvc/sdk/contract";
import { type ContactRow, explainNoMail } from "../contacts/contacts.ts";
import type { Reader } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import type { PendingMail } from "../delivery/delivery.ts";
import { ApiError } from "../lib/api-error.ts";
import {
  type Compiled,
  type CompiledTemplates,
  getContactValues,
  MissingVariables,
  relaxVariables,
  renderContactMail,
  resolveById,
} from "../templates/templates.ts";
import { offerUnsubscribe } from "../unsubscribe/unsubscribe.ts";
import type { VersionRow } from "./store.ts";
import type { EntryEvent } from "./tables.ts";

/** The pinned version of a template, ready to be rendered; or why nothing can be sent with it. */
export type MailTemplate =
  | {
      readonly compiled: Compiled;
      readonly from: string | null;
      readonly replyTo: string | string[] | null;
      /** `slug@version`. */
      readonly name: string;
    }
  | { readonly skip: string };

/** A rendered mail for one contact; or why there is none. */
export type PreparedMail =
  | {
      readonly from: string;
      readonly replyTo: string | string[] | null;
      readonly content: { readonly subject: string; readonly html: string | null; readonly text: string | null };
      readonly name: string;
    }
  | { readonly skip: string };

type MailStep = AutomationStep & { type: "send_email" };

/** Loads the pinned version of a template. */
export async function loadTemplate(
  read: Reader,
  cache: CompiledTemplates,
  workspaceId: string,
  templateId: string,
  pinned: VersionRow["templates"],
): Promise<MailTemplate> {
  try {
    const { compiled, from, replyTo, slug, version } = await resolveById(read, cache, workspaceId, templateId, pinned?.[templateId]);
    return { compiled: relaxVariables(compiled), from, replyTo: replyTo ?? null, name: `${slug}@${version}` };
  } catch (error) {
    if (error instanceof ApiError) return { skip: error.code === "not_found" ? "template_not_found" : error.code };
    throw error;
  }
}

/** Renders the mail of a step for a contact. The event that brought it here is the variable `event` of the template. */
export async function renderMail(
  read: Reader,
  template: MailTemplate,
  step: MailStep,
  contact: ContactRow,
  event: EntryEvent | null,
): Promise<PreparedMail> {
  if ("skip" in template) return template;
  const { compiled, replyTo, name } = template;
  const from = step.from ?? template.from;
  if (from === null) return { skip: "no_sender" };
  try {
    const rendered = renderContactMail(compiled, { ...getContactValues(contact), ...(event !== null && { event }) });
    return {
      from,
      replyTo,
      content: { ...rendered, ...(await offerUnsubscribe(read, contact.workspaceId, rendered, contact.language)) },
      name,
    };
  } catch (error) {
    if (error instanceof MissingVariables) return { skip: "missing_variables" };
    if (error instanceof ApiError) return { skip: error.code };
    return { skip: `The email could not be rendered: ${(error as Error).message}`.slice(0, 500) };
  }
}

/** Loads the template of a step and renders its mail for a contact. */
export async function prepareMail(
  read: Reader,
  cache: CompiledTemplates,
  contact: ContactRow,
  step: MailStep,
  templates: VersionRow["templates"],
  event: EntryEvent | null,
): Promise<PreparedMail> {
  return renderMail(read, await loadTemplate(read, cache, contact.workspaceId, step.templateId, templates), step, contact, event);
}

// The reason of entries that end when the contact answers (listener.ts).
const REPLIED = "replied";

/**
 * Keeps back the mail of automations whose contact may not get it any more. It was rendered when its step was taken, and may have waited
 * since: for the mail server, for a held domain, for a paused queue.
 *
 * | the contact                 | the email             |
 * | --------------------------- | --------------------- |
 * | was deleted                 | skipped: `deleted`    |
 * | is no longer SUBSCRIBED     | skipped: its status   |
 * | has answered, so that the entry that sent it has ended | skipped: `replied` |
 * | otherwise                   | is handed over        |
 */
export async function withdrawAutomationMail(read: Reader, mails: readonly PendingMail[]): Promise<void> {
  const own = mails.filter(({ contents }) => contents.automationId !== null);
  if (own.length === 0) return;
  const ids = [...new Set(own.flatMap(({ email }) => email.contactId ?? []))];
  const contacts = new Map((await findRows(read, read.t.contacts, { id: ids })).map((row) => [row.id, row]));
  const answered = await findAnswered(read, own);
  for (const mail of own) {
    const contact = contacts.get(mail.email.contactId ?? "");
    const reason = contact ? (explainNoMail(contact) ?? (answered.has(mail) ? "replied" : null)) : "deleted";
    if (reason !== null) mail.withdrawal = { to: "skipped", reason };
  }
}

/** The mails whose entry ended because the contact has answered. */
async function findAnswered(read: Reader, mails: readonly PendingMail[]): Promise<Set<PendingMail>> {
  const keys = mails.flatMap(({ email: { contactId }, contents: { automationId } }) =>
    contactId === null || automationId === null ? [] : [[`${automationId} ${contactId}`, { automationId, contactId }] as const],
  );
  const entries = (await read.lookUp(read.t.automationEntries, [...new Map(keys).values()])).flat();
  const ended = entries.filter(({ status, reason }) => status === "EXITED" && reason === REPLIED);
  // A contact is inside an automation once at a time, so the instant tells which entry sent the mail.
  const isOf = (entry: (typeof ended)[number], { email, contents }: PendingMail): boolean =>
    entry.automationId === contents.automationId &&
    entry.contactId === email.contactId &&
    entry.enteredAt <= email.createdAt &&
    email.createdAt <= (entry.endedAt ?? 0);
  return new Set(mails.filter((mail) => ended.some((entry) => isOf(entry, mail))));
}
