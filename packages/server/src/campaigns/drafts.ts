import {
  type AbTest,
  CAMPAIGN_LIMITS,
  type CampaignDetail,
  type contract,
  findAudienceFaults,
  type HandlerInput,
  type ProposedBy,
  parseMailbox,
  type ResendTarget,
} from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { assertReceives } from "../emails/emails.ts";
import { recordEvents } from "../events/events.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import { assertRevision } from "../lib/revision.ts";
import { assertRelayOpen } from "../relays/relays.ts";
import { assertVerified } from "../senders/senders.ts";
import { type Parse, renderMailBlocks } from "../templates/templates.ts";
import { assertWithinYear } from "./audience.ts";
import { buildFrom, type CampaignDeps, type CampaignRow, getCampaignRow, parseSchedule, showDetail, toRevision } from "./campaigns.ts";
import { checkDraft, checkScheduled } from "./content.ts";
import { assertAudienceExists, assertRecipientsKept } from "./selection.ts";
import { enqueueStart } from "./start.ts";
import { changeStatus, EDITABLE, invalidState } from "./states.ts";

type Endpoints = typeof contract.campaigns;

/**
 * Creates a draft, or a scheduled campaign if it has a `scheduledAt`. Throws ApiError validation_error,
 * sender_not_verified, not_found, template_not_found or template_error. `proposedBy` names the agent that proposed it.
 */
export async function createCampaign(
  tx: Tx,
  deps: CampaignDeps,
  workspaceId: string,
  input: HandlerInput<typeof contract.campaigns.create>,
  parse: Parse,
  proposedBy: ProposedBy | null = null,
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
    html: input.html ?? (await renderMailBlocks(tx, parse, workspaceId, input.blocks ?? [])),
    text: input.text ?? null,
    blocks: input.blocks ?? null,
    recipientType: input.recipientType,
    segmentId: input.segmentId ?? null,
    listId: input.listId ?? null,
    include: input.include,
    exclude: input.exclude,
    resendOf: input.resendOf ?? null,
    status: scheduledAt === null ? "DRAFT" : "SCHEDULED",
    statusReason: null,
    scheduledAt,
    throttle: input.throttle ?? null,
    relay: input.relay ?? null,
    localTime: input.localTime ?? null,
    abTest: await renderVariants(tx, parse, workspaceId, input.abTest ?? null),
    winner: null,
    trackOpens: input.trackOpens,
    trackClicks: input.trackClicks,
    utm: input.utm ?? null,
    proposedBy,
    createdAt: now,
    updatedAt: now,
    ...NEVER_STARTED,
  };
  await checkCampaign(tx, deps, parse, row);
  await tx.insert(tx.t.campaigns).values(row);
  if (scheduledAt !== null) {
    await enqueueStart(tx, deps, row);
    await recordEvents(tx, deps, [{ workspaceId, type: "campaign.scheduled", campaignId: row.id, at: now }]);
  }
  return showDetail(tx, row);
}

/**
 * Changes the fields that were sent, of a campaign that has not started; a `scheduledAt` schedules it, and null makes it a draft.
 * Throws ApiError not_found, invalid_state, conflict if it was changed since `revision`, and what `createCampaign` throws.
 */
export async function updateCampaign(
  tx: Tx,
  deps: CampaignDeps,
  workspaceId: string,
  { id, scheduledAt, revision, ...input }: HandlerInput<Endpoints["update"]>,
  parse: Parse,
): Promise<CampaignDetail> {
  const before = await getCampaignRow(tx, workspaceId, id);
  assertRevision("campaign", toRevision(before), revision);
  if (before.startedAt !== null) throw invalidState(before, ["DRAFT", "SCHEDULED"]);
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as Partial<CampaignRow>;
  const fields = { ...given, ...(await renderGiven(tx, parse, workspaceId, given)) };
  const at = scheduledAt === undefined ? before.scheduledAt : parseSchedule(scheduledAt, deps.clock.now());
  const status = scheduledAt === undefined ? before.status : at === null ? ("DRAFT" as const) : ("SCHEDULED" as const);
  const after: CampaignRow = { ...before, ...fields, scheduledAt: at, status };
  const faults = findAudienceFaults(after);
  if (faults[0]) throw new ApiError("validation_error", faults[0].message, { details: faults });
  await checkCampaign(tx, deps, parse, after);
  const rescheduled = status === "SCHEDULED" && scheduledAt !== undefined;
  const event = rescheduled ? ({ type: "campaign.scheduled" } as const) : undefined;
  const changed = await changeStatus(tx, deps, before, EDITABLE, { ...fields, scheduledAt: at, status }, event);
  // A campaign that is held and only changed stays held for the same reason.
  if (status === "PAUSED") await tx.update(tx.t.campaigns).set({ statusReason: before.statusReason }).where(eq(tx.t.campaigns.id, id));
  if (rescheduled) await enqueueStart(tx, deps, changed);
  return showDetail(tx, status === "PAUSED" ? { ...changed, statusReason: before.statusReason } : changed);
}

/** The HTML of blocks that were sent. HTML that was sent was not rendered from the blocks before it, so those go. */
async function renderGiven(tx: Tx, parse: Parse, workspaceId: string, given: Partial<CampaignRow>): Promise<Partial<CampaignRow>> {
  const abTest = given.abTest === undefined ? {} : { abTest: await renderVariants(tx, parse, workspaceId, given.abTest) };
  if (given.blocks) return { ...abTest, html: await renderMailBlocks(tx, parse, workspaceId, given.blocks) };
  return given.html === undefined ? abTest : { ...abTest, blocks: null };
}

