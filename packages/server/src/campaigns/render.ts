import { createHash } from "node:crypto";
import { eq } from "drizzle-orm";
import { type ContactRow, explainNoMail } from "../contacts/contacts.ts";
import type { Reader } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import type { PendingMail } from "../delivery/delivery.ts";
import type { RenderedMail } from "../emails/emails.ts";
import { findBodyStarts } from "../html/body.ts";
import { ApiError } from "../lib/api-error.ts";
import { waitForTurn } from "../lib/turn.ts";
import {
  type Compiled,
  type CompiledTemplates,
  type ContactFields,
  compilePinned,
  getContactValues,
  loadParser,
  MissingVariables,
  type Parse,
  type PinnedTemplate,
  relaxVariables,
  renderContactMail,
  renderContactSubject,
  TemplateFaults,
} from "../templates/templates.ts";
import type { CampaignDeps, CampaignRow } from "./campaigns.ts";
import { listDepartures } from "./groups.ts";

/** Identifies what a campaign sends: its source and its preview text. */
export function hashSource(source: PinnedTemplate, previewText: string | null): string {
  return createHash("sha256")
    .update(JSON.stringify([source, previewText]))
    .digest("base64url");
}

/**
 * Renders the mail of each recipient with the fields of their contact, from the content that the campaign started with, and keeps
 * back what is not to be sent any more.
 *
 * | the campaign, the contact                           | the email                                  |
 * | --------------------------------------------------- | ------------------------------------------ |
 * | PAUSED                                              | is put back, to be released after resuming |
 * | CANCELLED                                           | cancelled                                  |
 * | the contact was deleted                             | skipped: `deleted`                         |
 * | the contact is no longer SUBSCRIBED                 | skipped: its status                        |
 * | the contact left the lists of the campaign          | skipped: `left_list`                       |
 * | the contact lacks a variable the template requires  | skipped: `missing_variables`               |
 * | the contact was changed                             | is rendered with the new values            |
 * | rendering fails                                     | failed, with the reason                    |
 */
export async function renderRecipients(read: Reader, { compiledTemplates }: CampaignDeps, mails: readonly PendingMail[]): Promise<void> {
  const own = mails.filter(({ email }) => email.campaignId !== null);
  if (own.length === 0) return;
  const campaigns = await loadCampaigns(read, own);
  const contacts = await loadContacts(read, own);
  const templates = await loadTemplates(read, compiledTemplates, own);
  const departures = await loadDepartures(read, own, campaigns, contacts);
  for (const mail of own) {
    const { status, language = null } = campaigns.get(mail.email.campaignId ?? "") ?? {};
    const contact = contacts.get(mail.email.contactId ?? "");
    if (status === "PAUSED") mail.withdrawal = { to: "hold" };
    else if (status === "CANCELLED") mail.withdrawal = { to: "cancelled" };
    else if (!contact) mail.withdrawal = { to: "skipped", reason: "deleted" };
    else {
      const reason = explainNoMail(contact) ?? (departures.has(mail.email.id) ? "left_list" : null);
      const template = templates.get(mail.email.contentsId);
      if (!template) throw new Error(`The campaign ${mail.email.campaignId} has no contents ${mail.email.contentsId}.`);
      mail.language = contact.language ?? language;
      if (reason === null) renderOne(mail, template, contact);
      else mail.withdrawal = { to: "skipped", reason };
    }
  }
}

/** Compiles what a campaign sends. Variables are optional, except those whose declaration requires them. Throws TemplateFaults. */
export function compileSource(parse: Parse, source: PinnedTemplate, previewText: string | null): Compiled {
  return relaxVariables(compilePinned(parse, previewText === null ? source : addPreheader(source, previewText)));
}

/**
 * Renders the mail of a recipient once more, whatever became of its campaign, with the contact's present fields; null if the contact is
 * gone, or the mail cannot be rendered with them. That may be so because its source, which an earlier version of the server has accepted,
 * compiles no more.
 */
