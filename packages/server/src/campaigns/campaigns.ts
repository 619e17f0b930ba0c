import {
  type AbTest,
  CAMPAIGN_LIMITS,
  type Campaign,
  type CampaignDetail,
  type CampaignStatus,
  type Page,
  TEMPLATE_LIMITS,
  type TemplateDetail,
} from "@mailsvc/sdk/contract";
import { and, desc, eq, inArray, or } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { contains } from "../db/dialect.ts";
import { findRows } from "../db/find.ts";
import { listPage, type PageInput } from "../db/pagination.ts";
import type { EmailDeps } from "../emails/deps.ts";
import { formatMailbox } from "../lib/address-text.ts";
import { invalid, notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { DAY } from "../lib/units.ts";
import { getTemplateRow } from "../templates/templates.ts";
import type { UnsubscribeDeps } from "../unsubscribe/unsubscribe.ts";
import { listGroups, unlessDeleted } from "./groups.ts";
import type { CampaignTables } from "./tables.ts";

export { collideWithSteps, forgetLinks, forgetRecipients } from "./forget.ts";

export type CampaignRow = CampaignTables["campaigns"]["$inferSelect"];

/** One campaign. Throws ApiError not_found. */
export async function getCampaignRow(q: Tx | Reader, workspaceId: string, id: string): Promise<CampaignRow> {
  const row = await findCampaignRow(q, workspaceId, id);
  if (!row) throw notFound("campaign", id);
  return row;
}

/** One campaign, for jobs; null if it was deleted. */
export async function findCampaignRow(q: Tx | Reader, workspaceId: string, id: string): Promise<CampaignRow | null> {
  const [row] = await findRows(q, q.t.campaigns, { workspaceId, id });
  return row ?? null;
}

/** One campaign with its content, template, segment and list. Throws ApiError not_found. */
export async function getCampaign(q: Tx | Reader, workspaceId: string, id: string): Promise<CampaignDetail> {
  return showDetail(q, await getCampaignRow(q, workspaceId, id));
}

/** A page of campaigns, newest first. */
export function listCampaigns(
  read: Reader,
  workspaceId: string,
  { status, search, ...input }: PageInput & { status?: CampaignStatus | undefined; search?: string | undefined },
): Promise<Page<Campaign>> {
  const { campaigns: t } = read.t;
  const found = search === undefined ? undefined : or(...[t.name, t.subjectLine].map((text) => contains(read.sqlDialect, text, search)));
  const where = and(eq(t.workspaceId, workspaceId), status && eq(t.status, status), found);
  return listPage(read, input, { table: t, where, toItem: showCampaign });
}

/** The From header of a campaign. */
export function buildFrom({ fromEmail, fromName }: Pick<CampaignRow, "fromEmail" | "fromName">): string {
  return formatMailbox(fromEmail, fromName);
}

/** The instant of a `scheduledAt`, ms; null without one. Throws ApiError validation_error if it is past or too far ahead. */
export function parseSchedule(scheduledAt: string | null | undefined, now: number): number | null {
  if (scheduledAt === undefined || scheduledAt === null) return null;
  const at = Date.parse(scheduledAt);
  if (at <= now)
    throw invalid("scheduledAt", "in_the_past", `scheduledAt must be in the future. The server's time is ${new Date(now).toISOString()}.`);
  if (at > now + CAMPAIGN_LIMITS.scheduleDays * DAY)
    throw invalid("scheduledAt", "too_far", `scheduledAt must be at most ${CAMPAIGN_LIMITS.scheduleDays} days ahead.`);
  return at;
}

/** Increases with every change of a campaign. */
export function toRevision({ updatedAt }: CampaignRow): number {
  return updatedAt;
}

function showCampaign(row: CampaignRow): Campaign {
  const instant = (ms: number | null): string | null => (ms === null ? null : iso(ms));
  return {
    id: row.id,
    name: row.name,
    subjectLine: row.subjectLine,
    fromEmail: row.fromEmail,
    fromName: row.fromName,
    replyTo: row.replyTo,
    previewText: row.previewText,
    templateId: row.templateId,
    recipientType: row.recipientType,
    segmentId: row.segmentId,
    listId: row.listId,
    include: [...row.include],
    exclude: [...row.exclude],
    resendOf: row.resendOf,
    status: row.status,
    statusReason: row.statusReason,
    scheduledAt: instant(row.scheduledAt),
    throttle: row.throttle,
    relay: row.relay,
    localTime: row.localTime,
    abTest: row.abTest && { ...row.abTest, variants: row.abTest.variants.map(showVariant) },
    winner: row.winner,
    trackOpens: row.trackOpens,
    trackClicks: row.trackClicks,
    utm: row.utm,
    proposedBy: row.proposedBy,
    revision: toRevision(row),
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
    startedAt: instant(row.startedAt),
    completedAt: instant(row.completedAt),
  };
}

/** A variant as it was given: the HTML that was rendered from its blocks is none of its fields. */
function showVariant({ html, ...variant }: AbTest["variants"][number]): AbTest["variants"][number] {
  return html === undefined || variant.blocks ? variant : { ...variant, html };
}

export async function showDetail(q: Tx | Reader, row: CampaignRow): Promise<CampaignDetail> {
  const { workspaceId, templateId, segmentId, listId } = row;
  const template = templateId === null ? null : await unlessDeleted(getTemplateRow(q, workspaceId, templateId));
  const [segment = null] = segmentId === null ? [] : await listGroups(q, workspaceId, [segmentId]);
  const [list = null] = listId === null ? [] : await listGroups(q, workspaceId, [listId]);
  return {
    ...showCampaign(row),
    html: row.html,
    text: row.text,
    blocks: row.blocks,
    template: template && { id: template.id, slug: template.slug, name: template.name, version: template.version },
    segment,
    list,
    included: await listGroups(q, workspaceId, row.include),
    excluded: await listGroups(q, workspaceId, row.exclude),
  };
}

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

export interface CampaignDeps extends EmailDeps {
  /** Contacts that become recipients of a campaign in one transaction. */
  readonly recipientsAtOnce: number;
  readonly config: EmailDeps["config"] & {
    readonly lateCampaigns: "send" | "hold";
    /** Days that mail and events are kept; null forever. */
    readonly keepDays: { readonly emails: number | null; readonly events: number | null };
  };
}

/** Dependencies of showing a mail in a browser. */
export type ViewDeps = CampaignDeps & UnsubscribeDeps;