/** An A/B test with the HTML of its variants that are in blocks beside them, as the row of the campaign has its own. */
async function renderVariants(tx: Tx, parse: Parse, workspaceId: string, test: AbTest | null): Promise<AbTest | null> {
  if (test === null) return null;
  const variants: AbTest["variants"] = [];
  for (const [i, variant] of test.variants.entries()) {
    const { blocks } = variant;
    const html = blocks && (await renderMailBlocks(tx, parse, workspaceId, blocks, `abTest.variants[${i}].blocks`));
    variants.push(html ? { ...variant, html } : variant);
  }
  return { ...test, variants };
}

/** Deletes a campaign that has not started. Throws ApiError not_found or invalid_state. */
export async function deleteCampaign(tx: Tx, workspaceId: string, id: string): Promise<CampaignDetail> {
  const row = await getCampaignRow(tx, workspaceId, id);
  if (row.startedAt !== null)
    throw new ApiError("invalid_state", `This campaign is ${row.status}. One that was started is kept as the record of who got what.`);
  const detail = await showDetail(tx, row);
  await tx.delete(tx.t.campaigns).where(eq(tx.t.campaigns.id, id));
  return detail;
}

/** Makes a draft with the fields of a campaign in any state. Throws ApiError not_found. */
export async function duplicateCampaign(
  tx: Tx,
  deps: CampaignDeps,
  workspaceId: string,
  { id, name }: { id: string; name?: string | undefined },
): Promise<CampaignDetail> {
  const row = await getCampaignRow(tx, workspaceId, id);
  return copyCampaign(tx, deps, row, { name: name ?? shorten(`Copy of ${row.name}`) });
}

/**
 * Makes a draft with the fields of a campaign that has started, which goes to those of its recipients who did not open it, or whom it did
 * not reach. Throws ApiError not_found or invalid_state.
 */
export async function resendCampaign(
  tx: Tx,
  deps: CampaignDeps,
  workspaceId: string,
  { id, to, name, subjectLine }: HandlerInput<Endpoints["resend"]>,
): Promise<CampaignDetail> {
  const row = await getCampaignRow(tx, workspaceId, id);
  assertResendable(deps, row, to, "to");
  return copyCampaign(tx, deps, row, {
    name: name ?? shorten(`${row.name}, again`),
    subjectLine: subjectLine ?? row.subjectLine,
    recipientType: "resend",
    resendOf: { campaignId: id, to },
    segmentId: null,
    listId: null,
    include: [],
  });
}

/**
 * Throws ApiError invalid_state for a campaign that has no recipients yet, whose recipients are not known any more, or that could not know
 * who opened it; `path` names the target.
 */
function assertResendable(deps: CampaignDeps, campaign: CampaignRow, to: ResendTarget, path: string): void {
  const { startedAt, status, trackOpens, trackClicks } = campaign;
  if (startedAt === null) throw new ApiError("invalid_state", `The campaign to send again is ${status}: it has no recipients yet.`);
  assertRecipientsKept(deps, campaign);
  const counted = { not_opened: trackOpens, not_clicked: trackClicks, failed: true }[to];
  const what = to === "not_opened" ? "opens" : "clicks";
  if (!counted)
    throw new ApiError(
      "invalid_state",
      `The campaign to send again counted no ${what}, so ${path} cannot be ${to}: everybody would get it.`,
    );
}

async function copyCampaign(tx: Tx, deps: CampaignDeps, row: CampaignRow, changes: Partial<CampaignRow>): Promise<CampaignDetail> {
  const now = deps.clock.now();
  const copy: CampaignRow = {
    ...row,
    ...NEVER_STARTED,
    id: deps.ids("cmp"),
    status: "DRAFT",
    statusReason: null,
    scheduledAt: null,
    winner: null,
    proposedBy: null,
    createdAt: now,
    updatedAt: now,
    ...changes,
  };
  await tx.insert(tx.t.campaigns).values(copy);
  return showDetail(tx, copy);
}

/** Fields that only sending writes. */
const NEVER_STARTED = {
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
} as const;

function shorten(name: string): string {
  return [...name].slice(0, CAMPAIGN_LIMITS.name).join("");
}

/**
 * Checks the objects a campaign refers to; if it is scheduled, that it could start now, except for content still to come. Throws ApiError.
 */
async function checkCampaign(tx: Tx, deps: CampaignDeps, parse: Parse, row: CampaignRow): Promise<void> {
  await assertVerified(tx, deps, row.workspaceId, parseMailbox(row.fromEmail), "fromEmail");
  assertMailbox(row);
  assertReceives(deps, row.replyTo);
  if (row.localTime !== null && row.abTest !== null && row.abTest.samplePercent < 100)
    throw invalid(
      "localTime",
      "not_allowed",
      "The rest of an A/B test gets the winner, long after their local time. Set samplePercent to 100.",
    );
  if (row.scheduledAt !== null) assertWithinYear(row.localTime, row.scheduledAt);
  await assertAudienceExists(tx, row);
  if (row.resendOf !== null)
    assertResendable(deps, await getCampaignRow(tx, row.workspaceId, row.resendOf.campaignId), row.resendOf.to, "resendOf.to");
  if (row.relay !== null) await assertRelayOpen(tx, deps, row.workspaceId, row.relay);
  await checkDraft(tx, parse, row);
  if (row.status === "SCHEDULED") await checkScheduled(tx, parse, row);
}

/** The name of the sender has to fit into a From header. Throws ApiError validation_error. */
function assertMailbox(row: CampaignRow): void {
  try {
    parseMailbox(buildFrom(row));
  } catch (error) {
    throw invalid("fromName", "invalid", `fromName cannot be the name of a sender: ${(error as Error).message}`);
  }
}