export async function renderAgain(
  read: Reader,
  { compiledTemplates }: CampaignDeps,
  email: PendingMail["email"],
): Promise<{ readonly mail: RenderedMail; readonly language: string | null } | null> {
  if (email.campaignId === null) return null;
  const contact = (await loadContacts(read, [{ email }])).get(email.contactId ?? "");
  if (!contact) return null;
  const template = await loadTemplates(read, compiledTemplates, [{ email }]).then((found) => found.get(email.contentsId), explainFaults);
  if (!template) return null;
  const mail: Rendered = { subject: "", html: null, text: null, failure: null, withdrawal: null };
  renderOne(mail, template, contact);
  const { subject, html, text, failure, withdrawal } = mail;
  return failure === null && withdrawal === null ? { mail: { subject, html, text }, language: contact.language } : null;
}

/**
 * Renders the subjects that recipients of campaigns read, by the ids of the emails, with the contacts' present fields. Omits emails whose
 * contact is gone, or whose subject cannot be rendered. Subjects are compiled alone, and kept nowhere: a list of emails would displace the
 * templates that are being sent.
 */
export async function renderSubjects(
  read: Reader,
  { compiledTemplates }: CampaignDeps,
  emails: readonly PendingMail["email"][],
): Promise<ReadonlyMap<string, string>> {
  const own = emails.filter(({ campaignId }) => campaignId !== null).map((email) => ({ email }));
  const [contacts, templates] = [await loadContacts(read, own), await loadSubjects(read, compiledTemplates, own)];
  const subjects = new Map<string, string>();
  for (const { email } of own) {
    const contact = contacts.get(email.contactId ?? "");
    const template = templates.get(email.contentsId);
    const subject = contact && template ? renderContactSubject(template, getContactValues(contact)) : null;
    if (subject !== null) subjects.set(email.id, subject);
  }
  return subjects;
}

type Recipient = ContactFields & Pick<ContactRow, "id" | "seq" | "status">;

/** Fields of a mail that rendering changes. */
type Rendered = Pick<PendingMail, "subject" | "html" | "text" | "failure" | "withdrawal">;

/** Fields of a mail that rendering reads. */
type Unrendered = Pick<PendingMail, "email">;

function renderOne(mail: Rendered, template: Compiled, contact: Recipient): void {
  try {
    Object.assign(mail, renderContactMail(template, getContactValues(contact)));
  } catch (error) {
    if (error instanceof MissingVariables) mail.withdrawal = { to: "skipped", reason: "missing_variables" };
    else mail.failure = error instanceof ApiError ? error.message : `The email could not be rendered: ${(error as Error).message}`;
  }
}

// Hidden text after the preview text, so that mail programs show nothing of the body behind it.
const PADDING = "&#847;&zwnj;&nbsp;".repeat(40);

/** The template with the preview text at the beginning of its page, where it is hidden and mail programs look for it. */
function addPreheader(source: PinnedTemplate, previewText: string): PinnedTemplate {
  const text = previewText.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const preheader = `<div style="display:none;max-height:0;overflow:hidden;mso-hide:all">${text}${PADDING}</div>`;
  const insert = (html: string): string =>
    findBodyStarts(html).reduceRight((all, at) => all.slice(0, at) + preheader + all.slice(at), html);
  if (source.layout?.html) return { ...source, layout: { ...source.layout, html: insert(source.layout.html) } };
  return source.html === null ? source : { ...source, html: insert(source.html) };
}

/** Campaigns, each with the language of its list. */
async function loadCampaigns(
  read: Reader,
  mails: readonly Unrendered[],
): Promise<Map<string, CampaignRow & { readonly language: string | null }>> {
  const ids = [...new Set(mails.map(({ email }) => email.campaignId ?? ""))];
  const rows = await read
    .prepared("campaigns_of_mails", (q, { campaigns, lists }, arg) =>
      q
        .select({ campaign: campaigns, language: lists.language })
        .from(campaigns)
        .leftJoin(lists, eq(lists.id, campaigns.listId))
        .where(read.sqlDialect.among(campaigns.id, arg("ids"))),
    )
    .execute({ ids: JSON.stringify(ids) });
  return new Map(rows.map(({ campaign, language }) => [campaign.id, { ...campaign, language }]));
}

