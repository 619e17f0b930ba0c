import type { contract, HandlerInput, HandlerOutput } from "@mailsvc/sdk/contract";
import { findContactByEmail, getContactRow } from "../contacts/contacts.ts";
import type { Reader, Tx } from "../db/db.ts";
import { type RenderedMail, send } from "../emails/emails.ts";
import { ApiError } from "../lib/api-error.ts";
import { buildFrom, type CampaignRow, getCampaignRow } from "./campaigns.ts";
import type { CampaignDeps } from "./deps.ts";
import { compileVariants, makeStranger, renderFor } from "./preview.ts";

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
