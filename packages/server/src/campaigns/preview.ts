import {
  type CampaignPreview,
  type contract,
  type HandlerInput,
  type HandlerOutput,
  mapContactTexts,
  type VariantName,
} from "@mailsvc/sdk/contract";
import { explainNoMail, findContactByEmail, getContactRow } from "../contacts/contacts.ts";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { type RenderedMail, send } from "../emails/emails.ts";
import { toPlainTextInTurns } from "../html/plain-text.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import { waitForTurn } from "../lib/turn.ts";
import {
  type Compiled,
  type ContactFields,
  getContactValues,
  loadParser,
  MissingVariables,
  type Parse,
  type PinnedTemplate,
  renderContactMail,
  TemplateFaults,
} from "../templates/templates.ts";
import { offerUnsubscribe } from "../unsubscribe/unsubscribe.ts";
import { buildFrom, type CampaignDeps, type CampaignRow, getCampaignRow } from "./campaigns.ts";
import { pinContent } from "./content.ts";
import { compileSource } from "./render.ts";
import type { Selection } from "./selection.ts";

/** A content that a campaign would send now, compiled: one per variant, or a single one without an A/B test. */
interface CompiledVariant {
  readonly name: VariantName | null;
  readonly template: Compiled;
  readonly replyTo: string | string[] | null;
}

/** Compiles what a campaign would send now: all variants of its A/B test, or one. Throws ApiError. */
export async function compileVariants(read: Reader, campaign: CampaignRow, variant?: VariantName): Promise<CompiledVariant[]> {
  const parse = await loadParser();
  const contents = (await pinContent(read, parse, campaign)).filter((one) => variant === undefined || one.variant.name === variant);
  if (contents.length === 0) throw invalid("variant", "unknown_variant", `This campaign has no variant ${variant}.`);
  return contents.map(({ variant: { name, previewText }, source, replyTo }) => ({
    name,
    template: compileContent(parse, source, previewText),
    replyTo,
  }));
}

/** Compiles a content with its preview text. Throws ApiError template_error if both together cannot be sent. */
export function compileContent(parse: Parse, source: PinnedTemplate, previewText: string | null): Compiled {
  try {
    return compileSource(parse, source, previewText);
  } catch (error) {
    if (error instanceof TemplateFaults) throw cannotRender("The content cannot be sent with this preview text", error);
    throw error;
  }
}

/** Renders a mail of a campaign for a contact. Throws ApiError missing_variables or template_error. */
export async function renderFor(
  read: Reader,
  workspaceId: string,
  { template }: Pick<CompiledVariant, "template">,
  contact: ContactFields,
): Promise<RenderedMail> {
  try {
    const { subject, ...bodies } = renderContactMail(template, getContactValues(contact));
    return { subject, ...(await offerUnsubscribe(read, workspaceId, bodies, contact.language)) };
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (error instanceof MissingVariables)
      throw new ApiError("missing_variables", error.message, {
        details: error.names.map((name) => ({ path: name, code: "required", message: `A contact needs ${name} to get this campaign.` })),
      });
    throw cannotRender("The mail could not be rendered", error);
  }
}

function cannotRender(what: string, cause: unknown): ApiError {
  return new ApiError("template_error", `${what}: ${(cause as Error).message}`, {
    hint: "Correct the content of the campaign, or its template.",
  });
}

// Contacts that a campaign is rendered for before it starts.
const SAMPLE = 20;

/**
 * Renders each of these contents for contacts from all over an audience, until it succeeds for one. Throws ApiError template_error if it
 * fails for all of them: hardly anybody would get the campaign.
 */
export async function assertRenders(read: Reader, workspaceId: string, templates: readonly Compiled[], audience: Selection): Promise<void> {
  const rows = await findRows(read, read.t.contacts, { workspaceId, seq: audience.contacts.spread(SAMPLE) });
  const readers = rows.filter((row) => explainNoMail(row) === null);
  for (const template of templates) {
    let cause: unknown = null;
    for (const reader of readers) {
      // A mail at the limit of its steps takes tens of milliseconds.
      await waitForTurn();
      cause = findCause(template, reader);
      if (cause === null) break;
    }
    if (cause !== null) throw cannotRender(`The mail could not be rendered for any of ${readers.length} contacts that were tried`, cause);
  }
}