/** The ids of emails whose contacts left the lists of their campaigns. */
async function loadDepartures(
  read: Reader,
  mails: readonly Unrendered[],
  campaigns: ReadonlyMap<string, CampaignRow>,
  contacts: ReadonlyMap<string, Recipient>,
): Promise<Set<string>> {
  const departures = new Set<string>();
  for (const [campaignId, own] of Map.groupBy(mails, ({ email }) => email.campaignId ?? "")) {
    const campaign = campaigns.get(campaignId);
    if (!campaign) continue;
    const left = await listDepartures(
      read,
      campaign,
      own.flatMap(({ email }) => contacts.get(email.contactId ?? "") ?? []),
    );
    for (const { email } of own) if (left.has(email.contactId ?? "")) departures.add(email.id);
  }
  return departures;
}

async function loadContacts(read: Reader, mails: readonly Unrendered[]): Promise<Map<string, Recipient>> {
  const ids = [...new Set(mails.flatMap(({ email }) => email.contactId ?? []))];
  const rows = await findRows(read, read.t.contacts, { id: ids });
  return new Map(rows.map((row) => [row.id, row]));
}

async function loadTemplates(read: Reader, { pinned }: CompiledTemplates, mails: readonly Unrendered[]): Promise<Map<number, Compiled>> {
  const found = new Map<number, Compiled>();
  for (const { contentsId, hash } of await listHashes(read, mails)) {
    const known = pinned.get(hash);
    const row = known ? undefined : await findSource(read, contentsId);
    const template = known ?? (row && compileSource(await loadParser(), row.source, row.previewText));
    if (!template) continue;
    if (!known) pinned.set(hash, template);
    found.set(contentsId, template);
  }
  return found;
}

/**
 * Templates of which the subject alone is compiled, by the ids of the contents; none where it cannot be. The source of a campaign may be
 * megabytes, so it is read for the first list that shows the campaign.
 */
async function loadSubjects(
  read: Reader,
  { pinned, subjects }: CompiledTemplates,
  mails: readonly Unrendered[],
): Promise<Map<number, Compiled>> {
  const parse = await loadParser();
  const found = new Map<number, Compiled>();
  for (const { contentsId, hash } of await listHashes(read, mails)) {
    const known = pinned.peek(hash) ?? subjects.get(hash);
    const template = known ?? (await loadSubject(read, parse, contentsId));
    if (!template) continue;
    if (!known) subjects.set(hash, template);
    found.set(contentsId, template);
  }
  return found;
}

async function loadSubject(read: Reader, parse: Parse, contentsId: number): Promise<Compiled | undefined> {
  const row = await findSource(read, contentsId);
  await waitForTurn();
  return row?.source && compileSubject(parse, row.source);
}

function compileSubject(parse: Parse, source: PinnedTemplate): Compiled | undefined {
  // Its layout declares variables, also for the subject.
  const layout = source.layout && { ...source.layout, html: null, text: null };
  try {
    return compileSource(parse, { ...source, html: null, text: null, layout }, null);
  } catch (error) {
    return explainFaults(error);
  }
}

/** Undefined for the faults of a template; throws other errors. */
function explainFaults(error: unknown): undefined {
  if (!(error instanceof TemplateFaults)) throw error;
}

async function listHashes(read: Reader, mails: readonly Unrendered[]): Promise<{ contentsId: number; hash: string }[]> {
  const { campaignContents: t } = read.t;
  const ids = [...new Set(mails.map(({ email }) => email.contentsId))];
  const rows = await read
    .prepared("hashes_of_campaigns", (q, _, arg) =>
      q
        .select({ contentsId: t.contentsId, hash: t.hash })
        .from(t)
        .where(read.sqlDialect.amongNumbers(t.contentsId, arg("ids"))),
    )
    .execute({ ids: JSON.stringify(ids) });
  return rows.map(({ contentsId, hash }) => ({ contentsId, hash: hash ?? "" }));
}

async function findSource(read: Reader, contentsId: number): Promise<{ source: PinnedTemplate; previewText: string | null } | undefined> {
  const { campaignContents: t } = read.t;
  const [row] = await read.select({ source: t.source, previewText: t.previewText }).from(t).where(eq(t.contentsId, contentsId));
  return row;
}
