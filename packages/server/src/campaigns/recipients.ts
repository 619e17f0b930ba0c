import type { EmailStatus, Page, Recipient, VariantName } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { countRows, type PageInput, paginateById } from "../db/pagination.ts";
import { type EmailRow, findEmailRows, OF_CAMPAIGN, selectOfCampaign } from "../emails/emails.ts";
import { iso } from "../lib/clock.ts";
import { getCampaignRow } from "./campaigns.ts";
import type { CampaignTables } from "./tables.ts";

type Reaction = CampaignTables["campaignReactions"]["$inferSelect"];

/** A page of the recipients of a campaign, newest first: who got it, and why somebody did not. Throws ApiError not_found. */
export async function listRecipients(
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
