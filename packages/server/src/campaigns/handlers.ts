import type { contract, EmailStatus, Page, Recipient, VariantName } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { countRows, type PageInput, paginateById } from "../db/pagination.ts";
import { type EmailRow, findEmailRows, OF_CAMPAIGN, selectOfCampaign } from "../emails/emails.ts";
import type { Handlers } from "../http/handler.ts";
import { iso } from "../lib/clock.ts";
import { loadParser, type Parse } from "../templates/templates.ts";
import { type CampaignDeps, getCampaign, getCampaignRow, listCampaigns } from "./campaigns.ts";
import { cancelCampaign, pauseCampaign, resumeCampaign } from "./control.ts";
import { createCampaign, deleteCampaign, duplicateCampaign, resendCampaign, updateCampaign } from "./drafts.ts";
import { type PreparedTest, prepareTest, previewCampaign, sendTest } from "./preview.ts";
import { verifyCampaign } from "./recount.ts";
import { estimateAudience } from "./selection.ts";
import { type PreparedStart, prepareStart, scheduleCampaign, sendCampaign } from "./start.ts";
import { getStats } from "./stats.ts";
import type { CampaignTables } from "./tables.ts";
import { decideWinner } from "./variants.ts";

export const campaignHandlers: Handlers<typeof contract.campaigns, CampaignDeps> = {
  list: (input, { read, workspaceId }) => listCampaigns(read, workspaceId, input),
  create: { prepare, run: (input, { tx, deps, workspaceId }, parse: Parse) => createCampaign(tx, deps, workspaceId, input, parse) },
  get: ({ id }, { read, workspaceId }) => getCampaign(read, workspaceId, id),
  update: { prepare, run: (input, { tx, deps, workspaceId }, parse: Parse) => updateCampaign(tx, deps, workspaceId, input, parse) },
  delete: ({ id }, { tx, workspaceId }) => deleteCampaign(tx, workspaceId, id),
  schedule: { prepare, run: (input, { tx, deps, workspaceId }, parse: Parse) => scheduleCampaign(tx, deps, workspaceId, input, parse) },
  audience: ({ id }, { read, deps, workspaceId }) => estimateAudience(read, deps, workspaceId, id),
  send: {
    prepare: ({ id }, { read, deps, workspaceId }) => prepareStart(read, deps, workspaceId, id),
    run: (input, { tx, deps, workspaceId }, prepared: PreparedStart) => sendCampaign(tx, deps, workspaceId, input, prepared),
  },
  pause: ({ id }, { tx, deps, workspaceId }) => pauseCampaign(tx, deps, workspaceId, id),
  resume: {
    prepare: ({ id }, { read, deps, workspaceId }) => prepareStart(read, deps, workspaceId, id),
    run: (input, { tx, deps, workspaceId }, prepared: PreparedStart) => resumeCampaign(tx, deps, workspaceId, input, prepared),
  },
  cancel: ({ id }, { tx, deps, workspaceId }) => cancelCampaign(tx, deps, workspaceId, id),
  duplicate: (input, { tx, deps, workspaceId }) => duplicateCampaign(tx, deps, workspaceId, input),
  resend: (input, { tx, deps, workspaceId }) => resendCampaign(tx, deps, workspaceId, input),
  // Rendering writes nothing, so it runs before the transaction.
  test: {
    prepare: (input, { read, workspaceId }) => prepareTest(read, workspaceId, input),
    run: (_input, { tx, deps }, prepared: PreparedTest) => sendTest(prepared, tx, deps),
  },
  preview: (input, { read, workspaceId }) => previewCampaign(read, workspaceId, input),
  winner: (input, { tx, deps, workspaceId }) => decideWinner(tx, deps, workspaceId, input),
  recipients: (input, { read, workspaceId }) => listRecipients(read, workspaceId, input),
  stats: (input, { read, deps, workspaceId }) => getStats(read, deps, workspaceId, input),
  verify: ({ id }, { read, deps, workspaceId }) => verifyCampaign(read, deps, workspaceId, id),
};

// Loaded before the transaction begins: inside it, only queries may be awaited.
function prepare(): Promise<Parse> {
  return loadParser();
}

type Reaction = CampaignTables["campaignReactions"]["$inferSelect"];

/** A page of the recipients of a campaign, newest first: who got it, and why somebody did not. Throws ApiError not_found. */
async function listRecipients(
  read: Reader,
  workspaceId: string,
  { id: campaignId, status, ...input }: PageInput & { id: string; status?: EmailStatus | undefined },
): Promise<Page<Recipient>> {
  await getCampaignRow(read, workspaceId, campaignId);
  const { emails: t } = read.t;
  const where = and(OF_CAMPAIGN, eq(t.campaignId, campaignId), status && eq(t.status, status));
  const page = await paginateById(
    input,
    async (slice) => {
      const ids = await selectOfCampaign(read, campaignId, { status }, slice);
      return findEmailRows(read, workspaceId, ids);
    },
    () => countRows(read, t, where),
    (row) => row,
  );
  const reactions = await loadReactions(
    read,
    campaignId,
    page.data.map((row) => row.id),
  );
  return { ...page, data: page.data.map((row) => showRecipient(row, reactions.get(row.id))) };
}

function showRecipient(row: EmailRow, reaction: Reaction | undefined): Recipient {
  const instant = (ms: number | null | undefined): string | null => (ms === null || ms === undefined ? null : iso(ms));
  return {
    emailId: row.id,
    contactId: row.contactId,
    to: row.to,
    status: row.status,
    skipReason: row.skipReason,
    variant: row.variant as VariantName | null,
    attempts: row.attempts,
    inDoubt: row.inDoubt,
    lastError: row.lastError,
    sentAt: instant(row.sentAt),
    openedAt: instant(reaction?.openedAt),
    clickedAt: instant(reaction?.clickedAt),
    unsubscribedAt: instant(reaction?.unsubscribedAt),
    updatedAt: iso(row.updatedAt),
  };
}

async function loadReactions(read: Reader, campaignId: string, emailIds: readonly string[]): Promise<Map<string, Reaction>> {
  const rows = await findRows(read, read.t.campaignReactions, { campaignId, emailId: emailIds });
  return new Map(rows.map((row) => [row.emailId, row]));
}
