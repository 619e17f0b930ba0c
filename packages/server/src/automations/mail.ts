import type { AutomationStep } from "@mailsvc/sdk/contract";
import type { ContactRow } from "../contacts/contacts.ts";
import type { Reader } from "../db/db.ts";
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
