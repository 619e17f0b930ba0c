import type { Campaign, CampaignDetail, CampaignStatus, contract, HandlerInput, Page } from "@mailsvc/sdk/contract";
import { CAMPAIGN_LIMITS, parseMailbox } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { listPage, type PageInput } from "../db/pagination.ts";
import type { Deps } from "../deps.ts";
import { ApiError, invalid, notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { findList, getList } from "../lists/lists.ts";
import type { Tables } from "../schema.ts";
import { findSegment, getSegment } from "../segments/segments.ts";
import { assertVerified } from "../senders/senders.ts";
import { findTemplate, type Parse } from "../templates/templates.ts";
import { checkDraft, pinContent } from "./content.ts";

export type CampaignRow = Tables["campaigns"]["$inferSelect"];

const DAY = 86_400_000;

/** One campaign. Throws ApiError not_found. */
export async function findCampaign(q: Tx | Reader, workspaceId: string, id: string): Promise<CampaignRow> {
  const { campaigns: t } = q.t;
  const [row] = await q
    .select()
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.id, id)));
  if (!row) throw notFound("campaign", id);
  return row;
}

/** One campaign with its content, template, segment and list (SPEC 2). Throws ApiError not_found. */
export async function getCampaign(q: Tx | Reader, workspaceId: string, id: string): Promise<CampaignDetail> {
  return showDetail(q, await findCampaign(q, workspaceId, id));
}

/**
 * Creates a draft, or a scheduled campaign if it has a `scheduledAt` (SPEC 3, 4). Throws ApiError validation_error,
 * sender_not_verified, not_found, template_not_found or template_error.
 */
export async function createCampaign(
  tx: Tx,
  deps: Deps,
  workspaceId: string,
  input: HandlerInput<typeof contract.campaigns.create>,
  parse: Parse,
): Promise<CampaignDetail> {
  const now = deps.clock.now();
  const scheduledAt = parseSchedule(input.scheduledAt, now);
  const row: CampaignRow = {
    id: deps.ids("cmp"),
    workspaceId,
    name: input.name,
    subjectLine: input.subjectLine,
    fromEmail: input.fromEmail,
    fromName: input.fromName ?? null,
    replyTo: input.replyTo ?? null,
    previewText: input.previewText ?? null,
    templateId: input.templateId ?? null,
    html: input.html ?? null,
    text: input.text ?? null,
    recipientType: input.recipientType,
    segmentId: input.segmentId ?? null,
    listId: input.listId ?? null,
    status: scheduledAt === null ? "DRAFT" : "SCHEDULED",
    statusReason: null,
    scheduledAt,
    throttle: input.throttle ?? null,
    abTest: input.abTest ?? null,
    winner: null,
    trackOpens: input.trackOpens,
    trackClicks: input.trackClicks,
    createdAt: now,
    updatedAt: now,
    startedAt: null,
    completedAt: null,
    run: 0,
    audience: null,
    cursor: 0,
    eligible: 0,
    expandedAt: null,
    nextReleaseAt: null,
    releasedAt: null,
    decideAt: null,
  };
  await checkCampaign(tx, deps, parse, row);
  await tx.insert(tx.t.campaigns).values(row);
  return showDetail(tx, row);
}

/** A page of campaigns, newest first. */
export function listCampaigns(
  read: Reader,
  workspaceId: string,
  { status, ...input }: PageInput & { status?: CampaignStatus | undefined },
): Promise<Page<Campaign>> {
  const { campaigns: t } = read.t;
  const where = and(eq(t.workspaceId, workspaceId), status && eq(t.status, status));
  return listPage(read, input, { table: t, where, toItem: showCampaign });
}

/** The From header of a campaign. */
export function buildFrom({ fromEmail, fromName }: Pick<CampaignRow, "fromEmail" | "fromName">): string {
  return fromName === null ? fromEmail : `"${fromName.replace(/["\\]/g, "\\$&")}" <${fromEmail}>`;
}

/** Checks what a campaign refers to; if it is scheduled, that it could start now. Throws ApiError. */
async function checkCampaign(tx: Tx, deps: Deps, parse: Parse, row: CampaignRow): Promise<void> {
  await assertVerified(tx, deps, row.workspaceId, parseMailbox(row.fromEmail), "fromEmail");
  assertMailbox(row);
  if (row.segmentId !== null) await findSegment(tx, row.workspaceId, row.segmentId);
  if (row.listId !== null) await findList(tx, row.workspaceId, row.listId);
  await checkDraft(tx, parse, row);
  if (row.status === "SCHEDULED") await pinContent(tx, parse, row);
}

/** The name of the sender has to fit into a From header. Throws ApiError validation_error. */
function assertMailbox(row: CampaignRow): void {
  try {
    parseMailbox(buildFrom(row));
  } catch (error) {
    throw invalid("fromName", "invalid", `fromName cannot be the name of a sender: ${(error as Error).message}`);
  }
}

/** The instant of a `scheduledAt`, ms; null without one. Throws ApiError validation_error if it is past or too far ahead. */
function parseSchedule(scheduledAt: string | null | undefined, now: number): number | null {
  if (scheduledAt === undefined || scheduledAt === null) return null;
  const at = Date.parse(scheduledAt);
  if (at <= now)
    throw invalid("scheduledAt", "in_the_past", `scheduledAt must be in the future. The server's time is ${new Date(now).toISOString()}.`);
  if (at > now + CAMPAIGN_LIMITS.scheduleDays * DAY)
    throw invalid("scheduledAt", "too_far", `scheduledAt must be at most ${CAMPAIGN_LIMITS.scheduleDays} days ahead.`);
  return at;
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
    status: row.status,
    statusReason: row.statusReason,
    scheduledAt: instant(row.scheduledAt),
    throttle: row.throttle,
    abTest: row.abTest,
    winner: row.winner,
    trackOpens: row.trackOpens,
    trackClicks: row.trackClicks,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
    startedAt: instant(row.startedAt),
    completedAt: instant(row.completedAt),
  };
}

async function showDetail(q: Tx | Reader, row: CampaignRow): Promise<CampaignDetail> {
  const { workspaceId, templateId, segmentId, listId } = row;
  const template = templateId === null ? null : await unlessDeleted(findTemplate(q, workspaceId, templateId));
  const segment = segmentId === null ? null : await unlessDeleted(getSegment(q, workspaceId, segmentId));
  const list = listId === null ? null : await unlessDeleted(getList(q, workspaceId, listId));
  return {
    ...showCampaign(row),
    html: row.html,
    text: row.text,
    template: template && { id: template.id, slug: template.slug, name: template.name, version: template.version },
    segment: segment && { id: segment.id, name: segment.name, memberCount: segment.memberCount },
    list: list && { id: list.id, name: list.name, memberCount: list.memberCount },
  };
}

/** Null for something that does not exist any more. */
async function unlessDeleted<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof ApiError && error.code === "not_found") return null;
    throw error;
  }
}
