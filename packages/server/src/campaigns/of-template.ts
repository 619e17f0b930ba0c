import type { CampaignStatus, TemplateDetail } from "@mailsvc/sdk/contract";
import { TEMPLATE_LIMITS } from "@mailsvc/sdk/contract";
import { and, desc, eq, inArray, or } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { iso } from "../lib/clock.ts";

/** The states of campaigns that are not over. Few campaigns are in one of them, so the index of states finds them. */
const NOT_OVER: readonly CampaignStatus[] = ["DRAFT", "SCHEDULED", "SENDING", "PAUSED"];

/** Campaigns that are not over and send a template, as a whole or as a variant of their test; newest first, with a limit. */
export async function listCampaignsOfTemplate(
  q: Tx | Reader,
  { workspaceId, id }: { readonly workspaceId: string; readonly id: string },
): Promise<TemplateDetail["usedBy"]["campaigns"]> {
  const { campaigns: t } = q.t;
  const found = await q
    .select({ id: t.id, name: t.name, status: t.status, startedAt: t.startedAt })
    .from(t)
    .where(
      and(eq(t.workspaceId, workspaceId), inArray(t.status, [...NOT_OVER]), or(eq(t.templateId, id), q.sqlDialect.jsonNames(t.abTest, id))),
    )
    .orderBy(desc(t.id))
    .limit(TEMPLATE_LIMITS.usedBy);
  return found.map((campaign) => ({ ...campaign, startedAt: campaign.startedAt === null ? null : iso(campaign.startedAt) }));
}
