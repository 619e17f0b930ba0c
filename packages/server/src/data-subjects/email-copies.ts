import { and, eq } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";

/** An email to an address. */
export interface EmailCopy {
  id: string;
  contentsId: number;
  /** True for an email of a campaign, whose contents name nobody and stay. */
  ofCampaign: boolean;
  /** The mail whose headers name the address together with other recipients; null if there is none. */
  namedIn: string | null;
  /** The Message-ID that its relay gave it; null for ours. */
  sentAs: string | null;
}

/** All emails to an address. */
export async function findEmailCopies(read: Reader | Tx, workspaceId: string, toKey: string): Promise<EmailCopy[]> {
  const { emails: t } = read.t;
  const emails = await read
    .select({ id: t.id, contentsId: t.contentsId, campaignId: t.campaignId, mailId: t.mailId, kind: t.kind, sentAs: t.sentAs })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.toKey, toKey)));
  return emails.map(({ id, contentsId, campaignId, mailId, kind, sentAs }) => ({
    id,
    contentsId,
    ofCampaign: campaignId !== null,
    namedIn: kind === "bcc" ? null : mailId,
    sentAs,
  }));
}
