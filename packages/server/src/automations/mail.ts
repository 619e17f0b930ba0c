import type { AutomationStep, SkipReason } from "@mailsvc/sdk/contract";
import { relaxVariables, renderWith, toValues } from "../campaigns/campaigns.ts";
import type { ContactRow } from "../contacts/contacts.ts";
import type { Reader, Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { send } from "../emails/emails.ts";
import { ApiError } from "../lib/api-error.ts";
import { MissingVariables, resolveById } from "../templates/templates.ts";
import { offerUnsubscribe } from "../unsubscribe/unsubscribe.ts";
import type { VersionRow } from "./automations.ts";
import type { StepResult } from "./steps.ts";

/** A rendered mail for one contact, as it was when it was read; or why there is none. */
export type PreparedMail =
  | {
      readonly contactUpdatedAt: number;
      readonly from: string;
      readonly replyTo: string | undefined;
      readonly content: { readonly subject: string; readonly html: string | null; readonly text: string | null };
      readonly name: string;
    }
  | { readonly skip: string };

/** Renders the mail of a step for a contact, from the pinned version of its template. Outside of transactions: it takes its time. */
export async function prepareMail(
  read: Reader,
  contact: ContactRow,
  step: AutomationStep & { type: "send_email" },
  templates: VersionRow["templates"],
): Promise<PreparedMail> {
  try {
    const sendable = await resolveById(read, contact.workspaceId, step.templateId, templates?.[step.templateId]);
    const from = step.from ?? sendable.from;
    if (from === null) return { skip: "no_sender" };
    const rendered = renderWith(relaxVariables(sendable.compiled), toValues(contact));
    return {
      contactUpdatedAt: contact.updatedAt,
      from,
      replyTo: sendable.replyTo ?? undefined,
      content: { ...rendered, ...(await offerUnsubscribe(read, contact.workspaceId, rendered)) },
      name: `${sendable.slug}@${sendable.version}`,
    };
  } catch (error) {
    if (error instanceof MissingVariables) return { skip: "missing_variables" };
    if (error instanceof ApiError) return { skip: error.code === "not_found" ? "template_not_found" : error.code };
    return { skip: `The email could not be rendered: ${(error as Error).message}`.slice(0, 500) };
  }
}

/** Why a contact gets no mail of automations; null if it may. */
export function explainNoMail({ status }: ContactRow): SkipReason | null {
  return status === "SUBSCRIBED" ? null : BY_STATUS[status];
}

const BY_STATUS = {
  UNSUBSCRIBED: "unsubscribed",
  BOUNCED: "bounced",
  COMPLAINED: "complained",
} as const satisfies Record<string, SkipReason>;

/** Queues the mail of a step, as marketing mail: only to subscribed contacts that no suppression names. Throws ApiError. */
export async function sendMail(tx: Tx, deps: Deps, contact: ContactRow, mail: PreparedMail | null): Promise<StepResult> {
  const reason = explainNoMail(contact);
  if (reason !== null) return { outcome: "skipped", reason };
  if (mail === null) throw new Error(`The mail to ${contact.id} was not prepared.`);
  if ("skip" in mail) return { outcome: "skipped", reason: mail.skip };
  const { from, replyTo, content, name } = mail;
  const messages = new Map([[contact.emailKey, content]]);
  const request = { from, to: contact.email, subject: content.subject, ...(replyTo !== undefined && { replyTo }) };
  const sent = await send(request, tx, deps, contact.workspaceId, [], { messages, name, contactId: contact.id });
  if (!("id" in sent)) throw new Error("A single mail has one id.");
  return { outcome: "done", emailId: sent.id };
}