/** The error that keeps a mail from being rendered; null for a contact that is skipped because it lacks a variable, too. */
function findCause(template: Compiled, contact: ContactFields): unknown {
  try {
    renderContactMail(template, getContactValues(contact));
    return null;
  } catch (error) {
    return error instanceof MissingVariables ? null : error;
  }
}

/** An address without a contact. */
export function makeStranger(email: string): ContactFields {
  return { email, externalId: null, ...mapContactTexts(() => null), tags: [], customFields: {} };
}

/** Renders a campaign as a contact would get it now, and sends nothing. Throws ApiError. */
export async function previewCampaign(
  read: Reader,
  workspaceId: string,
  { id, contact: ref, variant }: HandlerInput<typeof contract.campaigns.preview>,
): Promise<CampaignPreview> {
  const campaign = await getCampaignRow(read, workspaceId, id);
  const contact = ref === undefined ? null : await getContactRow(read, workspaceId, ref);
  const [compiled] = await compileVariants(read, campaign, variant);
  if (!compiled) throw new Error("A campaign has at least one variant.");
  const { subject, html, text } = await renderFor(read, workspaceId, compiled, contact ?? makeStranger(""));
  return {
    variant: compiled.name,
    contactId: contact?.id ?? null,
    from: buildFrom(campaign),
    to: contact?.email ?? null,
    subject,
    html,
    text: text ?? (html === null ? null : await toPlainTextInTurns(html)),
  };
}

type Input = HandlerInput<typeof contract.campaigns.test>;

interface TestMail extends RenderedMail {
  readonly to: string;
  readonly replyTo: string | string[] | null;
}

/** The mails of a test, rendered before the transaction that queues them; or why they cannot be. */
export interface PreparedTest {
  readonly failure?: ApiError;
  readonly campaign?: CampaignRow;
  readonly mails?: readonly TestMail[];
}

/** Renders the tests of a campaign, each variant for each address, as its recipients would get them, or as the given contact would. */
export async function prepareTest(read: Reader, workspaceId: string, { id, to, contact: ref, variant }: Input): Promise<PreparedTest> {
  try {
    const campaign = await getCampaignRow(read, workspaceId, id);
    const reader = ref === undefined ? null : await getContactRow(read, workspaceId, ref);
    const mails: TestMail[] = [];
    for (const compiled of await compileVariants(read, campaign, variant))
      for (const address of to) {
        const contact = reader ?? (await findContactByEmail(read, workspaceId, address)) ?? makeStranger(address);
        // As in the mail of the campaign, the unsubscribe link is that of the address that gets it.
        const mail = await renderFor(read, workspaceId, compiled, contact);
        const subject = `[Test${compiled.name === null ? "" : ` ${compiled.name}`}] ${mail.subject}`.slice(0, 998);
        mails.push({ ...mail, to: address, subject, replyTo: compiled.replyTo });
      }
    return { campaign, mails };
  } catch (error) {
    if (error instanceof ApiError) return { failure: error };
    throw error;
  }
}

/** Queues the mails of a test. They are no recipients of the campaign, so nothing is counted. Throws ApiError. */
export async function sendTest(
  { failure, campaign, mails }: PreparedTest,
  tx: Tx,
  deps: CampaignDeps,
): Promise<HandlerOutput<typeof contract.campaigns.test>> {
  if (failure) throw failure;
  if (!campaign || !mails) throw new Error("The preparation gave neither an error nor mails.");
  const ids: string[] = [];
  for (const { to, subject, html, text, replyTo } of mails) {
    const request = {
      to,
      from: buildFrom(campaign),
      subject,
      ...(replyTo !== null && { replyTo }),
      ...(html !== null && { html }),
      ...(text !== null && { text }),
      ...(campaign.utm !== null && { tracking: { utm: campaign.utm } }),
      // The person who tests a campaign asked for this mail.
      bypassUnsubscribe: true,
    };
    const answer = await send(tx, deps, { request, workspaceId: campaign.workspaceId, test: false, files: [] });
    if ("id" in answer) ids.push(answer.id);
  }
  return { ids, count: ids.length };
}
