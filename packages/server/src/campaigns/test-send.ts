import { type contract, type HandlerInput, type HandlerOutput, mapContactTexts } from "@mailsvc/sdk/contract";
import { findContactByEmail } from "../contacts/contacts.ts";
import type { Reader, Tx } from "../db/db.ts";
import { send } from "../emails/emails.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import { type ContactFields, getContactValues, loadParser, MissingVariables, renderContactMail } from "../templates/templates.ts";
import { offerUnsubscribe } from "../unsubscribe/unsubscribe.ts";
import { buildFrom, type CampaignRow, getCampaignRow } from "./campaigns.ts";
import { pinContent } from "./content.ts";
import type { CampaignDeps } from "./deps.ts";
import { compileSource } from "./render.ts";

type Input = HandlerInput<typeof contract.campaigns.test>;

interface TestMail {
  readonly to: string;
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
}

/** The mails of a test, rendered before the transaction that queues them; or why they cannot be. */
export interface PreparedTest {
  readonly failure?: ApiError;
  readonly campaign?: CampaignRow;
  readonly mails?: readonly TestMail[];
}

/** Renders the tests of a campaign, each variant for each address, as its recipients would get them. */
export async function prepareTest(read: Reader, workspaceId: string, { id, to, variant }: Input): Promise<PreparedTest> {
  try {
    const campaign = await getCampaignRow(read, workspaceId, id);
    const parse = await loadParser();
    const contents = (await pinContent(read, parse, campaign)).filter((one) => variant === undefined || one.variant.name === variant);
    if (contents.length === 0) throw invalid("variant", "unknown_variant", `This campaign has no variant ${variant}.`);
    const mails: TestMail[] = [];
    for (const { variant: own, source } of contents) {
      const template = compileSource(parse, source, own.previewText);
      for (const address of to) {
        const contact = (await findContactByEmail(read, workspaceId, address)) ?? makeStranger(address);
        const { subject, ...bodies } = renderContactMail(template, getContactValues(contact));
        // As in the mail of the campaign, the link is that of the address that gets it.
        const { html, text } = await offerUnsubscribe(read, workspaceId, bodies);
        mails.push({ to: address, subject: `[Test${own.name === null ? "" : ` ${own.name}`}] ${subject}`.slice(0, 998), html, text });
      }
    }
    return { campaign, mails };
  } catch (error) {
    if (error instanceof ApiError) return { failure: error };
    if (error instanceof MissingVariables)
      return {
        failure: new ApiError("missing_variables", error.message, {
          details: error.names.map((name) => ({ path: name, code: "required", message: `A contact needs ${name} to get this campaign.` })),
        }),
      };
    return { failure: new ApiError("template_error", `The test could not be rendered: ${(error as Error).message}`) };
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
  for (const { to, subject, html, text } of mails) {
    const request = {
      to,
      from: buildFrom(campaign),
      subject,
      ...(campaign.replyTo !== null && { replyTo: campaign.replyTo }),
      ...(html !== null && { html }),
      ...(text !== null && { text }),
      ...(campaign.utm !== null && { tracking: { utm: campaign.utm } }),
      // Who tests a campaign asked for it.
      bypassUnsubscribe: true,
    };
    const answer = await send(request, tx, deps, { workspaceId: campaign.workspaceId, test: false }, []);
    if ("id" in answer) ids.push(answer.id);
  }
  return { ids, count: ids.length };
}

/** An address without a contact. */
function makeStranger(email: string): ContactFields {
  return { email, ...mapContactTexts(() => null), tags: [], customFields: {} };
}
