import { type Contact, type ContactTextField, mapContactTexts } from "@mailsvc/sdk/contract";
import { type Compiled, render } from "./engine/engine.ts";
import { checkSubject } from "./sending.ts";

/** Contact fields available in templates. */
export type ContactFields = Pick<Contact, "email" | "externalId" | ContactTextField | "tags"> & {
  readonly customFields: Readonly<Record<string, unknown>>;
};

/** The values of a template for a contact: its fields, and its custom fields by their own names and under `customFields`. */
export function getContactValues(contact: ContactFields): Record<string, unknown> {
  const { email, externalId, tags, customFields } = contact;
  return {
    ...customFields,
    email,
    externalId,
    ...mapContactTexts((field) => contact[field]),
    tags,
    customFields,
    unsubscribeUrl: UNSUBSCRIBE_URL,
    viewInBrowserUrl: VIEW_URL,
  };
}

/** A template all of whose variables are optional, except those whose declaration requires them: contacts lack many a field. */
export function relaxVariables(compiled: Compiled): Compiled {
  const required = new Set(compiled.needed.map(({ name }) => name));
  const optional = new Set([...compiled.optional, ...compiled.variables.map(({ name }) => name).filter((name) => !required.has(name))]);
  return { ...compiled, optional };
}

/** A mail to a contact. */
interface ContactMail {
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
}

/** Renders a mail to a contact. Throws MissingVariables, or an error whose message says what is wrong with the mail. */
export function renderContactMail(compiled: Compiled, values: Record<string, unknown>): ContactMail {
  const { subject, html, text } = render(compiled, values);
  const line = toLine(subject);
  if (line === "") throw new Error("The subject is empty.");
  checkSubject(line);
  if (!html && !text) throw new Error("The email is empty.");
  return { subject: line, html: html || null, text: text || null };
}

/** The subject alone of a mail to a contact; null if it cannot be rendered. */
export function renderContactSubject(compiled: Compiled, values: Record<string, unknown>): string | null {
  try {
    return toLine(render({ ...compiled, html: null, text: null }, values).subject) || null;
  } catch {
    return null;
  }
}

/** A value may contain a line break, which a header cannot. */
function toLine(subject: string | null): string {
  return (subject ?? "").replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
}

/**
 * The value of `{{unsubscribeUrl}}` when a template is rendered for sending. It stands for the link of each recipient, which
 * takes its place before the hand-over, so that recipients can share a rendered message. `.invalid` never exists (RFC 2606).
 */
export const UNSUBSCRIBE_URL = "https://unsubscribe.mailsvc.invalid/";

/**
 * The value of `{{viewInBrowserUrl}}` when a template is rendered for sending. It stands for the link of each recipient, as
 * `UNSUBSCRIBE_URL` does.
 */
export const VIEW_URL = "https://view.mailsvc.invalid/";
